//! Coverage: what is missing is named, and nothing that is missing goes without saying.

use std::fs;
use std::sync::Arc;

use boundlane_query::{Question, Request};
use boundlane_record::coverage::{Hole, Verdict};
use boundlane_record::{Kind, Micros, Row, Seq};

use crate::world::{
    DAY, FakeLive, JOURNAL, SECOND, World, all_rows, asked, coverage, decision, gap, session,
};

const COUNT: &str = "SELECT count(*) FROM decisions";

fn watched(seconds: i64) -> Vec<Row<'static>> {
    let mut rows = vec![session(0, "attached")];
    rows.extend((1..seconds).map(|n| decision(n, "denied", "pypi.org")));
    rows.push(session(seconds, "mark"));
    rows
}

fn window(request: &mut Request, since: i64, until: i64) {
    request.filter.scope.window.since = Some(Micros(DAY + since * SECOND));
    request.filter.scope.window.until = Some(Micros(DAY + until * SECOND));
}

#[test]
fn an_archive_without_a_loss_is_complete() {
    let world = World::archived(&watched(100));
    let (table, outcome) = world.ask(COUNT);
    assert_eq!(table.rows, ["99"]);
    assert!(outcome.is_complete());
    assert_eq!(
        coverage(&outcome),
        "complete; known up to 2026-08-01T00:01:40.000000Z"
    );
}

#[test]
fn numbers_that_no_file_holds_are_named_and_counted() {
    let mut world = World::archived(&watched(10));
    world
        .append(&watched(10))
        .archive()
        .append(&watched(10))
        .archive();
    fs::remove_file(&world.files()[1]).unwrap();
    let (table, outcome) = world.ask(COUNT);
    assert_eq!(table.rows, ["18"]);
    let coverage = outcome.coverage.unwrap();
    assert_eq!(coverage.verdict(), Verdict::Incomplete);
    assert_eq!(coverage.entries_missing(), 11);
    let expected = Hole::Range {
        journal: JOURNAL.to_owned(),
        first: Seq(12),
        last: Seq(22),
    };
    assert_eq!(coverage.holes(), [expected]);
}

#[test]
fn a_missing_head_or_tail_is_seen_too() {
    let mut world = World::archived(&watched(10));
    world
        .append(&watched(10))
        .archive()
        .append(&watched(10))
        .archive();
    let files = world.files();
    fs::remove_file(&files[0]).unwrap();
    fs::remove_file(&files[2]).unwrap();
    // Without the journal nobody knows of the tail; with it, its numbers are missing or there.
    assert_eq!(world.ask(COUNT).1.coverage.unwrap().entries_missing(), 11);
    let mut request = world.request(Question::Sql(COUNT.into()));
    request.live = Some(Arc::new(world.live(34)));
    assert_eq!(
        asked(&request)
            .unwrap()
            .1
            .coverage
            .unwrap()
            .entries_missing(),
        22
    );
    request.live = Some(Arc::new(world.live(1)));
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(
        (table.rows[0].as_str(), outcome.is_complete()),
        ("27", true)
    );
}

#[test]
fn truncated_empty_and_foreign_files_are_named_and_skipped() {
    let mut world = World::archived(&watched(10));
    world
        .append(&watched(10))
        .archive()
        .append(&watched(10))
        .archive();
    let files = world.files();
    let whole = fs::read(&files[1]).unwrap();
    fs::write(&files[1], &whole[..whole.len() / 2]).unwrap();
    fs::write(&files[2], b"").unwrap();
    fs::write(files[0].with_file_name("export.parquet"), b"PAR1").unwrap();
    for (table, outcome) in [
        world.ask(COUNT),
        world.ask("SELECT count(*) FROM decisions"),
    ] {
        assert_eq!(table.rows, ["9"]);
        let found = outcome.coverage.unwrap();
        assert_eq!(found.files_unreadable(), 3);
        assert_eq!(found.verdict(), Verdict::Incomplete);
        assert!(
            found.line().contains("3 files that cannot be read"),
            "{}",
            found.line()
        );
    }
}

