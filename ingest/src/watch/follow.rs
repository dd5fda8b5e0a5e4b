//! What each thing that a followed stream says means for the place: which lines are new, where
//! something may be missing, and where to attach next.
//!
//! Nothing is inferred from times or from silence. What proves that nothing is missing is a cursor that
//! was resumed after, a tail that reaches back to the greatest cursor, or, without cursors, a tail that
//! lies over the last lines that are stored. Whatever none of these proves is a gap.

mod alike;
mod cursors;
mod ended;
mod losses;
mod whole;
mod window;

use std::collections::VecDeque;

use boundlane_record::{Extent, Fingerprint, Gap, GapCause, Micros};

use super::flush::Flush;
use super::handoff::Handoff;
use super::place::WatchPlace;
use super::{WatchFrom, WatchedLine, cursor};
use crate::place::LINES_KEPT_MAX;

pub use ended::Next;

/// Lines that a gateway holds of one sandbox, and so the most that is asked for.
pub const TAIL_LINES: u32 = 2000;

/// A line and what it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// The line.
    pub line: WatchedLine,
    /// Of its text, whole.
    pub fingerprint: Fingerprint,
}

/// What to do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Store it.
    Take(Arrived),
    /// It is stored already; count it.
    Repeat(Arrived),
    /// Something may be missing here, in front of the next line that is taken.
    Gap(Gap),
    /// The same, of unknown extent: it may go on, and merges with what follows.
    OpenGap(Gap),
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    /// Go on reading.
    On,
    /// Close this stream now, keep nothing more of it, and attach again.
    Reattach,
    /// The line is of another sandbox, whose id it carries: this stream is over.
    Another(String),
}

/// The lines that a gateway without cursors held shortly before an attachment, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot(pub Vec<Fingerprint>);

/// Whose stream is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// The sandbox's id.
    pub sandbox_id: String,
    /// When it was made, by the gateway's clock.
    pub created: Option<Micros>,
}

/// Where the next attachment begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// After a cursor: 0 is the numbering that was read last, 1 the one before it.
    Resume(usize),
    Tail(u32),
}

/// One attachment.
#[derive(Debug)]
struct Attachment {
    /// When the gateway accepted it.
    at: Micros,
    from_tail: bool,
    /// It was made to repair a lag.
    is_repair: bool,
    /// Lines that came.
    received: usize,
    /// Lines that were taken.
    taken: usize,
    /// Lines taken without a cursor, since the last one with a cursor.
    blind: usize,
    /// Whether what may be missing in front of it is settled.
    settled: bool,
    /// An open gap says that something may be.
    opened: bool,
    /// The greatest cursor, while lines in front of it are read again: what lies in holes is on its way.
    replays_through: Option<String>,
    /// Lines without a cursor that wait to be compared with what is stored.
    window: Vec<Arrived>,
    /// How many lines the window waits for, when that is known.
    window_lines: usize,
    is_window_open: bool,
    handoff: Handoff,
    /// What the gateway held before it: so many lines come once, as its tail.
    snapshot: Option<Snapshot>,
    /// The first of them, as they come.
    tail: Vec<Fingerprint>,
}

impl Attachment {
    /// Lines of the snapshot, which are the least that the tail has.
    fn tail_lines(&self) -> usize {
        self.snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.0.len())
    }
}

/// Why an attachment could not go on where the last one ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Suspicion {
    cause: GapCause,
    /// The gateway's own word for it, for the evidence.
    why: &'static str,
}

/// The decisions of one followed stream.
#[derive(Debug)]
pub struct Follow {
    watched: Watched,
    place: WatchPlace,
    /// Fingerprints of the last lines taken, oldest first.
    kept: VecDeque<Fingerprint>,
    plan: Plan,
    attachment: Option<Attachment>,
    suspicion: Option<Suspicion>,
    /// Messages left out according to warnings, since the last whole attachment.
    dropped: u64,
    repairs: bool,
    /// The end of the last hole when the stream was last found whole.
    holes_through: Option<u64>,
    /// Whether it was found whole since lines without a cursor were followed by one with.
    is_blind_proven: bool,
    flush: Flush,
    /// When the line at hand came.
    came: Option<Micros>,
    steps: VecDeque<Step>,
}

impl Follow {
    /// Goes on from a stored place and the fingerprints kept with it.
    pub fn new(watched: Watched, place: WatchPlace, kept: Vec<Fingerprint>) -> Follow {
        let mut follow = Follow {
            watched,
            place,
            kept: kept.into(),
            plan: Plan::Tail(TAIL_LINES),
            attachment: None,
            suspicion: None,
            dropped: 0,
            repairs: false,
            holes_through: None,
            is_blind_proven: false,
            flush: Flush::default(),
            came: None,
            steps: VecDeque::new(),
        };
        follow.replan();
        follow
    }

    /// Where it stands after the steps that were handed out.
    pub fn place(&self) -> &WatchPlace {
        &self.place
    }

    /// Where to attach.
    pub fn attach_from(&self) -> WatchFrom {
        match self.plan {
            Plan::Tail(lines) => WatchFrom::Tail(lines),
            Plan::Resume(index) => self
                .resume_cursor(index)
                .map_or(WatchFrom::Tail(TAIL_LINES), WatchFrom::After),
        }
    }

