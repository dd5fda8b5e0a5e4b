//! How a stream ended says where to attach next, and whether anything is left to attach to.

use boundlane_record::{Extent, GapCause, Micros};

use super::losses::{Found, in_order};
use super::{Follow, Plan, Step, TAIL_LINES};
use crate::watch::handoff::Handoff;
use crate::watch::{Refusal, StreamEnd, StreamOver};

/// What to do after a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Attach again at once.
    Again,
    /// Attach again after a wait that grows.
    Later(String),
    /// We may not read: wait, and say so.
    Refused(Refusal, String),
    /// The gateway ended it: whether the sandbox is still there decides.
    Ask,
    /// The gateway ended it because the sandbox is gone: [`Follow::over`].
    Over,
    /// The sandbox is gone, or not ours to see: [`Follow::gone`].
    Gone,
}

impl Follow {
    /// The stream ended so, `now`.
    pub fn ended(&mut self, end: StreamEnd, now: Micros) -> Next {
        if end == StreamEnd::Closed {
            // Whatever was left out was said before the end.
            self.place.behind_blind = None;
            self.close_window();
            self.hand_over_rest(now);
        }
        self.discard_window();
        // Lines that may have been the overlap of tail and live are read again if they were not.
        self.attachment_ended();
        match end {
            StreamEnd::Closed => Next::Over,
            StreamEnd::NotFound => Next::Gone,
            StreamEnd::Finished => self.retry(Next::Ask),
            StreamEnd::SpaceGone => self.next_space(),
            StreamEnd::CursorAhead => {
                self.place.cursors.pop();
                self.unusable("the cursor is ahead of all that was issued")
            }
            StreamEnd::BadCursor => {
                self.place.cursors.clear();
                self.unusable("the gateway does not read the cursor")
            }
            StreamEnd::Trimmed { .. } if self.dropped > 0 => {
                self.fall_back_to_tail(GapCause::Lagged, "what was left out is no longer held")
            }
            StreamEnd::Trimmed { .. } => self.fall_back_to_tail(
                GapCause::Evicted,
                "what follows the cursor is no longer held",
            ),
            StreamEnd::Lagged { dropped } => {
                self.lagged(dropped, now);
                Next::Again
            }
            StreamEnd::TooLarge => {
                self.suspect(GapCause::Oversize, "a message is too large to read");
                self.plan = Plan::Tail(1);
                Next::Later("a message is too large to read".to_owned())
            }
            StreamEnd::Refused(refusal, text) => self.retry(Next::Refused(refusal, text)),
            StreamEnd::RateLimited => {
                self.retry(Next::Later("the gateway limits our calls".to_owned()))
            }
            StreamEnd::Broke(why) => self.retry(Next::Later(why)),
        }
    }

    /// The sandbox is no longer there, as of `now`, and its stream did not say so: what was published
    /// since it was known to be whole cannot be read any more.
    pub fn gone(&mut self, now: Micros) {
        if !self.place.begun {
            self.history_unavailable(None);
        }
        let mut gap = self.between(Found::new(GapCause::StreamEnded, Extent::Unknown));
        gap.to = Some(now);
        self.steps.push_back(Step::OpenGap(in_order(gap)));
        self.place.over = Some(StreamOver::Gone);
    }

    /// The gateway ended the stream itself: it is whole, but for what was suspected before.
    pub fn over(&mut self) {
        if !self.place.begun {
            self.history_unavailable(None);
        } else if let Some(cause) = self.suspicion.as_ref().map(|suspicion| suspicion.cause) {
            self.open_gap(cause, None);
        }
        self.place.over = Some(StreamOver::Ended);
    }

    /// Nothing will be read again: what may have been the overlap is as far as it goes.
    fn hand_over_rest(&mut self, now: Micros) {
        if let Some(attachment) = &mut self.attachment {
            let over = attachment.handoff.end();
            self.hand_over(over, now);
        }
    }

    fn attachment_ended(&mut self) {
        if let Some(attachment) = &mut self.attachment {
            attachment.handoff = Handoff::exact();
        }
    }

    fn retry(&mut self, next: Next) -> Next {
        // A message that cannot be read is passed only from the tail.
        let is_passing = self
            .suspicion
            .as_ref()
            .is_some_and(|suspicion| suspicion.cause == GapCause::Oversize);
        if !is_passing {
            self.replan();
        }
        next
    }

    /// The numbering is gone there; another replica may answer for one that was read before.
    fn next_space(&mut self) -> Next {
        let next = match self.plan {
            Plan::Resume(index) => index + 1,
            Plan::Tail(_) => usize::MAX,
        };
        let why = "the numbering no longer exists";
        if next < self.place.cursors.len() {
            // What else the numbering that was read last has had, this replica cannot say.
            self.suspect(GapCause::SpaceChanged, why);
            self.plan = Plan::Resume(next);
            return Next::Again;
        }
        self.fall_back_to_tail(GapCause::SpaceChanged, why)
    }

    /// A cursor that can no longer be compared with anything.
    fn unusable(&mut self, why: &'static str) -> Next {
        self.place.holes.clear();
        self.place.blind_lines = 0;
        self.fall_back_to_tail(GapCause::SpaceChanged, why)
    }

    fn fall_back_to_tail(&mut self, cause: GapCause, why: &'static str) -> Next {
        self.suspect(cause, why);
        self.plan = Plan::Tail(TAIL_LINES);
        Next::Again
    }
}
