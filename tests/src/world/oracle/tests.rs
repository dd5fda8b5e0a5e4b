//! The oracle judged: right journals pass, and each kind of wrong one is found.

use boundlane_record::{GapCause, Kind, Micros, Row, Session, SessionKind, StreamName, canonical};

use super::*;
use crate::gateway::Line;

const EPOCH: &str = "v1:6f9619ff-8b86-4011-b42d-00cf4fc964ff";

/// Ten lines, published a second apart from second 10, by a sandbox that was watched from second 5.
fn book() -> Book {
    let lines = (0..10).map(|n| Published {
        line: line(n),
        cursor: Some(cursor(n)),
        at: at(n),
        replica: 0,
    });
    Book {
        sandboxes: vec![SandboxBook {
            id: "id".into(),
            name: "demo".into(),
            workspace: "default".into(),
            created: 0,
            deleted: None,
            lines: lines.collect(),
        }],
        attachments: vec![Attachment {
            sandbox_id: "id".into(),
            replica: 0,
            from: 5_000_000,
            to: None,
        }],
        restarts: Vec::new(),
    }
}

fn line(n: usize) -> Line {
    Line::ocsf(format!("NET:OPEN [INFO] ALLOWED h-{n}.example.net:443")).at(1)
}

fn cursor(n: usize) -> String {
    format!("{EPOCH}:{:020}", n + 1)
}

fn at(n: usize) -> Moment {
    10_000_000 + i64::try_from(n).unwrap() * 1_000_000
}

fn name() -> StreamName {
    StreamName {
        stream: "gateway:id".into(),
        sandbox: Some("demo".into()),
        sandbox_id: Some("id".into()),
        workspace: None,
        source: "gateway".into(),
    }
}

/// A journal made by hand, through the bytes that a real one has.
#[derive(Default)]
struct Hand(Testimony);

impl Hand {
    fn row(&mut self, row: &Row<'_>) -> &mut Hand {
        let mut bytes = Vec::new();
        canonical::encode(row, &mut bytes);
        self.0.entry(&bytes);
        self
    }

    fn attached(&mut self) -> &mut Hand {
        let row = Row {
            kind: Some(Kind::Session.word().into()),
            cause: Some(SessionKind::Attached.word().into()),
            observed: Some(Micros(5_000_000)),
            ..Row::default()
        };
        self.labelled(row)
    }

    fn records(&mut self, numbers: impl IntoIterator<Item = usize>) -> &mut Hand {
        for n in numbers {
            let row = Row {
                kind: Some(Kind::Decision.word().into()),
                observed: Some(Micros(at(n) + 10)),
                cursor: Some(cursor(n).into()),
                raw: Some(line(n).cli_text().into()),
                ..Row::default()
            };
            self.labelled(row);
        }
        self
    }

    fn labelled(&mut self, mut row: Row<'_>) -> &mut Hand {
        row.stream = Some("gateway:id".into());
        row.sandbox_id = Some("id".into());
        row.source = Some("gateway".into());
        self.row(&row)
    }

    fn gap(&mut self, extent: Extent, from: Option<Moment>, to: Option<Moment>) -> &mut Hand {
        let gap = boundlane_record::Gap {
            cause: GapCause::Lagged,
            extent,
            from: from.map(Micros),
            to: to.map(Micros),
            after_cursor: None,
            before_cursor: None,
            evidence: None,
        };
        let name = name();
        let row = gap.row(&name, Micros(0)).into_owned();
        self.row(&row)
    }

    fn faults(&self) -> Vec<String> {
        self.faults_by(&book(), &[])
    }

    fn faults_by(&self, book: &Book, kills: &[Moment]) -> Vec<String> {
        let testimony = &self.0;
        judge(Case {
            book,
            testimony,
            kills,
            reads_back: false,
        })
        .faults
    }
}

fn hand() -> Hand {
    let mut hand = Hand::default();
    hand.attached();
    hand
}

/// All but lines 4, 5 and 6, with a gap.
fn with_gap(extent: Extent, from: Option<Moment>, to: Option<Moment>) -> Vec<String> {
    let mut hand = hand();
    hand.records(0..4).gap(extent, from, to).records(7..10);
    hand.faults()
}

#[track_caller]
fn one_fault(faults: &[String], beginning: &str) {
    let [fault] = faults else {
        panic!("{faults:#?}")
    };
    let told = fault.strip_prefix("demo (id): ").unwrap_or(fault);
    assert!(told.starts_with(beginning), "{told}");
}

#[test]
fn a_whole_journal_is_right() {
    assert_eq!(hand().records(0..10).faults(), Vec::<String>::new());
}

#[test]
fn gaps_with_room_are_right() {
    let wide = (Some(at(3)), Some(at(7)));
    for extent in [
        Extent::Exact(3),
        Extent::AtMost(3),
        Extent::AtMost(9),
        Extent::AtLeast(1),
        Extent::Unknown,
    ] {
        assert_eq!(with_gap(extent, wide.0, wide.1), Vec::<String>::new());
        assert_eq!(with_gap(extent, None, wide.1), Vec::<String>::new());
        assert_eq!(with_gap(extent, wide.0, None), Vec::<String>::new());
    }
}

#[test]
fn a_missing_line_is_found() {
    one_fault(
        &hand().records(0..9).faults(),
        "missing, published 19000000",
    );
}

#[test]
fn a_doubled_line_is_found() {
    let faults = hand().records(0..10).records([3]).faults();
    assert!(faults[0].contains("2 times in the journal, published 1 times"));
}

