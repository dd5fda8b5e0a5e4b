//! One watch: it subscribes, reads what is kept, and goes live.

mod delivery;
mod live;

use std::sync::Arc;

use tokio::sync::{broadcast, mpsc};
use tonic::Status;

use super::buffers::{Held, Item};
use super::cursor::Cursor;
use super::filter::Filter;
use super::model::{Generation, Line, PlatformEvent, Sandbox};
use super::requests::Asked;
use super::state::{Shared, State};
use super::watches::{Counts, Stage};

pub(super) use delivery::Delivery;

/// Messages between a watch and its client.
pub const WATCH_QUEUE_MESSAGES_MAX: usize = 256;

/// What a watch sends, before it has the shape of a generation.
#[derive(Debug, Clone)]
pub(super) enum Sent {
    Sandbox(Sandbox),
    Line {
        sandbox_id: String,
        line: Arc<Line>,
        cursor: Arc<str>,
    },
    Event {
        event: Arc<PlatformEvent>,
        cursor: Arc<str>,
    },
    Warning(String),
}

impl Sent {
    fn counts(&self) -> (Counts, &str) {
        match self {
            Sent::Sandbox(_) => (Counts::Nothing, ""),
            Sent::Line { cursor, .. } => (Counts::Line, cursor),
            Sent::Event { cursor, .. } => (Counts::Event, cursor),
            Sent::Warning(_) => (Counts::Warning, ""),
        }
    }
}

/// How a watch ends.
#[derive(Debug)]
enum Ended {
    /// Nobody reads any more.
    Gone,
    /// OK.
    Finished,
    /// With this status.
    With(Status),
}

/// The work behind one watch.
pub(super) struct Follower {
    shared: Arc<Shared>,
    id: u64,
    asked: Asked,
    filter: Filter,
    sandbox: Sandbox,
    replica: usize,
    queue: mpsc::Sender<Result<Sent, Status>>,
    logs: Option<broadcast::Receiver<Held>>,
    events: Option<broadcast::Receiver<Held>>,
    status: broadcast::Receiver<()>,
}

/// Starts a watch: subscribed when this returns, so nothing published from now on is missed.
///
/// # Errors
/// What the call fails with as a whole.
pub(super) fn begin(
    shared: &Arc<Shared>,
    asked: Asked,
    connection: u64,
    replica: usize,
) -> Result<Delivery, Status> {
    let (queue, to_client) = mpsc::channel(WATCH_QUEUE_MESSAGES_MAX);
    let follower = shared.change(|state| -> Result<Follower, Status> {
        let found = state.find(&asked.sandbox).cloned();
        let sandbox = found.ok_or_else(|| Status::not_found("sandbox not found"))?;
        let id = state
            .watches
            .begin(asked.clone(), sandbox.id.clone(), connection, replica);
        let buffers = state.buffers(replica, &sandbox.id);
        Ok(Follower {
            shared: Arc::clone(shared),
            id,
            filter: asked.filter(),
            logs: asked.follow_logs.then(|| buffers.lines.subscribe()),
            events: asked.follow_events.then(|| buffers.events.subscribe()),
            status: buffers.status.subscribe(),
            asked,
            sandbox,
            replica,
            queue,
        })
    })?;
    let delivery = Delivery::new(Arc::clone(shared), follower.id, to_client);
    tokio::spawn(follower.run());
    Ok(delivery)
}

impl Follower {
    async fn run(mut self) {
        let Err(ended) = self.follow().await;
        let how = match &ended {
            Ended::Gone => "client gone".to_owned(),
            Ended::Finished => "OK".to_owned(),
            Ended::With(status) => format!("{:?}: {}", status.code(), status.message()),
        };
        // Before the client has it: what the client does next must not look like the reason.
        self.shared.change(|state| state.watches.end(self.id, &how));
        if let Ended::With(status) = ended {
            let _ = self.queue.send(Err(status)).await;
        }
    }

