//! The bound: who is let in, who is counted out, and what that gives back.

use boundlane_record::{Books, EntryBatch, Micros, Row, Seq, StreamName};
use boundlane_store::{
    AppendError, AppendedItem, Checkpoint, Consumer, Item, Journal, Limits, StateDir, WhenFull,
};

use crate::feed::{assert_sound, open, reader, rows, state};

const ENTRIES: u64 = 5000;

/// A stream of the sandbox `id`.
fn of(id: &str) -> StreamName {
    StreamName {
        stream: format!("gateway/{id}"),
        sandbox: Some("demo".into()),
        sandbox_id: Some(id.into()),
        source: "gateway".into(),
        ..StreamName::default()
    }
}

fn bounded(dir: &StateDir) -> Journal {
    let mut journal = open(dir);
    let limits = Limits {
        queued_entries_max: ENTRIES,
        ..Limits::default()
    };
    journal.set_limits(&limits).unwrap();
    journal
}

/// Brings `lines` records with this outcome at second `at`.
fn bring(
    journal: &mut Journal,
    name: &StreamName,
    (lines, outcome): (u64, &str),
    at: i64,
    when_full: WhenFull,
) -> Result<AppendedItem, AppendError> {
    let mut entries = EntryBatch::new();
    let at = Micros(at * 1_000_000);
    for line in 0..lines {
        let mut row = Row {
            kind: Some("decision".into()),
            outcome: Some(outcome.to_owned().into()),
            observed: Some(at),
            raw: Some(format!("line {line}").into()),
            ..Row::default()
        };
        name.label(&mut row);
        entries.push(&row);
    }
    let expects = journal.stream(&name.stream).unwrap();
    let item = Item {
        stream: name,
        entries: &entries,
        at,
        books: Books {
            lines_read: lines,
            records: lines,
            ..Books::default()
        },
        expects: expects.map(|stream| stream.version),
        checkpoint: &Checkpoint::default(),
        open_losses: &[],
        when_full,
    };
    journal
        .append(&[item])
        .map(|mut appended| appended.items.remove(0))
}

fn shed(journal: &mut Journal, name: &StreamName, what: (u64, &str), at: i64) -> Books {
    bring(journal, name, what, at, WhenFull::Shed)
        .unwrap()
        .books
}

/// Floods until nothing is let in any more. How many were.
fn flood(journal: &mut Journal, name: &StreamName, outcome: &str, at: i64) -> u64 {
    let mut records = 0;
    loop {
        let books = shed(journal, name, (500, outcome), at);
        assert!(books.balance());
        records += books.records;
        if books.records == 0 {
            return records;
        }
    }
}

/// A sandbox that had the journal to itself cannot keep a newcomer out, nor fill the last tenth with
/// what does not matter.
#[test]
fn a_flood_keeps_a_newcomer_or_a_denial_out() {
    let (_parent, dir) = state();
    let mut journal = bounded(&dir);
    let (loud, quiet) = (of("loud"), of("quiet"));
    let records = flood(&mut journal, &loud, "allowed", 1);
    // Half of nine tenths; entry 1 is the journal's own.
    assert_eq!(records, 2249);
    let books = shed(&mut journal, &quiet, (500, "allowed"), 2);
    assert_eq!(books.records, 500);
    // Half of the last tenth.
    assert_eq!(flood(&mut journal, &loud, "denied", 3), 250);
    let books = shed(&mut journal, &quiet, (100, "denied"), 4);
    assert_eq!(books.records, 100);
    assert_sound(&dir);
}

/// A flood of denials leaves room for the denials of others, also when it had the journal to itself.
#[test]
fn a_flood_of_denials_keeps_other_denials_out() {
    let (_parent, dir) = state();
    let mut journal = bounded(&dir);
    let records = flood(&mut journal, &of("loud"), "denied", 1);
    assert_eq!(records, 2249 + 250);
    for newcomer in ["b", "c", "d"] {
        let books = shed(&mut journal, &of(newcomer), (50, "denied"), 2);
        assert_eq!(books.records, 50, "{newcomer}");
    }
    assert_sound(&dir);
}

