//! One sandbox, followed: attach, read, commit, and again, until its stream is over.

mod attach;
mod commit;
mod proof;
mod read;

use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBackoff;
use boundlane_gateway::Sandbox;
use boundlane_ingest::watch::{Follow, Next, Refusal, Watched};
use boundlane_ingest::{DecodeOptions, Decoder};
use boundlane_record::{Session, StreamName};
use tokio::sync::watch;
use tokio::time::Instant;

use super::board::Standing;
use super::bundle::Builder;
use super::sessions;
use super::shared::{Shared, Signal, Until};
use super::tell::About;
use super::writer::Closed;
use crate::context::wall_clock;
use proof::Proof;
use read::Outcome;

/// How following a sandbox ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The gateway ended the stream: it is whole.
    Over,
    /// The sandbox is gone.
    Gone,
    /// Its name belongs to another one now.
    Replaced,
    /// It was asked to stop.
    Stopped,
    /// It was silent for a while, and that was all that was asked.
    Quiet,
    /// The gateway could not be read for a while, and waiting was not asked for.
    Unreachable(String),
    /// The journal cannot be written, or its place not be read.
    Failed(String),
}

/// One followed sandbox.
pub(crate) struct Stream {
    shared: Arc<Shared>,
    sandbox: Sandbox,
    name: Arc<StreamName>,
    follow: Follow,
    decoder: Decoder,
    builder: Builder,
    /// What the next attachment says of itself, once it proves to be one.
    announce: Option<Session>,
    /// Whether the last attachment was closed by us, to read a hole again: that is no news.
    is_repair: bool,
    /// Whether this attachment has shown that it is one.
    is_attached: bool,
    proof: Proof,
    /// Lines that were stored when this run began.
    lines_before: u64,
    waits: Option<ExponentialBackoff>,
    /// Since when no attachment brought anything.
    broken: Option<Instant>,
}

impl Stream {
    /// Goes on from the stored place.
    ///
    /// # Errors
    /// What is wrong with the journal, for people.
    pub(crate) fn new(shared: Arc<Shared>, sandbox: Sandbox) -> Result<Stream, String> {
        let name = Arc::new(name_of(&sandbox));
        let stored = shared.stored(&name)?;
        let watched = Watched {
            sandbox_id: sandbox.id.clone(),
            created: sandbox.created,
        };
        let decoder = Decoder::new(
            DecodeOptions::default(),
            Arc::clone(&shared.redactor),
            shared.key.clone(),
            stored.decode_state,
        );
        Ok(Stream {
            proof: Proof::new(shared.pace),
            lines_before: stored.place.lines,
            follow: Follow::new(watched, stored.place, stored.kept),
            builder: Builder::default(),
            announce: None,
            is_repair: false,
            is_attached: false,
            waits: None,
            broken: None,
            shared,
            sandbox,
            name,
            decoder,
        })
    }

    /// Follows until the stream is over or `signal` says to stop.
    pub(crate) async fn run(mut self, mut signal: watch::Receiver<Signal>) -> Ended {
        match self.follow_on(&mut signal).await {
            Ok(ended) => ended,
            Err(Closed) => Ended::Failed("the journal was closed".to_owned()),
        }
    }

    async fn follow_on(&mut self, signal: &mut watch::Receiver<Signal>) -> Result<Ended, Closed> {
        loop {
            let said = *signal.borrow();
            if said == Signal::Stop {
                // Not attached: what was said since then is not known, so nothing is claimed.
                self.commit().await?;
                return Ok(Ended::Stopped);
            }
            let attached = tokio::select! {
                biased;
                _ = signal.changed() => continue,
                attached = self.attach() => attached,
            };
            let next = match attached {
                Err(next) => next,
                Ok(watch) => match self.read(watch, signal).await? {
                    Outcome::Next(next) => next,
                    Outcome::Ended(ended) => return Ok(ended),
                },
            };
            self.is_attached = false;
            self.shared.board.stream(&self.sandbox.id, standing(&next));
            self.apply().await?;
            if let Some(ended) = self.after(next, signal).await? {
                return Ok(ended);
            }
        }
    }

