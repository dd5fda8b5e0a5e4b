//! What an answer may call itself, after everything that can be missing was met.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use boundlane_record::coverage::{Coverage, LOSSES_KEPT_MAX, STREAMS_KEPT_MAX, Verdict};
use boundlane_record::filter::{Scope, Window};
use boundlane_record::{
    DropCause, Drops, Extent, Gap, GapCause, Kind, Micros, Row, Seq, Session, SessionKind,
    StreamName,
};
use proptest::prelude::*;

fn stream(sandbox: &str, source: &str) -> StreamName {
    StreamName {
        stream: format!("{source}/{sandbox}"),
        sandbox: Some(sandbox.into()),
        sandbox_id: Some(format!("id-{sandbox}")),
        workspace: None,
        source: source.into(),
    }
}

fn session(what: SessionKind) -> Session {
    Session {
        what,
        from: None,
        to: None,
        count: None,
        evidence: None,
    }
}

fn gap(extent: Extent, from: i64, to: i64) -> Gap {
    Gap {
        cause: GapCause::Lagged,
        extent,
        from: Some(Micros(from)),
        to: Some(Micros(to)),
        after_cursor: None,
        before_cursor: None,
        evidence: Some(format!(r#"{{"after_time":{from},"before_time":{to}}}"#)),
    }
}

fn window(since: i64, until: i64) -> Scope {
    Scope {
        window: Window {
            since: Some(Micros(since)),
            until: Some(Micros(until)),
        },
        ..Scope::default()
    }
}

/// A coverage that saw one gateway stream of `dev`, attached at 0 and marked at `marked`.
fn watched(scope: Scope, marked: i64) -> Coverage {
    let mut coverage = Coverage::new(scope);
    let dev = stream("dev", "gateway");
    let attached = session(SessionKind::Attached);
    coverage.see("j", Some(Seq(2)), &attached.row(Some(&dev), Micros(0)));
    let mark = session(SessionKind::Mark);
    coverage.see("j", Some(Seq(9)), &mark.row(Some(&dev), Micros(marked)));
    coverage
}

#[test]
fn a_stream_without_a_loss_is_complete_up_to_its_newest_entry() {
    let coverage = watched(Scope::default(), 1_000);
    assert_eq!(coverage.verdict(), Verdict::Complete);
    assert!(coverage.is_complete());
    assert_eq!(
        coverage.line(),
        "complete; known up to 1970-01-01T00:00:00.001000Z"
    );
}

#[test]
fn silence_of_a_sandbox_that_was_never_recorded_proves_nothing() {
    let scope = Scope {
        sandboxes: vec!["typo".into()],
        ..Scope::default()
    };
    assert_eq!(watched(scope, 1_000).verdict(), Verdict::NothingRecorded);
    let never = Coverage::default();
    assert_eq!(never.line(), "nothing recorded");
    assert!(!never.is_complete());
}

#[test]
fn only_a_loss_that_touches_the_window_makes_it_incomplete() {
    let dev = stream("dev", "gateway");
    for (from, to, expected) in [
        (0, 99, Verdict::Complete),
        (0, 100, Verdict::Incomplete),
        (150, 160, Verdict::Incomplete),
        (199, 300, Verdict::Incomplete),
        (200, 300, Verdict::Complete),
    ] {
        let mut coverage = watched(window(100, 200), 1_000);
        let gap = gap(Extent::Exact(3), from, to);
        coverage.see("j", Some(Seq(5)), &gap.row(&dev, Micros(to)));
        assert_eq!(coverage.verdict(), expected, "gap from {from} to {to}");
    }
}

#[test]
fn a_window_that_ends_after_the_newest_entry_is_not_proved() {
    assert_eq!(
        watched(window(0, 1_000), 1_000).verdict(),
        Verdict::Complete
    );
    let mut coverage = watched(window(0, 1_001), 1_000);
    assert_eq!(coverage.verdict(), Verdict::Incomplete);
    assert!(
        coverage
            .line()
            .contains("1 stream not known up to the end of the window")
    );
    coverage.heard(&session(SessionKind::Mark).row(Some(&stream("dev", "gateway")), Micros(1_001)));
    assert_eq!(coverage.verdict(), Verdict::Complete);
}

#[test]
fn after_the_end_of_a_sandbox_nothing_can_be_missing() {
    let dev = stream("dev", "gateway");
    let mut ended = watched(window(0, 5_000), 1_000);
    let end = session(SessionKind::End);
    ended.see("j", Some(Seq(10)), &end.row(Some(&dev), Micros(1_100)));
    assert_eq!(ended.verdict(), Verdict::Complete);

    let mut broken = watched(window(2_000, 5_000), 1_000);
    let broke = Gap {
        cause: GapCause::StreamEnded,
        ..gap(Extent::Unknown, 1_000, 1_100)
    };
    broken.see("j", Some(Seq(10)), &broke.row(&dev, Micros(1_100)));
    assert_eq!(broken.verdict(), Verdict::Complete);
}

#[test]
fn an_import_is_as_complete_as_its_file_and_not_provable() {
    let imported = stream("dev", "import");
    let mut coverage = Coverage::new(window(0, 5_000));
    let attached = session(SessionKind::Attached);
    coverage.see(
        "j",
        Some(Seq(2)),
        &attached.row(Some(&imported), Micros(10)),
    );
    assert_eq!(coverage.verdict(), Verdict::AsImported);
    assert!(!coverage.is_complete());
    assert!(coverage.line().starts_with("as imported; known up to"));
    coverage.missing_range("j", Seq(3), Seq(3));
    assert_eq!(coverage.verdict(), Verdict::Incomplete);
}

#[test]
fn gaps_drops_and_rejections_are_never_added_up() {
    let dev = stream("dev", "gateway");
    let mut coverage = watched(Scope::default(), 1_000);
    let first = gap(Extent::Exact(3), 1, 2);
    coverage.see("j", Some(Seq(3)), &first.row(&dev, Micros(2)));
    let second = gap(Extent::AtLeast(4), 3, 4);
    coverage.see("j", Some(Seq(4)), &second.row(&dev, Micros(4)));
    let drops = Drops {
        cause: DropCause::DiskFull,
        count: 40,
        denied: 3,
        from: Micros(5),
        to: Micros(6),
        evidence: None,
    };
    coverage.see("j", None, &drops.row(&dev, Micros(6)));
    let rejected = Row {
        kind: Some("rejected".into()),
        ..Row::default()
    };
    coverage.see("j", Some(Seq(7)), &rejected);

    assert_eq!(coverage.total(Kind::Gap).words(), "at least 7");
    assert_eq!(coverage.total(Kind::Drops).words(), "40");
    assert_eq!(coverage.total(Kind::Drops).denied_least, 3);
    assert_eq!(
        coverage.line(),
        "incomplete: 2 gaps (lagged; at least 7 lines never reached us), \
         1 drop (disk_full; 40 lines were shed), \
         1 rejection (rejected; 1 entry was refused by the receiver); \
         known up to 1970-01-01T00:00:00.001000Z"
    );
}

#[test]
fn what_cannot_be_read_is_named_in_json_that_parses() {
    let mut coverage = watched(window(0, 1_000), 1_000);
    coverage.missing_range("j", Seq(10), Seq(19));
    coverage.unreadable("date=2026-08-01/a\"b.parquet", "no footer\n");
    let dev = stream("d\u{1}ev", "gateway");
    coverage.see(
        "j",
        None,
        &gap(Extent::AtMost(2), 10, 20).row(&dev, Micros(20)),
    );
    assert!(coverage.line().contains("10 entries that no file holds"));
    assert!(coverage.line().contains("1 file that cannot be read"));

    let json: serde_json::Value = serde_json::from_str(&coverage.to_json()).unwrap();
    assert_eq!(json["verdict"], "incomplete");
    assert_eq!(json["entries_missing"], 10);
    assert_eq!(json["holes"][0]["last"], 19);
    assert_eq!(json["holes"][1]["file"], "date=2026-08-01/a\"b.parquet");
    assert_eq!(json["losses"][0]["seq"], serde_json::Value::Null);
    assert_eq!(json["losses"][0]["sandbox"], "d\u{1}ev");
    assert_eq!(json["totals"]["gap"]["lines_at_most"], 2);
    assert_eq!(json["totals"]["gap"]["causes"]["lagged"]["losses"], 1);
    assert_eq!(json["until"], "1970-01-01T00:00:00.001000Z");
}

#[test]
fn more_losses_and_streams_than_are_kept_are_still_counted() {
    let mut coverage = watched(Scope::default(), 1_000);
    let dev = stream("dev", "gateway");
    let row = gap(Extent::Exact(2), 1, 2);
    for seq in 0..LOSSES_KEPT_MAX as u64 + 5 {
        coverage.see("j", Some(Seq(seq + 10)), &row.row(&dev, Micros(2)));
    }
    assert_eq!(coverage.losses().len(), LOSSES_KEPT_MAX);
    assert_eq!(coverage.losses_seen(), LOSSES_KEPT_MAX as u64 + 5);
    assert_eq!(
        coverage.total(Kind::Gap).least,
        2 * (LOSSES_KEPT_MAX as u64 + 5)
    );

    let mut crowded = Coverage::default();
    for n in 0..=STREAMS_KEPT_MAX {
        let stream = stream(&n.to_string(), "gateway");
        let mark = session(SessionKind::Mark);
        crowded.see("j", Some(Seq(1)), &mark.row(Some(&stream), Micros(1)));
    }
    assert_eq!(crowded.testimonies().count(), STREAMS_KEPT_MAX);
    assert_eq!(crowded.verdict(), Verdict::Incomplete);
}

proptest! {
    /// For all windows, loss spans and event spans: a lost line that could have happened, or been
    /// read, inside the window makes the answer incomplete, and nothing else does.
    #[test]
    fn no_possible_line_of_the_window_is_forgotten(
        since in 0i64..40, length in 1i64..40,
        observed in (0i64..80, 0i64..20), happened in (0i64..80, 0i64..20),
        knows in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let until = since + length;
        let bound = |known: bool, at: i64| known.then_some(at);
        let after = bound(knows.0, happened.0);
        let before = bound(knows.1, happened.0 + happened.1);
        let fields: Vec<_> = [("after_time", after), ("before_time", before)]
            .into_iter()
            .filter_map(|(key, at)| Some(format!("\"{key}\":{}", at?)))
            .collect();
        let gap = Gap {
            from: bound(knows.2, observed.0).map(Micros),
            to: bound(knows.3, observed.0 + observed.1).map(Micros),
            evidence: Some(format!("{{{}}}", fields.join(","))),
            ..gap(Extent::Unknown, 0, 0)
        };
        let mut coverage = watched(window(since, until), 1_000);
        coverage.see("j", Some(Seq(5)), &gap.row(&stream("dev", "gateway"), Micros(100)));

        let possible = |from: Option<i64>, to: Option<i64>| {
            (since..until).any(|at| from.is_none_or(|from| from <= at) && to.is_none_or(|to| at <= to))
        };
        let touched = possible(after, before)
            || possible(gap.from.map(|at| at.0), gap.to.map(|at| at.0));
        prop_assert_eq!(coverage.verdict() == Verdict::Incomplete, touched);
    }
}
