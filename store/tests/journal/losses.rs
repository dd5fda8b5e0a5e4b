//! Losses that grow, and when they get their number.

use boundlane_record::{Extent, Micros};
use boundlane_store::{LossTotal, Number};

use crate::feed::{assert_sound, drops, gap, open, part, reader, rows, setup, state};

/// Lines 0 to 2 are records, so this item has some; lines 3 and 14 are ignored.
const RECORDS: std::ops::Range<u64> = 0..3;

/// Two breaks without a record between them are one gap, and it stands before the next record.
#[test]
fn an_open_gap_grows_and_gets_its_number_before_the_next_record() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mut first = part("a", RECORDS, None);
    first.open_losses = vec![gap(Extent::Exact(2))];
    journal.append(&[first.item()]).unwrap();
    let mut second = part("a", 3..4, Some(1));
    second.open_losses = vec![gap(Extent::AtMost(5))];
    journal.append(&[second.item()]).unwrap();
    assert_eq!(journal.open_losses().unwrap()[0].extent, Extent::AtMost(7));
    let total = &reader(&dir).losses(None).unwrap()[0];
    assert_eq!((total.losses, total.open, total.at_most), (1, 1, 7));

    journal.append(&[part("a", 6..8, Some(2)).item()]).unwrap();
    let kinds: Vec<_> = rows(&reader(&dir))
        .into_iter()
        .map(|row| row.kind.unwrap())
        .collect();
    let expected = [
        "session", "decision", "decision", "decision", "gap", "decision", "decision",
    ];
    assert_eq!(kinds, expected);
    assert!(journal.open_losses().unwrap().is_empty());
    assert_sound(&dir);
}

/// Drops add up without a number until someone says that the pressure is over.
#[test]
fn open_drops_add_up_and_are_numbered_once() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mut version = None;
    for count in [3, 4] {
        let mut more = part("a", RECORDS, version);
        more.books.lines_read += count;
        more.books.refused = count;
        more.open_losses = vec![drops(count)];
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
    assert_eq!(reader(&dir).totals().unwrap().open_drops, 7);
    assert_sound(&dir);

    let early = journal.number_open_losses(Number::DropsOpenedBefore(Micros(5)), Micros(9));
    assert_eq!(early.unwrap(), 0);
    let due = journal.number_open_losses(Number::DropsOpenedBefore(Micros(6)), Micros(9));
    assert_eq!(due.unwrap(), 1);
    let again = journal.number_open_losses(Number::All, Micros(9));
    assert_eq!(again.unwrap(), 0);

    let reader = reader(&dir);
    assert_eq!(reader.totals().unwrap().open_drops, 0);
    let expected = LossTotal {
        kind: "drops".into(),
        cause: "queue_full".into(),
        losses: 1,
        exact: 7,
        ..LossTotal::default()
    };
    let expected = [expected];
    assert_eq!(reader.losses(None).unwrap(), expected);
    assert_eq!(reader.losses(Some(Micros(9))).unwrap(), expected);
    assert_eq!(reader.losses(Some(Micros(10))).unwrap(), []);
    assert_eq!(reader.stream("a").unwrap().unwrap().version, 2);
    assert_sound(&dir);
}

/// What a crash left open gets its number at the next start, and not while another writer lives.
#[test]
fn losses_that_a_crash_left_open_are_numbered_at_the_next_start() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mut lossy = part("a", RECORDS, None);
    lossy.open_losses = vec![gap(Extent::Unknown)];
    journal.append(&[lossy.item()]).unwrap();

    let (beside, opened) = boundlane_store::Journal::open(&dir, &setup()).unwrap();
    assert_eq!(opened.losses_numbered, 0);
    assert_eq!(beside.open_losses().unwrap().len(), 1);
    drop((journal, beside));
    let (journal, opened) = boundlane_store::Journal::open(&dir, &setup()).unwrap();
    assert_eq!(opened.losses_numbered, 1);
    assert!(journal.open_losses().unwrap().is_empty());
    assert_sound(&dir);
}