/// What was refused is the sum over the drops, by outcome, while it goes on and after.
#[test]
fn a_refused_line_is_in_no_sum() {
    let (_parent, dir) = state();
    let mut journal = bounded(&dir);
    let loud = of("loud");
    flood(&mut journal, &loud, "allowed", 1);
    let before = reader(&dir).totals().unwrap();
    shed(&mut journal, &loud, (30, "allowed"), 2);
    let books = shed(&mut journal, &loud, (300, "denied"), 3);
    assert_eq!((books.records, books.refused), (250, 50));
    let totals = reader(&dir).totals().unwrap();
    assert_eq!(totals.books.refused, before.books.refused + 80);
    assert_eq!(totals.open_drops, totals.books.refused);
    let open = journal.open_losses().unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(
        (open[0].cause.as_str(), open[0].denied),
        ("fair_share", Some(50))
    );
    let allowed = before.books.refused + 30;
    assert_eq!(
        open[0].evidence.as_deref(),
        Some(format!(r#"{{"outcomes":{{"allowed":{allowed},"denied":50}}}}"#).as_str())
    );
    assert_sound(&dir);

    // Room again, and quiet for a while: the drops get their number before the next record.
    let size = journal.head().unwrap().size;
    journal
        .acknowledge(Consumer::Archiver, Seq(size.0), Micros(4_000_000))
        .unwrap();
    shed(&mut journal, &loud, (1, "allowed"), 5);
    let after: Vec<_> = rows(&reader(&dir)).split_off(usize::try_from(size.0).unwrap());
    assert_eq!(after[0].kind.as_deref(), Some("drops"));
    assert_eq!(after[0].count.map(i64::unsigned_abs), Some(allowed + 50));
    assert_eq!(
        (after[0].from, after[0].to),
        (Some(Micros(1_000_000)), Some(Micros(3_000_000)))
    );
    assert_eq!(after[1].kind.as_deref(), Some("decision"));
    assert!(journal.open_losses().unwrap().is_empty());
    assert_sound(&dir);
}

/// A source that can wait is held back whole, and sheds nothing.
#[test]
fn a_source_that_can_wait_sheds() {
    let (_parent, dir) = state();
    let mut journal = bounded(&dir);
    let file = of("file");
    let mut records = 0;
    let held = loop {
        match bring(&mut journal, &file, (500, "allowed"), 1, WhenFull::Wait) {
            Ok(item) => records += item.books.records,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(held, AppendError::QueueFull { waiting } if waiting == records + 1),
        "{held:?}"
    );
    assert_eq!(records, 2500, "it stops with the item that takes its share");
    let totals = reader(&dir).totals().unwrap();
    assert_eq!((totals.books.refused, totals.books.records), (0, records));
    // Others still have room.
    assert_eq!(
        shed(&mut journal, &of("live"), (500, "allowed"), 2).records,
        500
    );
    let size = journal.head().unwrap().size;
    journal
        .acknowledge(Consumer::Archiver, Seq(size.0), Micros(3))
        .unwrap();
    bring(&mut journal, &file, (500, "allowed"), 3, WhenFull::Wait).unwrap();
    assert_sound(&dir);
}

/// A bound below what is held lets nothing in until that fits, and losses all the time.
#[test]
fn a_lowered_bound_pushes_entries_out() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let name = of("a");
    for _ in 0..20 {
        assert_eq!(shed(&mut journal, &name, (500, "allowed"), 1).records, 500);
    }
    let limits = Limits {
        queued_entries_max: ENTRIES,
        ..Limits::default()
    };
    journal.set_limits(&limits).unwrap();
    let books = shed(&mut journal, &of("b"), (10, "allowed"), 2);
    assert_eq!((books.records, books.refused), (0, 10));
    let causes: Vec<String> = journal
        .open_losses()
        .unwrap()
        .into_iter()
        .map(|loss| loss.cause)
        .collect();
    assert_eq!(causes, ["queue_full"]);
    let size = journal.head().unwrap().size;
    assert_eq!(size.0, 1 + 20 * 500, "nothing went");
    journal
        .acknowledge(Consumer::Archiver, Seq(size.0), Micros(3))
        .unwrap();
    assert_eq!(shed(&mut journal, &of("b"), (10, "allowed"), 3).records, 10);
    drop(journal);
    assert_eq!(
        open(&dir).limits().unwrap(),
        limits,
        "bounds are the directory's"
    );
    assert_sound(&dir);
}

/// The slowest consumer counts: what only one has taken still waits.
#[test]
fn what_one_consumer_took_makes_room() {
    let (_parent, dir) = state();
    let mut journal = bounded(&dir);
    journal
        .acknowledge(Consumer::Uploader, Seq(0), Micros(1))
        .unwrap();
    let name = of("a");
    flood(&mut journal, &name, "allowed", 1);
    let size = Seq(journal.head().unwrap().size.0);
    journal
        .acknowledge(Consumer::Archiver, size, Micros(2))
        .unwrap();
    assert_eq!(shed(&mut journal, &name, (10, "allowed"), 2).records, 0);
    assert_sound(&dir);
    // Up to within a block: it waits as long as one entry of it does.
    journal
        .acknowledge(Consumer::Uploader, Seq(size.0 - 100), Micros(2))
        .unwrap();
    assert_sound(&dir);
    journal
        .acknowledge(Consumer::Uploader, size, Micros(2))
        .unwrap();
    assert_eq!(shed(&mut journal, &name, (10, "allowed"), 3).records, 10);
    assert_sound(&dir);
}
