//! Reading one attachment to its end.

use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use boundlane_gateway::{GatewayError, Snapshot, Watch};
use boundlane_ingest::watch::{Arrived, Flow, Next, StreamEnd, TAIL_LINES, WatchEvent};
use boundlane_record::{Fingerprint, Micros};
use tokio::sync::watch;
use tokio::time::Instant;

use super::proof::Asked;
use super::{Ended, Stream};
use crate::context::wall_clock;
use crate::follow::board::Standing;
use crate::follow::sessions;
use crate::follow::shared::{Signal, Until};
use crate::follow::writer::Closed;

/// How much longer silence takes to count while the newest line has not come.
const UNPROVEN_FACTOR: u32 = 5;

/// What may be read before an answer that has come: as much as a gateway holds back behind a warning.
const EVENTS_BEFORE_ANSWER_MAX: u32 = 2048;

/// How long a stream that is to stop may take to find out whether everything has come.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How reading ended.
pub(super) enum Outcome {
    /// The attachment ended.
    Next(Next),
    /// The stream did.
    Ended(Ended),
}

type Answer = (Asked, Result<Snapshot, GatewayError>);
type Asking = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What happened.
enum Happened {
    Event(Result<WatchEvent, StreamEnd>),
    Answered(Asked, Result<Snapshot, GatewayError>),
    Signal,
    Idle,
    AskNow,
    Quiet,
    TimeIsUp,
}

/// What is waited for beside the next line.
struct Attention {
    /// When something came last.
    heard: Instant,
    is_idle: bool,
    asking: Option<Asking>,
    /// An answer that came while there was something to read, and how much of that may still come before it.
    answer: Option<(Answer, u32)>,
    /// Set when the stream is to stop: until then it may find out whether everything has come.
    stop_at: Option<Instant>,
}

impl Stream {
    /// Waits for whatever comes first. Lines that have arrived are taken without waiting, and committed
    /// when there are no more.
    async fn wait_for(
        &mut self,
        watch: &mut Watch,
        signal: &mut watch::Receiver<Signal>,
        now: &mut Attention,
    ) -> Result<Happened, Closed> {
        if signal.has_changed().unwrap_or(false) {
            return Ok(Happened::Signal);
        }
        if now.stop_at.is_some_and(|at| at <= Instant::now()) {
            return Ok(Happened::TimeIsUp);
        }
        if let Some(answer) = now.asking.as_mut().and_then(at_once) {
            now.asking = None;
            now.answer = Some((answer, EVENTS_BEFORE_ANSWER_MAX));
        }
        if now.asking.is_none() && now.answer.is_none() && self.proof.due_in().is_zero() {
            return Ok(Happened::AskNow);
        }
        // An answer says nothing of a warning that has arrived and was not read yet, so what has comes first.
        // A sandbox that never pauses must not keep it waiting for ever.
        let left = now.answer.as_mut().map(|(_, left)| left);
        if left.as_ref().is_none_or(|left| **left > 0)
            && let Some(event) = at_once(&mut std::pin::pin!(watch.next()))
        {
            left.into_iter().for_each(|left| *left -= 1);
            return Ok(Happened::Event(event));
        }
        if let Some(((asked, answer), _)) = now.answer.take() {
            return Ok(Happened::Answered(asked, answer));
        }
        self.commit().await?;
        let quiet_at = (self.shared.until != Until::Told).then(|| now.heard + self.quiet_after());
        let is_asking = now.asking.is_some();
        Ok(tokio::select! {
            biased;
            _ = signal.changed() => Happened::Signal,
            () = reached(now.stop_at) => Happened::TimeIsUp,
            event = watch.next() => Happened::Event(event),
            answer = answered(&mut now.asking), if is_asking => {
                now.asking = None;
                Happened::Answered(answer.0, answer.1)
            }
            () = tokio::time::sleep_until(now.heard + self.shared.pace.idle()), if !now.is_idle => {
                Happened::Idle
            }
            () = tokio::time::sleep(self.proof.due_in()), if !is_asking => Happened::AskNow,
            () = reached(quiet_at) => Happened::Quiet,
        })
    }

