//! The streams of gateways: who follows them, and which are silent while others talk.

use boundlane_ingest::watch::WatchPlace;
use boundlane_record::{Micros, Source};
use boundlane_store::StreamState;

use super::finding::{Finding, some_of, span};
use super::journal;

const FOLLOWING: &str = "following";
const STREAMS: &str = "streams";
const PUSHES: &str = "pushes";

/// A stream that is followed gets an entry at least every 10 minutes, a mark if nothing else.
const UNHEARD_MICROS: i64 = 30 * 60 * 1_000_000;
/// A sandbox without a line for so long is idle, or its supervisor no longer sends.
const QUIET_MICROS: i64 = 60 * 60 * 1_000_000;

/// One stream of a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) sandbox: String,
    pub(super) sandbox_id: String,
    /// Greatest event time.
    pub(super) last_time: Option<Micros>,
    /// When its last entry was written.
    pub(super) last_observed: Option<Micros>,
    /// The gateway ended it, or its sandbox is gone.
    pub(super) ended: bool,
    /// When a push of its supervisor looked as if it had been cut.
    pub(super) cut_push: Option<Micros>,
}

/// The streams of gateways in the journal.
pub(super) fn of(journal: &journal::Facts) -> Vec<Stream> {
    let streams = journal.streams().iter();
    let of_gateways = streams.filter(|state| state.name.source == Source::Gateway.word());
    of_gateways.map(Stream::of).collect()
}

impl Stream {
    fn of(state: &StreamState) -> Stream {
        let place = WatchPlace::from_json(&state.place).unwrap_or_default();
        let id = state.name.sandbox_id.clone().unwrap_or_default();
        Stream {
            sandbox: state.name.sandbox.clone().unwrap_or_else(|| id.clone()),
            sandbox_id: id,
            last_time: state.last_time,
            last_observed: state.last_observed,
            ended: place.over.is_some(),
            cut_push: place.cut_push,
        }
    }
}

/// By how much a line of a stream was written later than anything of it was received: the most of all.
pub(super) fn recorded_ahead(streams: &[Stream]) -> Option<i64> {
    let ahead = |stream: &Stream| {
        let (time, observed) = (stream.last_time?, stream.last_observed?);
        Some(time.0.saturating_sub(observed.0))
    };
    streams.iter().filter_map(ahead).max()
}

/// Who follows, and whether anybody has to. `live`: sandboxes that may say something, where it is known.
pub(super) fn follower(pid: Option<u32>, live: Option<usize>) -> Finding {
    let start = "`boundlane forward`, or the service of docs/OPERATING.md";
    match (pid, live) {
        (Some(pid), _) => Finding::ok(FOLLOWING, format!("process {pid} follows for this directory")),
        (None, Some(live)) if live > 0 => Finding::warning(
            FOLLOWING,
            format!(
                "nobody follows (live sandboxes: {live}): a gateway keeps the last 2,000 lines of each, in memory"
            ),
        )
        .fix(start),
        (None, _) => Finding::note(FOLLOWING, "nobody follows for this directory").fix(start),
    }
}

/// Which sandboxes came back from a silence with as many lines as a gateway takes of one push. `None`: none did.
pub(super) fn cut_pushes(streams: &[Stream]) -> Option<Finding> {
    let cut: Vec<&Stream> = streams
        .iter()
        .filter(|one| one.cut_push.is_some())
        .collect();
    let newest = cut.iter().filter_map(|stream| stream.cut_push).max()?;
    let what = format!(
        "after a silence exactly 100 lines came at once from {}, last at {}: a gateway takes no more of what a \
         supervisor saved while it was away, so lines may be missing in front of them",
        names(&cut),
        crate::time::rfc3339(newest)
    );
    let fix =
        "compare with the sandbox's own /var/log/openshell.*.log; nothing was counted as lost";
    Some(Finding::note(PUSHES, what).fix(fix))
}