    /// The gateway knows no cursors, so the next attachment is to its tail. One that gave some before is
    /// another one now.
    pub fn without_cursors(&mut self) {
        if !self.place.cursors.is_empty() {
            self.suspect(
                GapCause::SpaceChanged,
                "the gateway has no cursors any more",
            );
        }
        if matches!(self.plan, Plan::Resume(_)) {
            self.plan = Plan::Tail(TAIL_LINES);
        }
    }

    /// The gateway accepted the attachment. Gateways without cursors are asked what they hold before.
    pub fn attached(&mut self, now: Micros, snapshot: Option<Snapshot>) {
        let tail = match self.attach_from() {
            WatchFrom::Tail(lines) => Some(lines as usize),
            WatchFrom::After(_) => None,
        };
        let snapshot = snapshot.map(|Snapshot(mut lines)| {
            lines.drain(..lines.len().saturating_sub(tail.unwrap_or(0)));
            Snapshot(lines)
        });
        let lines = snapshot.as_ref().map(|snapshot| snapshot.0.len());
        self.attachment = Some(Attachment {
            at: now,
            from_tail: tail.is_some(),
            is_repair: std::mem::take(&mut self.repairs),
            received: 0,
            taken: 0,
            blind: 0,
            settled: tail.is_none(),
            opened: false,
            replays_through: match self.plan {
                Plan::Resume(0) if !self.place.holes.is_empty() => {
                    self.place.greatest().map(str::to_owned)
                }
                _ => None,
            },
            window: Vec::new(),
            window_lines: lines.or(tail).unwrap_or(0),
            is_window_open: tail.is_some() && !self.kept.is_empty(),
            handoff: match lines {
                Some(0) => Handoff::default(),
                _ => Handoff::exact(),
            },
            snapshot,
            tail: Vec::new(),
        });
        self.came = None;
        self.flush.attached(now);
        self.lose_behind_blind(Extent::Unknown, now);
        if lines == Some(0) {
            self.close_window();
        }
    }

    /// One line, that came `now`.
    pub fn line(&mut self, arrived: Arrived, now: Micros) -> Flow {
        let id = &arrived.line.sandbox_id;
        if !id.is_empty() && *id != self.watched.sandbox_id {
            return Flow::Another(id.clone());
        }
        let Some(attachment) = &mut self.attachment else {
            return Flow::Reattach;
        };
        attachment.received += 1;
        self.came = Some(now);
        let cut = self.flush.line(now, arrived.line.time);
        self.place.cut_push = cut.or(self.place.cut_push);
        match arrived.line.cursor.is_empty() {
            true => self.without_cursor(arrived, now),
            false => {
                self.close_window();
                self.with_cursor(arrived);
            }
        }
        Flow::On
    }

    /// The gateway left messages out: what lies behind the hole must not be kept before the hole is
    /// read again, or known to be gone.
    pub fn lagged(&mut self, dropped: u64, now: Micros) -> Flow {
        self.discard_window();
        self.dropped = self.dropped.saturating_add(dropped);
        self.lose_behind_blind(Extent::AtMost(self.dropped), now);
        let brought_nothing = self
            .attachment
            .as_ref()
            .is_some_and(|attachment| attachment.is_repair && attachment.taken == 0);
        self.replan();
        if brought_nothing || self.place.cursors.is_empty() {
            self.suspect(GapCause::Lagged, "lagged again before the hole was read");
            self.plan = Plan::Tail(TAIL_LINES);
        }
        self.repairs = true;
        Flow::Reattach
    }

    /// Nothing came for a while, and nothing waits to be read. A tail can come late all the same, so nothing is
    /// concluded but what the gateway said before.
    pub fn idle(&mut self, now: Micros) {
        let cut = self.flush.idle(now);
        self.place.cut_push = cut.or(self.place.cut_push);
        let Some(attachment) = &mut self.attachment else {
            return;
        };
        if !attachment.is_window_open {
            let over = attachment.handoff.idle();
            self.hand_over(over, now);
        }
        self.open_what_is_suspected();
    }

    /// What is to be done so far, in order.
    pub fn steps(&mut self) -> impl Iterator<Item = Step> {
        self.steps.drain(..)
    }

    /// Attach again from the stored place, which proves itself; nothing is concluded.
    pub fn replan(&mut self) {
        self.plan = match self.place.cursors.is_empty() {
            true => Plan::Tail(TAIL_LINES),
            false => Plan::Resume(0),
        };
    }

    fn take(&mut self, arrived: Arrived) {
        self.begin(&arrived);
        self.place.lines += 1;
        self.place.last_time = arrived.line.time.or(self.place.last_time);
        self.kept.push_back(arrived.fingerprint);
        let surplus = self.kept.len().saturating_sub(LINES_KEPT_MAX);
        self.kept.drain(..surplus);
        if let Some(attachment) = &mut self.attachment {
            attachment.taken += 1;
            attachment.opened = false;
        }
        self.steps.push_back(Step::Take(arrived));
    }

    fn repeat(&mut self, arrived: Arrived) {
        self.steps.push_back(Step::Repeat(arrived));
    }

    fn suspect(&mut self, cause: GapCause, why: &'static str) {
        self.suspicion.get_or_insert(Suspicion { cause, why });
    }
}
