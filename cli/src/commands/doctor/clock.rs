//! How far the gateway's clock and ours are apart, as far as lines tell.
//!
//! A gateway tells no time. Its lines carry the moment at which they were written, so that a line from
//! later than now proves that its clock is ahead; an old line proves nothing: it may just be old.

use super::asking::NewestLine;
use super::finding::{Finding, span};

const CLOCK: &str = "clock";
/// Lines from so much later than now are not explained by rounding.
const AHEAD_MICROS: i64 = 1_000_000;
/// A line that is younger than this bounds the offset well enough.
const FRESH_MICROS: i64 = 60_000_000;

/// What is decided by.
pub(super) struct Facts {
    /// The newest line that the gateway holds now.
    pub(super) newest_line: Option<NewestLine>,
    /// By how much a recorded line was written later than it was received; the most of all streams.
    pub(super) recorded_ahead: Option<i64>,
}

pub(super) fn check(facts: &Facts) -> Finding {
    let live = facts
        .newest_line
        .map(|line| line.time.0.saturating_sub(line.received.0));
    let ahead = live.max(facts.recorded_ahead);
    match (ahead, live) {
        (Some(ahead), _) if ahead > AHEAD_MICROS => Finding::warning(
            CLOCK,
            format!(
                "lines carry times that are {} later than ours: spans that are asked for miss some",
                span(ahead)
            ),
        )
        .fix("set both clocks by the network (`timedatectl set-ntp true`)"),
        (_, Some(live)) if live > -FRESH_MICROS => Finding::ok(
            CLOCK,
            format!(
                "the newest line is {} old: the gateway's clock is no further behind",
                span((-live).max(0))
            ),
        ),
        (_, Some(live)) => Finding::note(
            CLOCK,
            format!(
                "not known: a gateway tells no time, and its newest line is {} old",
                span(-live)
            ),
        ),
        (_, None) => Finding::note(CLOCK, "not known: no gateway showed a line with a time"),
    }
}

#[cfg(test)]
mod tests {
    use boundlane_record::Micros;

    use super::super::finding::Level;
    use super::*;

    fn level(time: Option<i64>, recorded_ahead: Option<i64>) -> Level {
        let newest_line = time.map(|time| NewestLine {
            time: Micros(time),
            received: Micros(0),
        });
        let facts = Facts {
            newest_line,
            recorded_ahead,
        };
        check(&facts).level
    }

    #[test]
    fn an_offset_is_claimed_or_overlooked() {
        assert_eq!(level(None, None), Level::Note);
        assert_eq!(level(Some(-3_600_000_000), None), Level::Note);
        assert_eq!(level(Some(-2_000_000), None), Level::Ok);
        assert_eq!(level(Some(500_000), None), Level::Ok);
        assert_eq!(level(Some(1_500_000), None), Level::Warning);
        assert_eq!(level(Some(-2_000_000), Some(90_000_000)), Level::Warning);
        assert_eq!(level(None, Some(90_000_000)), Level::Warning);
        assert_eq!(level(None, Some(-5)), Level::Note);
    }
}
