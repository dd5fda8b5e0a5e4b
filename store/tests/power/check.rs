//! What must hold of a journal at any time, and how two are told apart.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;

use boundlane_record::{Row, canonical};
use boundlane_store::{Found, Reader, Select, StateDir};
use rusqlite::types::ValueRef;

use crate::feed::{Fate, assert_sound, fate, gap_after, reader};

/// All rows of all tables, in an order of their own: two journals are the same if these are.
pub(crate) fn rows_of_tables(dir: &StateDir) -> Vec<String> {
    let db = rusqlite::Connection::open(dir.journal_path()).unwrap();
    let mut names = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap();
    let mut all = Vec::new();
    for name in names.collect::<Result<Vec<String>, _>>().unwrap() {
        let mut select = db.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = select.column_count();
        let from = all.len();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|column| text(row.get_ref(column).unwrap()));
            all.push(format!("{name} {}", values.collect::<Vec<_>>().join(" | ")));
        }
        all[from..].sort();
    }
    all
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".into(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(n) => n.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            format!("{} bytes {:x}", bytes.len(), hasher.finish())
        }
    }
}

/// The laws, from what readers see: the place of each stream says which lines must be accounted for.
pub(crate) fn assert_laws(dir: &StateDir) {
    assert_sound(dir);
    let reader = reader(dir);
    let (rows, pruned) = rows(&reader);
    let totals = reader.totals().unwrap();
    assert!(totals.books.balance(), "{:?}", totals.books);
    assert_eq!(totals.size.0, rows.len() as u64 + pruned);
    assert_eq!(
        totals.size.0,
        totals.pruned + totals.acknowledged + totals.queued
    );

    let mut lines = BTreeMap::<&str, Vec<u64>>::new();
    for row in &rows {
        let line = row.raw.as_deref().and_then(|raw| raw.strip_prefix("line "));
        if let (Some(stream), Some(line)) = (row.stream.as_deref(), line) {
            lines.entry(stream).or_default().push(line.parse().unwrap());
        }
    }
    let mut account = Account::default();
    for stream in reader.streams().unwrap() {
        let place = stream.place.parse().unwrap_or(0);
        let held = lines
            .remove(stream.name.stream.as_str())
            .unwrap_or_default();
        account.stream(place, &held);
    }
    assert_eq!(lines, BTreeMap::new(), "lines of no stream");
    assert_eq!(totals.books.lines_read, account.lines);
    assert_eq!(totals.books.ignored, account.ignored);
    if pruned == 0 {
        assert_eq!(totals.books.records, account.held);
        assert_eq!(totals.books.refused, lost(&reader, &rows, "drops"));
        assert_eq!(account.gaps, lost(&reader, &rows, "gap"));
    }
}

#[derive(Default)]
struct Account {
    lines: u64,
    ignored: u64,
    held: u64,
    gaps: u64,
}

impl Account {
    /// Every line of the stream below `place`, of which `held` are there: in order, once.
    fn stream(&mut self, place: u64, held: &[u64]) {
        assert!(held.is_sorted_by(|a, b| a < b), "in order, once: {held:?}");
        assert!(held.last().is_none_or(|last| *last < place), "{held:?}");
        assert!(held.iter().all(|line| fate(*line) == Fate::Record));
        let with = |what: Fate| (0..place).filter(|line| fate(*line) == what).count() as u64;
        self.lines += place;
        self.ignored += with(Fate::Ignored);
        self.held += held.len() as u64;
        self.gaps += (0..place).filter(|line| gap_after(*line)).count() as u64;
    }
}

/// Lines in losses of this kind, numbered and open.
fn lost(reader: &Reader, rows: &[Row<'_>], kind: &str) -> u64 {
    let numbered = rows.iter().filter(|row| row.kind.as_deref() == Some(kind));
    let numbered: i64 = numbered.filter_map(|row| row.count).sum();
    let open = reader.open_losses().unwrap();
    let open = open.iter().filter(|loss| loss.kind == kind);
    u64::try_from(numbered).unwrap() + open.map(boundlane_store::GrowingLoss::lines).sum::<u64>()
}

/// Every entry's row, in number order, and how many were pruned before them; a hole fails the test.
fn rows(reader: &Reader) -> (Vec<Row<'static>>, u64) {
    let (mut rows, mut next) = (Vec::new(), 1);
    // What is pruned is told up to the first entry that is kept.
    let mut pruned = 0;
    let broken = reader.each_entry(Select::all(), |found| match found {
        Found::Entry(seq, entry) => {
            if rows.is_empty() {
                (pruned, next) = (seq.0 - 1, seq.0);
            }
            assert_eq!(seq.0, next, "numbers are dense");
            next += 1;
            rows.push(canonical::decode(entry).unwrap().into_owned());
            ControlFlow::Continue(())
        }
        Found::Pruned { .. } if rows.is_empty() => ControlFlow::Continue(()),
        other => ControlFlow::Break(format!("{other:?}")),
    });
    assert_eq!(broken.unwrap(), None);
    assert_eq!(pruned, reader.head().unwrap().pruned.0);
    (rows, pruned)
}