/// Which streams are not heard of while others are.
pub(super) fn quiet(streams: &[Stream]) -> Finding {
    let open: Vec<&Stream> = streams.iter().filter(|stream| !stream.ended).collect();
    let newest = open.iter().filter_map(|stream| stream.last_observed).max();
    let Some(newest) = newest else {
        return Finding::ok(STREAMS, "no stream of a gateway is open");
    };
    let is_unheard = |stream: &Stream| is_older(stream.last_observed, newest, UNHEARD_MICROS);
    let unheard: Vec<&Stream> = open.iter().copied().filter(|one| is_unheard(one)).collect();
    if !unheard.is_empty() {
        return Finding::warning(
            STREAMS,
            format!(
                "{} of {} open streams are not followed, while others are: {}",
                unheard.len(),
                open.len(),
                names(&unheard)
            ),
        )
        .fix("follow them too: `boundlane forward --all`; a sandbox that is gone ends its stream then");
    }
    silent(&open)
}

/// Followed, and without a line for long: idle, or a supervisor that gave up.
fn silent(open: &[&Stream]) -> Finding {
    let newest = open.iter().filter_map(|stream| stream.last_time).max();
    let is_silent =
        |stream: &&&Stream| newest.is_some_and(|at| is_older(stream.last_time, at, QUIET_MICROS));
    let silent: Vec<&Stream> = open.iter().filter(is_silent).copied().collect();
    if silent.is_empty() {
        return Finding::ok(
            STREAMS,
            format!("{} open, none silent for long", open.len()),
        );
    }
    Finding::note(
        STREAMS,
        format!(
            "{} of {} open streams have had no line for {} or more while others talk: {}",
            silent.len(),
            open.len(),
            span(QUIET_MICROS),
            names(&silent)
        ),
    )
    .fix(
        "an idle sandbox is silent, and so is one whose supervisor no longer sends: compare with its own \
         /var/log/openshell.*.log",
    )
}

fn is_older(at: Option<Micros>, than: Micros, by: i64) -> bool {
    at.is_none_or(|at| than.0.saturating_sub(at.0) > by)
}

fn names(streams: &[&Stream]) -> String {
    some_of(streams.iter().map(|stream| stream.sandbox.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn stream(name: &str, last_time: i64, last_observed: i64) -> Stream {
        Stream {
            sandbox: name.to_owned(),
            sandbox_id: name.to_owned(),
            last_time: Some(Micros(last_time)),
            last_observed: Some(Micros(last_observed)),
            ended: false,
            cut_push: None,
        }
    }

    #[test]
    fn a_push_that_was_cut_is_counted_or_kept_quiet() {
        let whole = stream("a", 5, 5);
        assert_eq!(cut_pushes(std::slice::from_ref(&whole)), None);
        let cut = Stream {
            cut_push: Some(Micros(HOUR)),
            ..stream("b", 5, 5)
        };
        let finding = cut_pushes(&[whole, cut]).map(|finding| (finding.level, finding.what));
        assert!(
            matches!(&finding, Some((Level::Note, what))
            if what.contains("from `b`, last at 1970-01-01T01:00:00.000000Z")),
            "{finding:?}"
        );
    }

    #[test]
    fn a_stream_that_went_quiet_is_passed_over() {
        assert_eq!(quiet(&[]).level, Level::Ok);
        let talks = stream("a", 5 * HOUR, 5 * HOUR);
        assert_eq!(quiet(std::slice::from_ref(&talks)).level, Level::Ok);
        let marked = stream("b", 3 * HOUR, 5 * HOUR);
        let finding = quiet(&[talks.clone(), marked]);
        assert_eq!(finding.level, Level::Note);
        assert_eq!(
            finding.what,
            "1 of 2 open streams have had no line for 60 min or more while others talk: `b`"
        );
        let left = stream("c", 3 * HOUR, 3 * HOUR);
        assert_eq!(quiet(&[talks.clone(), left.clone()]).level, Level::Warning);
        let ended = Stream {
            ended: true,
            ..left
        };
        assert_eq!(quiet(&[talks, ended]).level, Level::Ok);
    }

    #[test]
    fn nobody_follows_and_that_is_well() {
        assert_eq!(follower(Some(7), Some(3)).level, Level::Ok);
        assert_eq!(follower(None, Some(3)).level, Level::Warning);
        assert_eq!(follower(None, Some(0)).level, Level::Note);
        assert_eq!(follower(None, None).level, Level::Note);
    }

    #[test]
    fn a_line_from_later_is_overlooked() {
        assert_eq!(recorded_ahead(&[]), None);
        let streams = [stream("a", 5, 10), stream("b", 30, 10)];
        assert_eq!(recorded_ahead(&streams), Some(20));
    }
}
