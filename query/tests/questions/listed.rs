//! Listings: every row once, in number order, whatever moves meanwhile.

use std::sync::Arc;

use boundlane_query::{OutputColumn, Request, Rows, Sink, run};
use boundlane_record::Row;
use boundlane_record::filter::{Case, Glob};

use crate::world::{
    DAY, FakeLive, JOURNAL, OLDER, SECOND, Table, World, all_rows, asked, coverage, decision, gap,
    session,
};

fn many(range: std::ops::Range<i64>) -> Vec<Row<'static>> {
    range
        .map(|n| decision(n, "allowed", &format!("h{n}")))
        .collect()
}

fn numbers(table: &Table) -> Vec<u64> {
    let number = |row: &String| row.split(' ').next().unwrap().parse().unwrap();
    table.rows.iter().map(number).collect()
}

#[test]
fn files_come_in_number_order_and_then_what_only_the_journal_has() {
    let mut world = World::archived(&many(0..100));
    world
        .append(&many(100..200))
        .archive()
        .append(&many(200..230));
    let mut request = world.request(all_rows());
    // The journal still has numbers that the archive has too.
    request.live = Some(Arc::new(world.live(150)));
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(table.columns, ["seq", "journal", "kind", "outcome", "host"]);
    assert_eq!(numbers(&table), (1..=230).collect::<Vec<_>>());
    assert_eq!(outcome.coverage.unwrap().entries_missing(), 0);
}

#[test]
fn losses_stay_in_place_under_a_filter_that_none_of_them_fits() {
    let world = World::archived(&[
        session(0, "attached"),
        decision(1, "denied", "pypi.org"),
        decision(2, "allowed", "pypi.org"),
        gap(2, 3),
        decision(4, "denied", "other.org"),
    ]);
    let mut request = world.request(all_rows());
    request.filter.deny = true;
    request.filter.hosts = vec![Glob::new("PYPI.*", Case::Insensitive)];
    let (table, _) = asked(&request).unwrap();
    let kinds: Vec<_> = table
        .rows
        .iter()
        .map(|row| row.split(' ').nth(2).unwrap())
        .collect();
    assert_eq!(kinds, ["session", "decision", "gap"]);
}

#[test]
fn a_successor_comes_after_its_predecessor_though_its_clock_was_behind() {
    let mut older = World::new();
    older.append(&many(500..510)).archive_as(OLDER);
    let start = Row {
        evidence: Some(format!(r#"{{"predecessor":{{"journal":"{OLDER}"}}}}"#).into()),
        ..session(0, "journal_start")
    };
    let mut newer = World::archived(&[start]);
    newer.append(&many(1..5)).archive();
    let mut request = newer.request(all_rows());
    request.archives.push(older.root());
    let (table, _) = asked(&request).unwrap();
    let journals: Vec<_> = table
        .rows
        .iter()
        .map(|row| row.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(journals[..10], [OLDER; 10]);
    assert_eq!(journals[10..], [JOURNAL; 5]);
}

/// Compacts the archive when the first rows arrive, so that listed files are gone.
struct Compacting<'w> {
    world: &'w World,
    table: Table,
    is_done: bool,
}

impl Sink for Compacting<'_> {
    fn columns(&mut self, columns: &[OutputColumn]) -> std::io::Result<()> {
        self.table.columns(columns)
    }

    fn rows(&mut self, rows: &Rows) -> std::io::Result<()> {
        if !std::mem::replace(&mut self.is_done, true) {
            self.world.compact();
        }
        self.table.rows(rows)
    }
}

#[test]
fn a_listing_goes_on_where_it_was_when_files_are_compacted_under_it() {
    let mut world = World::new();
    for file in 0..20 {
        world.append(&many(file * 100..file * 100 + 100)).archive();
    }
    assert_eq!(world.files().len(), 20);
    let mut sink = Compacting {
        world: &world,
        table: Table::default(),
        is_done: false,
    };
    let outcome = run(&world.request(all_rows()), &mut sink).unwrap();
    assert_eq!(world.files().len(), 1);
    assert_eq!(numbers(&sink.table), (1..=2000).collect::<Vec<_>>());
    assert_eq!(outcome.coverage.unwrap().entries_missing(), 0);
}

#[test]
fn two_archives_that_hold_the_same_numbers_give_each_once() {
    let mut first = World::archived(&many(0..60));
    first.append(&many(60..100)).archive();
    let mut second = World::archived(&many(0..80));
    second.append(&many(80..130)).archive();
    let mut request = first.request(all_rows());
    request.archives.push(second.root());
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(numbers(&table), (1..=130).collect::<Vec<_>>());
    assert_eq!(outcome.coverage.unwrap().entries_missing(), 0);

    request.question = boundlane_query::Question::Sql(
        "SELECT count(*), count(DISTINCT seq), max(host) FROM entries".into(),
    );
    let (table, _) = asked(&request).unwrap();
    assert_eq!(table.rows, ["130 130 h99"]);
}

#[test]
fn a_loss_that_still_grows_is_the_last_row_and_has_no_number() {
    let world = World::archived(&many(0..3));
    let mut request = world.request(all_rows());
    request.live = Some(Arc::new(FakeLive {
        open: vec![gap(3, 4)],
        ..world.live(1)
    }));
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(table.rows.last().unwrap(), &format!("- {JOURNAL} gap - -"));
    assert!(
        coverage(&outcome).starts_with("incomplete: 1 gap (lagged; at most 5"),
        "{outcome:?}"
    );
}

#[test]
fn a_window_leaves_out_files_and_keeps_losses_that_touch_it() {
    let mut world = World::archived(&many(0..100));
    world.append(&[gap(40, 160)]).archive();
    world.append(&many(200..300)).archive();
    let mut request: Request = world.request(all_rows());
    request.filter.scope.window.since = Some(boundlane_record::Micros(DAY + 90 * SECOND));
    request.filter.scope.window.until = Some(boundlane_record::Micros(DAY + 202 * SECOND));
    let (table, _) = asked(&request).unwrap();
    let expected: Vec<u64> = (91..=100).chain(101..=103).collect();
    assert_eq!(numbers(&table), expected);
}