#[test]
fn a_file_with_damage_anywhere_is_named_and_the_rest_still_answers() {
    let mut world = World::archived(&watched(10));
    world.append(&watched(500)).archive();
    let file = world.files().remove(1);
    let whole = fs::read(&file).unwrap();
    let sql = "SELECT count(*), max(host), max(process), max(rule), max(sandbox), max(sandbox_id), \
         max(observed), max(time), max(stream), max(source), max(port), max(outcome) FROM entries";
    for tenth in [1, 4, 6, 8] {
        let mut bytes = whole.clone();
        let at = bytes.len() * tenth / 10;
        bytes[at..at + 400].fill(0xff);
        fs::write(&file, bytes).unwrap();
        let answers = [
            asked(&world.request(Question::Sql(sql.into()))),
            asked(&world.request(Question::Rows { columns: vec![] })),
        ];
        for answer in answers {
            let (table, outcome) = answer.unwrap();
            let found = outcome.coverage.unwrap();
            let is_named = found.holes().iter().any(
                |hole| matches!(hole, Hole::File { path, .. } if path == file.to_str().unwrap()),
            );
            let first: usize = table.rows[0].split(' ').next().unwrap().parse().unwrap();
            let given = first.max(table.rows.len());
            // Damage that no answer meets, as in a bloom filter, changes none.
            let is_told = given == 512 || is_named;
            assert!(
                given >= 11 && is_told,
                "{given} rows, at {tenth} tenths: {}",
                found.line()
            );
        }
    }
}

#[test]
fn a_loss_of_another_day_touches_the_window_by_the_times_of_its_neighbours() {
    // Read a day late: observed on the next day, about lines of this one.
    let late = Row {
        from: Some(Micros(DAY + 90_000 * SECOND)),
        to: Some(Micros(DAY + 90_001 * SECOND)),
        observed: Some(Micros(DAY + 90_001 * SECOND)),
        ..gap(50, 60)
    };
    let mut world = World::archived(&watched(100));
    world.append(&[late, session(90_002, "mark")]).archive();
    assert_eq!(world.files().len(), 2);
    let mut request = world.request(Question::Sql(COUNT.into()));
    for (since, until, verdict) in [
        (55, 58, Verdict::Incomplete),
        (60, 61, Verdict::Incomplete),
        (61, 70, Verdict::Complete),
        (10, 50, Verdict::Complete),
        (89_999, 90_001, Verdict::Incomplete),
    ] {
        window(&mut request, since, until);
        let (_, outcome) = asked(&request).unwrap();
        let found = outcome.coverage.unwrap();
        assert_eq!(
            found.verdict(),
            verdict,
            "{since} to {until}: {}",
            found.line()
        );
    }
}

#[test]
fn a_busy_stream_without_marks_is_not_taken_for_silent() {
    let mut world = World::archived(&[session(0, "attached")]);
    let busy: Vec<_> = (1..100)
        .map(|n| decision(n, "denied", "pypi.org"))
        .collect();
    world.append(&busy).archive();
    let mut request = world.request(Question::Sql(COUNT.into()));
    window(&mut request, 0, 99);
    assert!(asked(&request).unwrap().1.is_complete());
    window(&mut request, 0, 100);
    let (_, outcome) = asked(&request).unwrap();
    assert!(
        coverage(&outcome).contains("1 stream not known up to the end"),
        "{outcome:?}"
    );
}

#[test]
fn a_sandbox_that_nobody_recorded_is_not_complete() {
    let world = World::archived(&watched(10));
    let mut request = world.request(Question::Sql(COUNT.into()));
    request.filter.scope.sandboxes = vec!["dve".into()];
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(table.rows, ["0"]);
    assert_eq!(
        outcome.coverage.unwrap().verdict(),
        Verdict::NothingRecorded
    );
}

#[test]
fn a_damaged_block_of_the_journal_is_a_hole_of_exactly_its_numbers() {
    let mut world = World::new();
    world.append(&watched(20));
    let mut request = world.request(Question::Sql(COUNT.into()));
    request.live = Some(Arc::new(FakeLive {
        damaged: vec![5, 21],
        ..world.live(1)
    }));
    for question in [Question::Sql(COUNT.into()), all_rows()] {
        request.question = question;
        let (_, outcome) = asked(&request).unwrap();
        let found = outcome.coverage.unwrap();
        assert_eq!(found.entries_missing(), 6, "{:?}", found.holes());
        assert_eq!(found.total(Kind::Gap).losses, 0);
    }
}

#[test]
fn an_aggregate_starts_over_when_the_journal_was_pruned_under_it() {
    let mut world = World::new();
    world.append(&watched(20));
    let mut request = world.request(Question::Sql(COUNT.into()));
    let live = FakeLive {
        pruned_looks: 1,
        ..world.live(1)
    };
    let looks = Arc::clone(&live.looks);
    request.live = Some(Arc::new(live));
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(table.rows, ["19"]);
    assert!(outcome.is_complete());
    assert!(*looks.lock().unwrap() >= 3);

    let never = FakeLive {
        pruned_looks: u64::MAX,
        ..world.live(1)
    };
    request.live = Some(Arc::new(never));
    let error = asked(&request).unwrap_err().to_string();
    assert!(error.contains("moved while it was read"), "{error}");
}