    /// Reads until the attachment ends, the stream is over, or `signal` says otherwise.
    pub(super) async fn read(
        &mut self,
        mut watch: Watch,
        signal: &mut watch::Receiver<Signal>,
    ) -> Result<Outcome, Closed> {
        let mut now = Attention {
            heard: Instant::now(),
            is_idle: false,
            asking: None,
            answer: None,
            stop_at: None,
        };
        loop {
            let happened = self.wait_for(&mut watch, signal, &mut now).await?;
            let ended = match happened {
                Happened::Event(event) => {
                    now.heard = Instant::now();
                    now.is_idle = false;
                    self.event(event).await?
                }
                Happened::Answered(asked, answer) => self.answer(asked, answer),
                Happened::AskNow => {
                    now.asking = Some(self.ask());
                    None
                }
                Happened::Idle => {
                    now.is_idle = true;
                    self.announce();
                    self.follow.idle(wall_clock());
                    None
                }
                Happened::Signal if *signal.borrow_and_update() == Signal::Stop => {
                    self.proof.attached();
                    now.answer = None;
                    now.asking = Some(self.ask());
                    let end = Instant::now() + LAST_LOOK;
                    now.stop_at.get_or_insert(end);
                    None
                }
                Happened::Signal => {
                    self.follow.replan();
                    Some(Outcome::Next(Next::Again))
                }
                Happened::Quiet => {
                    return self
                        .detach("stopped", Ended::Quiet)
                        .await
                        .map(Outcome::Ended);
                }
                Happened::TimeIsUp => {
                    // What came last is not known to be all, so nothing is claimed.
                    self.commit().await?;
                    return Ok(Outcome::Ended(Ended::Stopped));
                }
            };
            self.apply().await?;
            if let Some(outcome) = ended {
                return Ok(outcome);
            }
            if let Some(ended) = self.has_enough(now.stop_at.is_some()) {
                return self.detach("stopped", ended).await.map(Outcome::Ended);
            }
        }
    }

    /// For how long nothing has to come until reading is done: longer while something is known to be
    /// on its way.
    fn quiet_after(&self) -> Duration {
        let once = self.shared.pace.once();
        match self.shared.until == Until::Quiet && !self.proof.is_proven() {
            true => once * UNPROVEN_FACTOR,
            false => once,
        }
    }

    async fn event(
        &mut self,
        event: Result<WatchEvent, StreamEnd>,
    ) -> Result<Option<Outcome>, Closed> {
        let line = match event {
            Ok(WatchEvent::Line(line)) => line.bounded(),
            Ok(WatchEvent::Lagged { dropped }) => {
                self.announce();
                self.follow.lagged(dropped, wall_clock());
                self.is_repair = true;
                self.tell(&format!(
                    "`{}`: the gateway left out up to {dropped} messages; reading them again",
                    self.sandbox.name
                ));
                return Ok(Some(Outcome::Next(Next::Again)));
            }
            Ok(WatchEvent::Warning(text)) => {
                self.tell(&format!(
                    "`{}`: the gateway warns: {text}",
                    self.sandbox.name
                ));
                return Ok(None);
            }
            Ok(WatchEvent::Other) => return Ok(None),
            Err(end) => return Ok(Some(Outcome::Next(self.follow.ended(end, wall_clock())))),
        };
        self.announce();
        let arrived = Arrived {
            fingerprint: line.fingerprint(&line.text(), &self.shared.key),
            line,
        };
        match self.follow.line(arrived, wall_clock()) {
            Flow::On => {
                (self.waits, self.broken) = (None, None);
                self.apply().await?;
                self.check_awaited();
                Ok(None)
            }
            Flow::Reattach => Ok(Some(Outcome::Next(Next::Again))),
            Flow::Another(_) => {
                let ended = self.gone("replaced", Ended::Replaced).await?;
                Ok(Some(Outcome::Ended(ended)))
            }
        }
    }

