//! Which sandboxes there are, and one stream for each that is selected.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use boundlane_gateway::{GatewayError, Sandbox, Selection};
use boundlane_ingest::watch::WatchPlace;
use boundlane_store::Reader;
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};

use super::shared::{Shared, Signal, Until};
use super::stream::{Ended, Stream};
use super::tell::About;
use crate::context::wall_clock;
use crate::forwarder::Listed;

/// Which sandboxes are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Every one.
    All,
    /// Those with these names.
    Names(Vec<String>),
    /// Those with all of these labels.
    Labels(Vec<(String, String)>),
}

/// Why following ended.
#[derive(Debug)]
pub(crate) enum Finished {
    /// It was asked to, or nothing more was to come.
    Done,
    /// The journal cannot be written: open it again.
    JournalClosed,
    /// There is no gateway to ask, and one answer was all that was wanted.
    NoGateway(GatewayError),
    /// A sandbox could not be read to its end, and one reading was all that was wanted.
    Unread(String),
}

/// The sandboxes of one gateway.
pub(crate) struct Roster {
    shared: Arc<Shared>,
    wanted: Wanted,
    workspace: Option<String>,
    /// Following, by sandbox id.
    following: HashMap<String, Id>,
    streams: JoinSet<(String, Ended)>,
    /// Ids whose streams are over, while the gateway still lists them.
    over: HashSet<String>,
    /// Whether streams of an earlier run were looked for.
    has_looked_back: bool,
    /// Streams that ended since the archive was last written.
    pub(crate) ended: u64,
    /// A stream ended; what it sent last must be durable before it is followed anew.
    is_behind: bool,
    /// Why a sandbox could not be read to its end.
    unread: Option<String>,
}

impl Wanted {
    fn takes(&self, sandbox: &Sandbox) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Names(names) => names.contains(&sandbox.name),
            Wanted::Labels(labels) => labels
                .iter()
                .all(|(key, value)| sandbox.labels.get(key) == Some(value)),
        }
    }

    fn words(&self) -> String {
        match self {
            Wanted::All => String::new(),
            Wanted::Names(names) => format!(" (named {})", names.join(", ")),
            Wanted::Labels(labels) => {
                let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
                let labels = labels.collect::<Vec<_>>().join(",");
                format!(" (selector {labels}); --all follows the rest")
            }
        }
    }
}

impl Roster {
    pub(crate) fn new(shared: Arc<Shared>, wanted: Wanted, workspace: Option<String>) -> Roster {
        Roster {
            shared,
            wanted,
            workspace,
            following: HashMap::new(),
            streams: JoinSet::new(),
            over: HashSet::new(),
            has_looked_back: false,
            ended: 0,
            is_behind: false,
            unread: None,
        }
    }

    /// Follows until `signal` says to stop; with `once`, until every stream is read.
    pub(crate) async fn run(
        &mut self,
        signal: watch::Receiver<Signal>,
        mut each_second: impl FnMut(&mut Roster),
    ) -> Finished {
        let mut tick = tokio::time::interval(self.shared.pace.list());
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut stopped = signal.clone();
        let mut has_list = false;
        let ends = self.shared.until != Until::Told;
        loop {
            tokio::select! {
                biased;
                () = stop(&mut stopped) => return self.drain().await,
                Some(ended) = self.streams.join_next_with_id() => self.note_end(ended),
                _ = tick.tick() => {
                    match self.list(&signal).await {
                        Ok(()) => has_list = true,
                        Err(error) if ends && !has_list => {
                            return Finished::NoGateway(error);
                        }
                        Err(error) => self.note_failure(&error),
                    }
                    each_second(self);
                }
            }
            if self.shared.writer.is_closed() {
                self.drain().await;
                return Finished::JournalClosed;
            }
            if ends && has_list && self.following.is_empty() {
                return match self.unread.take() {
                    Some(why) => Finished::Unread(why),
                    None => Finished::Done,
                };
            }
        }
    }

    /// Waits until every stream has committed what it has.
    async fn drain(&mut self) -> Finished {
        while let Some(ended) = self.streams.join_next_with_id().await {
            self.note_end(ended);
        }
        Finished::Done
    }