    /// What follows the end of an attachment.
    async fn after(
        &mut self,
        next: Next,
        signal: &mut watch::Receiver<Signal>,
    ) -> Result<Option<Ended>, Closed> {
        let text = match &next {
            Next::Later(why) | Next::Refused(_, why) => Some(why.clone()),
            _ => None,
        };
        if let Some(why) = text.filter(|_| self.gives_up()) {
            self.commit().await?;
            return Ok(Some(Ended::Unreachable(why)));
        }
        match next {
            Next::Again => self.wait_if_repeated(signal).await,
            Next::Later(why) => {
                let text = format!("`{}`: {why}; trying again", self.sandbox.name);
                self.tell(&text);
                self.wait(signal).await;
            }
            Next::Refused(refusal, why) => {
                let what = match refusal {
                    Refusal::Unauthenticated => "the gateway does not know who we are",
                    Refusal::PermissionDenied => "we may not read it",
                };
                let text = format!(
                    "`{}`: {what} ({why}); its lines are not read until that changes",
                    self.sandbox.name
                );
                self.shared.teller.warn(self.about(), &text);
                self.wait(signal).await;
            }
            Next::Ask => match self.shared.client.refresh(&self.sandbox).await {
                Ok(Some(found)) if found.id == self.sandbox.id => self.wait(signal).await,
                Ok(_) => return self.over("finished").await.map(Some),
                Err(_) => self.wait(signal).await,
            },
            Next::Over => return self.over("closed").await.map(Some),
            Next::Gone => return self.gone("gone", Ended::Gone).await.map(Some),
        }
        Ok(None)
    }

    /// Whether the gateway was given its time, by who does not wait for ever.
    fn gives_up(&mut self) -> bool {
        let since = *self.broken.get_or_insert_with(Instant::now);
        self.shared.until != Until::Told && since.elapsed() >= self.shared.pace.once()
    }

    async fn over(&mut self, why: &str) -> Result<Ended, Closed> {
        self.follow.over();
        self.apply().await?;
        let end = sessions::end(why);
        self.session(&end);
        self.commit().await?;
        self.tell(&format!("`{}` ended", self.sandbox.name));
        Ok(Ended::Over)
    }

    /// The sandbox is not there any more, and its stream did not say so.
    async fn gone(&mut self, why: &str, ended: Ended) -> Result<Ended, Closed> {
        self.follow.gone(wall_clock());
        self.apply().await?;
        self.tell(&format!(
            "`{}` is gone; what it said last may be missing",
            self.sandbox.name
        ));
        self.detach(why, ended).await
    }

    async fn detach(&mut self, why: &str, ended: Ended) -> Result<Ended, Closed> {
        let detached = sessions::detached(why);
        self.session(&detached);
        self.commit().await?;
        Ok(ended)
    }

    async fn wait_if_repeated(&mut self, signal: &mut watch::Receiver<Signal>) {
        // The first time at once: what is left out is read again while it is held.
        if self.waits.is_some() {
            self.wait(signal).await;
        } else {
            self.waits = Some(self.shared.pace.backoff());
        }
    }

    async fn wait(&mut self, signal: &mut watch::Receiver<Signal>) {
        let waits = self.waits.get_or_insert_with(|| self.shared.pace.backoff());
        let wait = waits.next().unwrap_or(Duration::from_secs(1));
        tokio::select! {
            () = tokio::time::sleep(wait) => (),
            _ = signal.changed() => (),
        }
    }

    fn about(&self) -> About {
        About::Sandbox(self.sandbox.id.clone())
    }

    fn tell(&self, text: &str) {
        self.shared.teller.say(self.about(), text);
    }
}

/// How a stream stands whose attachment ended so.
fn standing(next: &Next) -> Standing {
    match next {
        Next::Refused(..) => Standing::Refused,
        _ => Standing::Waiting,
    }
}

/// The stream of a sandbox.
pub(crate) fn name_of(sandbox: &Sandbox) -> StreamName {
    let text = |text: &str| {
        let text = crate::context::without_secrets(text);
        (!text.is_empty()).then(|| text.into_owned())
    };
    StreamName {
        stream: format!("gateway/{}", sandbox.id),
        sandbox: text(&sandbox.name),
        sandbox_id: text(&sandbox.id),
        workspace: text(&sandbox.workspace),
        source: boundlane_record::Source::Gateway.word().to_owned(),
    }
}
