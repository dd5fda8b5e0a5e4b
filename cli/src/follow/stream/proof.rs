//! Asking whether everything was received: the gateway's newest line is one that we have.
//!
//! What was published before the question was asked has then arrived. Silence alone proves nothing: a
//! connection can stand still for as long as its pings take.

use std::time::Duration;

use boundlane_record::{Fingerprint, Micros};
use tokio::time::Instant;

use crate::follow::pace::Pace;

/// A question to the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// When.
    pub(super) at: Micros,
    /// How many lines had come.
    pub(super) lines: u64,
}

/// When to ask, and what was answered.
pub(super) struct Proof {
    pace: Pace,
    asked: Option<Instant>,
    /// Lines came since the last question.
    is_stale: bool,
    /// A line that the gateway has and we had not yet, and when it was asked.
    pub(super) awaited: Option<(Fingerprint, Asked)>,
    /// When the last mark or line was written.
    spoke: Instant,
}

impl Proof {
    pub(super) fn new(pace: Pace) -> Proof {
        Proof {
            pace,
            asked: None,
            is_stale: true,
            awaited: None,
            spoke: Instant::now(),
        }
    }

    /// A new attachment has to prove itself.
    pub(super) fn attached(&mut self) {
        self.asked = None;
        self.is_stale = true;
        self.awaited = None;
    }

    /// A line came.
    pub(super) fn line(&mut self) {
        self.is_stale = true;
        self.spoke = Instant::now();
    }

    /// A question was answered, and nothing is awaited.
    pub(super) fn proven(&mut self) {
        self.is_stale = false;
        self.awaited = None;
    }

    /// Whether everything was received when it was last asked, and nothing came since.
    pub(super) fn is_proven(&self) -> bool {
        !self.is_stale
    }

    /// A mark was written.
    pub(super) fn marked(&mut self) {
        self.spoke = Instant::now();
    }

    /// Whether nothing was written for so long that a mark is due.
    pub(super) fn is_mark_due(&self) -> bool {
        self.spoke.elapsed() >= self.pace.mark()
    }

    /// The question is being asked.
    pub(super) fn ask(&mut self) {
        self.asked = Some(Instant::now());
    }

    /// How long until the next question is due: soon after an attachment, then while lines come, and for
    /// a mark.
    pub(super) fn due_in(&self) -> Duration {
        let since = |at: Instant, wait: Duration| wait.saturating_sub(at.elapsed());
        let Some(asked) = self.asked else {
            return Duration::ZERO;
        };
        let next = since(asked, self.pace.probe());
        match self.is_stale {
            true => next,
            false => next.max(since(self.spoke, self.pace.mark())),
        }
    }
}