    fn note_end(&mut self, ended: Result<(Id, (String, Ended)), tokio::task::JoinError>) {
        self.is_behind = true;
        match ended {
            Ok((_, (sandbox, ended))) => {
                self.following.remove(&sandbox);
                self.shared.board.over(&sandbox);
                self.shared.teller.forget(&About::Sandbox(sandbox.clone()));
                match ended {
                    Ended::Failed(why) => {
                        let text = format!("following a sandbox failed: {why}");
                        self.shared.teller.warn(About::Journal, &text);
                    }
                    Ended::Stopped => (),
                    Ended::Unreachable(why) => {
                        self.unread = Some(why);
                        self.over.insert(sandbox);
                    }
                    Ended::Over | Ended::Gone | Ended::Replaced | Ended::Quiet => {
                        self.ended += 1;
                        self.over.insert(sandbox);
                    }
                }
            }
            Err(error) => {
                let id = error.id();
                let failed = self.following.extract_if(|_, following| *following == id);
                failed.for_each(|(sandbox, _)| self.shared.board.over(&sandbox));
                let text = "following a sandbox failed: this is a fault of the program; it is followed anew";
                self.shared.teller.warn(About::Journal, text);
            }
        }
    }

    fn note_failure(&self, error: &GatewayError) {
        let identity = self.shared.client.identity();
        self.shared.board.failed(&identity, error, wall_clock());
        let text = format!("{error}; trying again");
        self.shared.teller.warn(About::Gateway, &text);
    }

    async fn list(&mut self, signal: &watch::Receiver<Signal>) -> Result<(), GatewayError> {
        let selection = Selection {
            workspace: self.workspace.clone(),
            labels: None,
        };
        let listed = self.shared.client.sandboxes(&selection).await?;
        if std::mem::take(&mut self.is_behind) && self.shared.writer.flush().await.is_err() {
            // The writer is closed, which ends this run.
            return Ok(());
        }
        let all = listed.len();
        let ids: HashSet<&String> = listed.iter().map(|sandbox| &sandbox.id).collect();
        self.over.retain(|id| ids.contains(id));
        let mut earlier = self.earlier(&listed);
        let wanted: Vec<Sandbox> = listed
            .iter()
            .filter(|sandbox| self.wanted.takes(sandbox))
            .cloned()
            .collect();
        let taken = wanted.len();
        earlier.extend(wanted);
        for sandbox in earlier {
            self.follow(sandbox, signal);
        }
        let identity = self.shared.client.identity();
        let listed = Listed {
            all: all as u64,
            selected: taken as u64,
        };
        self.shared.board.listed(&identity, listed, wall_clock());
        let text = format!("the gateway at {} answers", identity.endpoint);
        self.shared.teller.say(About::Gateway, &text);
        let words = self.wanted.words();
        let text = format!("following {taken} of {all} sandboxes{words}");
        self.shared.teller.say(About::Roster, &text);
        Ok(())
    }

    fn follow(&mut self, sandbox: Sandbox, signal: &watch::Receiver<Signal>) {
        let id = sandbox.id.clone();
        if id.is_empty() || self.following.contains_key(&id) || self.over.contains(&id) {
            return;
        }
        let name = sandbox.name.clone();
        match Stream::new(Arc::clone(&self.shared), sandbox) {
            Ok(stream) => {
                let (signal, of) = (signal.clone(), id.clone());
                let task = self
                    .streams
                    .spawn(async move { (of, stream.run(signal).await) });
                self.following.insert(id, task.id());
            }
            Err(why) => self
                .shared
                .teller
                .warn(About::Sandbox(id), &format!("`{name}`: {why}")),
        }
    }

    /// Sandboxes that an earlier run followed, that had not ended, and that are listed no more: they
    /// went while nobody looked. Once a run.
    fn earlier(&mut self, listed: &[Sandbox]) -> Vec<Sandbox> {
        if std::mem::replace(&mut self.has_looked_back, true) {
            return Vec::new();
        }
        let streams = Reader::open(&self.shared.dir)
            .ok()
            .flatten()
            .and_then(|reader| reader.streams().ok())
            .unwrap_or_default();
        streams
            .into_iter()
            .filter(|state| state.name.stream.starts_with("gateway/"))
            .filter(|state| {
                WatchPlace::from_json(&state.place).is_ok_and(|place| place.over.is_none())
            })
            .filter_map(|state| {
                let id = state.name.stream.strip_prefix("gateway/")?.to_owned();
                let is_listed = listed.iter().any(|sandbox| sandbox.id == id);
                (!is_listed).then(|| Sandbox {
                    id,
                    name: state.name.sandbox.unwrap_or_default(),
                    workspace: state.name.workspace.unwrap_or_default(),
                    created: None,
                    deleting: None,
                    labels: BTreeMap::new(),
                    phase: "unknown",
                    policy_version: 0,
                })
            })
            .filter(|sandbox| match &self.wanted {
                Wanted::Names(names) => names.contains(&sandbox.name),
                Wanted::All | Wanted::Labels(_) => true,
            })
            .collect()
    }
}

async fn stop(signal: &mut watch::Receiver<Signal>) {
    // A sender that is gone means the same.
    let _ = signal.wait_for(|signal| *signal == Signal::Stop).await;
}
