//! A suspicion, never a fact: exactly 100 lines at once after a silence.
//!
//! A supervisor that could not reach its gateway saves lines and sends them in one push, of which the
//! gateway takes the first 100. Whoever follows sees a silence, then 100 lines that are older than their
//! arrival; what was cut off cannot be known.

use boundlane_record::Micros;

/// Lines of one push that a gateway takes.
const PUSH_LINES: u64 = 100;
/// Without a line for so long, and then many: a connection came back.
const SILENCE_MICROS: i64 = 30 * 1_000_000;
/// A line this much older than its arrival was saved somewhere.
const LATE_MICROS: i64 = 5 * 1_000_000;
/// Lines of one push come closer together than this.
const APART_MICROS: i64 = 500_000;

/// The lines that came together last.
#[derive(Debug, Default)]
pub(super) struct Flush {
    /// When something came last, or the stream was attached.
    heard: Option<Micros>,
    /// When the lines at hand began to come after a silence, and how many they are.
    burst: Option<(Micros, u64)>,
}

impl Flush {
    /// The stream is attached: what comes first is what was missed here.
    pub(super) fn attached(&mut self, now: Micros) {
        (self.heard, self.burst) = (Some(now), None);
    }

    /// A line came `now` that was written at `time`. When lines before it look like a push that was cut:
    /// the moment at which they began to come.
    pub(super) fn line(&mut self, now: Micros, time: Option<Micros>) -> Option<Micros> {
        let since = self.heard.map_or(0, |heard| now.0.saturating_sub(heard.0));
        let cut = if since > APART_MICROS {
            self.over()
        } else {
            None
        };
        let is_late = time.is_some_and(|time| now.0.saturating_sub(time.0) >= LATE_MICROS);
        match &mut self.burst {
            Some((_, lines)) => *lines += 1,
            None if since >= SILENCE_MICROS && is_late => self.burst = Some((now, 1)),
            None => {}
        }
        self.heard = Some(now);
        cut
    }

    /// Nothing came for a while.
    pub(super) fn idle(&mut self, now: Micros) -> Option<Micros> {
        let since = self.heard.map_or(0, |heard| now.0.saturating_sub(heard.0));
        if since > APART_MICROS {
            self.over()
        } else {
            None
        }
    }

    fn over(&mut self) -> Option<Micros> {
        let (began, lines) = self.burst.take()?;
        (lines == PUSH_LINES).then_some(began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    /// `lines` lines at second 100, attached at 0, each written at `time`; then silence.
    fn after(lines: u64, attached: i64, time: i64) -> Option<Micros> {
        let mut flush = Flush::default();
        flush.attached(Micros(attached * SECOND));
        for line in 0..lines {
            let now = Micros(100 * SECOND + i64::try_from(line).unwrap_or(0));
            assert_eq!(flush.line(now, Some(Micros(time * SECOND))), None);
        }
        flush.idle(Micros(110 * SECOND))
    }

    #[test]
    fn a_push_that_was_cut_is_not_noticed_or_others_are() {
        assert_eq!(after(100, 0, 50), Some(Micros(100 * SECOND)));
        assert_eq!(after(99, 0, 50), None, "another number");
        assert_eq!(after(101, 0, 50), None);
        assert_eq!(after(100, 0, 100), None, "lines of this moment");
        assert_eq!(after(100, 90, 50), None, "no silence: it was just attached");
    }

    #[test]
    fn the_next_line_does_not_end_a_push() {
        let mut flush = Flush::default();
        flush.attached(Micros(0));
        for _ in 0..100 {
            flush.line(Micros(100 * SECOND), Some(Micros(0)));
        }
        let next = Micros(103 * SECOND);
        assert_eq!(flush.line(next, Some(next)), Some(Micros(100 * SECOND)));
        assert_eq!(flush.idle(Micros(200 * SECOND)), None, "said once");
    }
}