#[test]
fn a_gap_that_is_too_narrow_is_found() {
    for (from, to) in [(at(3), at(6) - 1), (at(4) + 1, at(7))] {
        let faults = with_gap(Extent::Unknown, Some(from), Some(to));
        one_fault(&faults, "missing, published");
    }
}

#[test]
fn a_gap_without_room_is_found() {
    for extent in [Extent::Exact(2), Extent::AtMost(2)] {
        let faults = with_gap(extent, Some(at(3)), Some(at(7)));
        one_fault(&faults, "missing, published 16000000");
    }
}

#[test]
fn a_gap_that_claims_too_much_is_found() {
    for extent in [Extent::Exact(4), Extent::AtLeast(4)] {
        let faults = with_gap(extent, Some(at(3)), Some(at(7)));
        one_fault(&faults, "claims more than the 3 that it holds");
    }
    let none_missing = hand()
        .records(0..10)
        .gap(Extent::Exact(1), None, None)
        .faults();
    one_fault(&none_missing, "claims more than the 0");
}

#[test]
fn two_gaps_share_what_only_both_have_room_for() {
    let journal = |first: u64| {
        let mut hand = hand();
        hand.records(0..4)
            .gap(Extent::AtMost(first), Some(at(3)), Some(at(5)))
            .gap(Extent::AtMost(1), Some(at(4)), Some(at(7)))
            .records(7..10);
        hand.faults()
    };
    assert_eq!(journal(2), Vec::<String>::new());
    one_fault(&journal(1), "missing, published 16000000");
}

#[test]
fn what_was_never_published_is_found() {
    let mut hand = hand();
    hand.records(0..10);
    hand.labelled(Row {
        kind: Some(Kind::Decision.word().into()),
        raw: Some("forged".into()),
        ..Row::default()
    });
    one_fault(&hand.faults(), "never published: forged");
}

#[test]
fn an_older_cursor_after_a_newer_one_is_found() {
    let faults = hand().records([0, 1, 3, 2, 4, 5, 6, 7, 8, 9]).faults();
    assert!(faults[0].contains("not after the one before it"));
    assert!(faults[1].contains("after a later line"));
}

#[test]
fn a_gap_between_cursors_holds_what_lies_between() {
    let mut hand = hand();
    hand.records(0..4);
    let gap = boundlane_record::Gap {
        cause: GapCause::Evicted,
        extent: Extent::Exact(3),
        from: Some(Micros(1)),
        to: Some(Micros(2)),
        after_cursor: Some(cursor(3)),
        before_cursor: Some(cursor(7)),
        evidence: None,
    };
    hand.row(&gap.row(&name(), Micros(0))).records(7..10);
    assert_eq!(hand.faults(), Vec::<String>::new());
}

#[test]
fn lines_that_are_alike_are_counted() {
    let mut book = book();
    for published in &mut book.sandboxes[0].lines[..5] {
        published.line = line(0);
    }
    let mut four = hand();
    four.records([0, 0, 0, 0]);
    four.records(5..10);
    // The same text with the same cursor: the order is wrong too, so only the first fault counts here.
    let faults = four.faults_by(&book, &[]);
    assert!(
        faults
            .iter()
            .any(|fault| fault.contains("missing, published"))
    );
    four.gap(Extent::Exact(1), None, None);
    let faults = four.faults_by(&book, &[]);
    assert!(
        !faults
            .iter()
            .any(|fault| fault.contains("missing, published"))
    );
}

#[test]
fn what_nobody_could_know_of_is_excused() {
    let nothing = Hand::default();
    one_fault(&nothing.faults(), "nothing in the journal");
    let mut deleted = book();
    deleted.sandboxes[0].deleted = Some(at(9));
    deleted.attachments[0].to = Some(at(9));
    one_fault(&nothing.faults_by(&deleted, &[]), "nothing in the journal");
    // The only one that saw it was killed.
    assert!(nothing.faults_by(&deleted, &[at(8)]).is_empty());
    deleted.attachments.clear();
    assert!(nothing.faults_by(&deleted, &[]).is_empty());
    // Nobody took the lines.
    let mut refused = book();
    for published in &mut refused.sandboxes[0].lines {
        published.cursor = None;
    }
    assert!(hand().faults_by(&refused, &[]).is_empty());
    // Another replica took them.
    let mut elsewhere = book();
    elsewhere.attachments[0].replica = 1;
    assert!(hand().faults_by(&elsewhere, &[]).is_empty());
    // A restart took them before anybody watched.
    let mut restarted = book();
    restarted.restarts.push(at(5) - 1);
    let mut late = Hand::default();
    late.labelled(Row {
        kind: Some(Kind::Session.word().into()),
        cause: Some(SessionKind::Attached.word().into()),
        observed: Some(Micros(at(9) + 1)),
        ..Row::default()
    });
    late.records(5..10);
    assert!(late.faults_by(&restarted, &[]).is_empty());
    one_fault(
        &late.faults_by(&book(), &[])[..1],
        "missing, published 10000000",
    );
}

/// The session type is what a forwarder writes; the oracle reads its words.
#[test]
fn the_end_of_a_sandbox_is_read() {
    let end = Session {
        what: SessionKind::End,
        from: None,
        to: None,
        count: None,
        evidence: None,
    };
    let mut hand = hand();
    hand.row(&end.row(Some(&name()), Micros(7)));
    assert!(hand.0.sandboxes["id"].is_over());
}