    async fn follow(&mut self) -> Result<std::convert::Infallible, Ended> {
        let generation = self.shared.look().settings.generation();
        self.snapshot(self.sandbox.clone(), generation).await?;
        let mut gate = self.shared.gate.subscribe();
        let _ = gate.wait_for(|is_open| *is_open).await;
        let kept = self.shared.change(|state| self.kept(state))?;
        let joint = kept.joint;
        for (held, cursor) in kept.replay {
            self.say(&held, cursor).await?;
        }
        self.shared.change(|state| {
            let view = state.watches.get(self.id);
            view.stage = Stage::Following;
            view.seen = view.seen.max(joint);
        });
        match generation {
            Generation::Old => self.live_old().await,
            Generation::New => self.live_new(joint).await,
        }
    }

    /// Sends the record; ends where `stop_on_terminal` says so.
    async fn snapshot(&mut self, sandbox: Sandbox, generation: Generation) -> Result<(), Ended> {
        let is_end = self.asked.stop_on_terminal && sandbox.phase.is_terminal(generation);
        self.send(Sent::Sandbox(sandbox)).await?;
        if is_end { Err(Ended::Finished) } else { Ok(()) }
    }

    /// Reads what is kept: after a cursor, or the tails.
    fn kept(&self, state: &mut State) -> Result<Kept, Ended> {
        let generation = state.settings.generation();
        let has_floor = state.settings.tail_with_floor && generation == Generation::New;
        let encoding = state.settings.encoding.clone();
        let cursor = Cursor::parse(&encoding, &self.asked.resume_after_cursor);
        // Not `buffers`: those that were torn down meanwhile are not made again.
        let Some(buffers) = state.replicas[self.replica].buffers.get(&self.sandbox.id) else {
            return Ok(Kept::default());
        };
        let joint = match generation {
            Generation::New => buffers.seq(),
            Generation::Old => 0,
        };
        let follow = self.asked.follow();
        if let Some(cursor) = cursor {
            let replay = buffers
                .after(&cursor, follow)
                .map_err(|why| Ended::With(Status::out_of_range(why.text())))?;
            return Ok(Kept::new(joint, replay.iter(), |held| held.cursor.clone()));
        }
        let lines = if follow.logs {
            self.asked.tail_lines()
        } else {
            0
        };
        let events = if follow.events {
            self.asked.event_tail as usize
        } else {
            0
        };
        let tail = buffers.lines.tail(lines).chain(buffers.events.tail(events));
        Ok(Kept::new(joint, tail, |held| match has_floor {
            true => "".into(),
            false => held.cursor.clone(),
        }))
    }

    /// Sends something that was replayed, if the filters let it through.
    async fn say(&mut self, held: &Held, cursor: Arc<str>) -> Result<(), Ended> {
        let time_ms = match &held.item {
            Item::Line(line) => line.time_ms,
            Item::Event(event) => event.time_ms,
        };
        if self.filter.is_since(time_ms) {
            self.say_live(held, cursor).await?;
        }
        Ok(())
    }

    /// Sends something, if the filters of live messages let it through.
    async fn say_live(&mut self, held: &Held, cursor: Arc<str>) -> Result<(), Ended> {
        let sent = match &held.item {
            Item::Line(line) if !self.filter.passes(line) => None,
            Item::Line(line) => Some(Sent::Line {
                sandbox_id: self.sandbox.id.clone(),
                line: Arc::clone(line),
                cursor,
            }),
            Item::Event(event) => Some(Sent::Event {
                event: Arc::clone(event),
                cursor,
            }),
        };
        if let Some(sent) = sent {
            self.send(sent).await?;
        }
        self.shared.change(|state| {
            let view = state.watches.get(self.id);
            view.seen = view.seen.max(held.seq);
        });
        Ok(())
    }

    async fn send(&self, sent: Sent) -> Result<(), Ended> {
        self.shared
            .change(|state| state.watches.get(self.id).queued += 1);
        self.queue.send(Ok(sent)).await.map_err(|_| Ended::Gone)
    }
}

/// What is kept for a watch that attaches.
#[derive(Default)]
struct Kept {
    /// The number up to which the replay has everything; live messages up to it are passed over.
    joint: u64,
    replay: Vec<(Held, Arc<str>)>,
}

impl Kept {
    fn new<'a>(
        joint: u64,
        replay: impl Iterator<Item = &'a Held>,
        cursor: impl Fn(&Held) -> Arc<str>,
    ) -> Kept {
        Kept {
            joint,
            replay: replay.map(|held| (held.clone(), cursor(held))).collect(),
        }
    }
}
