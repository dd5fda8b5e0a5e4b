//! Durable entries a second: the journal, beside a SQLite loop that writes a row an entry with the same columns.

#![allow(missing_docs, reason = "the macros of the harness make public items")]
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::sync::Arc;

use boundlane_benches::workload::Workload;
use boundlane_ingest::{DecodeOptions, DecodeState, Decoder, DigestKey, Framer};
use boundlane_record::redact::Redactor;
use boundlane_record::{Books, Column, EntryBatch, Micros, StreamName, Value, canonical};
use boundlane_store::{Checkpoint, ITEM_ENTRIES_MAX, Item, Journal, Setup, StateDir};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rusqlite::types::ToSqlOutput;

const ENTRIES: usize = 64_000;
/// Items of one commit; the loop commits as many rows at once.
const COMMIT_ITEMS: usize = 16;

fn stream() -> StreamName {
    StreamName {
        stream: "import/bench/1".into(),
        sandbox: Some("bench".into()),
        source: "import".into(),
        ..StreamName::default()
    }
}

/// Real entries, in batches of one item each.
fn batches() -> Vec<EntryBatch> {
    let key = DigestKey::new(&[7; 32]);
    let mut decoder = Decoder::new(
        DecodeOptions::default(),
        Arc::new(Redactor::default()),
        key.clone(),
        DecodeState::default(),
    );
    let text = Workload::text(1, ENTRIES + ENTRIES / 10);
    let mut framer = Framer::new(key, 0);
    let (mut left, mut batches, mut batch) = (text.as_bytes(), Vec::new(), EntryBatch::new());
    while let Some(line) = framer.next(&mut left) {
        decoder.line(&line, &stream(), Micros(1_791_291_700_000_000), &mut batch);
        if batch.len() == ITEM_ENTRIES_MAX {
            batches.push(std::mem::take(&mut batch));
        }
    }
    batches.truncate(ENTRIES / ITEM_ENTRIES_MAX);
    batches
}

fn journal(directory: &std::path::Path) -> Journal {
    let setup = Setup {
        program: "bench".into(),
        machine_label: "bench".into(),
        machine_id: None,
        redaction: 1,
        now: Micros(1),
        known_heads: Vec::new(),
    };
    Journal::open(&StateDir::at(directory), &setup).unwrap().0
}

fn append_all(journal: &mut Journal, batches: &[EntryBatch]) {
    let (name, checkpoint) = (
        stream(),
        Checkpoint {
            place: "{}".into(),
            decode_state: "{}".into(),
            ..Checkpoint::default()
        },
    );
    let mut version = None;
    for commit in batches.chunks(COMMIT_ITEMS) {
        let items: Vec<Item<'_>> = commit
            .iter()
            .map(|entries| {
                let expects = version;
                version = Some(version.map_or(1, |version: u64| version + 1));
                let lines = entries.len() as u64;
                Item {
                    stream: &name,
                    entries,
                    at: Micros(2),
                    books: Books {
                        lines_read: lines,
                        records: lines,
                        ..Books::default()
                    },
                    expects,
                    checkpoint: &checkpoint,
                    open_losses: &[],
                    when_full: boundlane_store::WhenFull::Wait,
                }
            })
            .collect();
        journal.append(&items).unwrap();
    }
}

/// One row an entry, every column of it, the same durability and as many rows a transaction.
fn loop_all(db: &mut rusqlite::Connection, batches: &[EntryBatch]) {
    let marks = vec!["?"; Column::ALL.len()].join(",");
    let insert = format!("INSERT INTO entries VALUES ({marks})");
    for commit in batches.chunks(COMMIT_ITEMS) {
        let transaction = db.transaction().unwrap();
        {
            let mut statement = transaction.prepare_cached(&insert).unwrap();
            for (entry, _) in commit.iter().flat_map(EntryBatch::iter) {
                let row = canonical::decode(entry).unwrap();
                let values = Column::ALL.iter().map(|column| cell(row.value(*column)));
                statement
                    .execute(rusqlite::params_from_iter(values))
                    .unwrap();
            }
        }
        transaction.commit().unwrap();
    }
}

fn cell(value: Option<Value<'_>>) -> ToSqlOutput<'_> {
    match value {
        None => ToSqlOutput::Owned(rusqlite::types::Value::Null),
        Some(Value::Text(text)) => ToSqlOutput::Borrowed(text.into()),
        Some(Value::Int(n)) => ToSqlOutput::Owned(i64::from(n).into()),
        Some(Value::Long(n)) => ToSqlOutput::Owned(n.into()),
        Some(Value::Time(at)) => ToSqlOutput::Owned(at.0.into()),
        Some(Value::Bool(b)) => ToSqlOutput::Owned(b.into()),
    }
}

fn plain(directory: &std::path::Path) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(directory.join("plain.sqlite")).unwrap();
    let columns: Vec<String> = Column::ALL
        .iter()
        .map(|column| format!("\"{}\"", column.name()))
        .collect();
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entries ({});",
        columns.join(",")
    ))
    .unwrap();
    db
}

fn durable(c: &mut Criterion) {
    let batches = batches();
    let mut group = c.benchmark_group("durable");
    group.throughput(Throughput::Elements(ENTRIES as u64));
    group.sample_size(10);
    group.bench_function("journal", |b| {
        b.iter_batched(
            || {
                let directory = tempfile::tempdir().unwrap();
                let journal = journal(directory.path());
                (directory, journal)
            },
            |(directory, mut journal)| {
                append_all(&mut journal, &batches);
                (directory, journal)
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("row_an_entry", |b| {
        b.iter_batched(
            || {
                let directory = tempfile::tempdir().unwrap();
                let db = plain(directory.path());
                (directory, db)
            },
            |(directory, mut db)| {
                loop_all(&mut db, &batches);
                (directory, db)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, durable);
criterion_main!(benches);