    /// Whether everything has come that was asked for, and how the stream ends then.
    fn has_enough(&self, is_stopping: bool) -> Option<Ended> {
        let is_proven = self.proof.is_proven();
        if is_stopping {
            return is_proven.then_some(Ended::Stopped);
        }
        // A gateway holds no more lines: what it held at first was sent, or left out, before these.
        let lines = self.follow.place().lines - self.lines_before;
        let is_all = lines >= u64::from(TAIL_LINES);
        (self.shared.until == Until::CaughtUp && (is_proven || is_all)).then_some(Ended::Quiet)
    }

    /// Says that it is attached, in front of what comes.
    fn announce(&mut self) {
        if !std::mem::replace(&mut self.is_attached, true) {
            let board = &self.shared.board;
            board.stream(&self.sandbox.id, Standing::Attached);
        }
        if let Some(session) = self.announce.take() {
            self.session(&session);
            self.tell(&format!("following `{}`", self.sandbox.name));
        }
    }

    /// Asks for the newest line; for all of them while some are waited for.
    fn ask(&mut self) -> Asking {
        self.proof.ask();
        let lines = match self.follow.awaits_tail() {
            true => TAIL_LINES,
            false => 1,
        };
        let (client, sandbox) = (self.shared.client.clone(), self.sandbox.clone());
        let asked = Asked {
            at: wall_clock(),
            lines: self.follow.place().lines,
        };
        Box::pin(async move { (asked, client.snapshot(&sandbox, lines).await) })
    }

    fn answer(&mut self, asked: Asked, answer: Result<Snapshot, GatewayError>) -> Option<Outcome> {
        // What is wrong with the gateway, the stream itself will say.
        let snapshot = answer.ok()?;
        if self.is_tail_lost(&snapshot) {
            return Some(Outcome::Next(Next::Again));
        }
        match snapshot.lines.last() {
            None if asked.lines == 0 => self.proven(asked.at),
            // Another buffer than the one whose lines we have.
            None => self.follow.holds_nothing(),
            Some(line) => {
                let print = line.fingerprint(&line.text(), &self.shared.key);
                self.proof.awaited = Some((print, asked));
                self.check_awaited();
            }
        }
        None
    }

    /// Whether the gateway ended between the snapshot and the attachment: the new one has none of the
    /// lines that are waited for.
    fn is_tail_lost(&mut self, snapshot: &Snapshot) -> bool {
        if !self.follow.awaits_tail() {
            return false;
        }
        let lines = snapshot.lines.iter();
        let prints = lines.map(|line| line.fingerprint(&line.text(), &self.shared.key));
        let prints: Vec<Fingerprint> = prints.collect();
        self.follow.holds(&prints) == Flow::Reattach
    }

    fn check_awaited(&mut self) {
        let Some((print, asked)) = self.proof.awaited else {
            return;
        };
        self.follow.newest_is(&print);
        if self.follow.has_newest(&print, asked.lines) {
            self.proven(asked.at);
        }
    }

    fn proven(&mut self, asked: Micros) {
        let before = self.follow.place().whole;
        self.follow.whole_before(asked);
        self.proof.proven();
        if self.proof.is_mark_due() && self.follow.place().whole == Some(asked) {
            let mark = sessions::mark(before, asked);
            self.session(&mark);
            self.proof.marked();
        }
    }
}

/// Waits for the moment, if there is one.
async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn answered(asking: &mut Option<Asking>) -> Answer {
    match asking {
        Some(asking) => asking.await,
        None => std::future::pending().await,
    }
}

/// What is there already, without waiting.
fn at_once<F: Future + ?Sized>(future: &mut Pin<impl DerefMut<Target = F>>) -> Option<F::Output> {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
