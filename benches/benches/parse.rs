//! Lines a second on one core: to borrowed fields, and to canonical entries; beside a scan for newlines.

#![allow(missing_docs, reason = "the macros of the harness make public items")]

use std::hint::black_box;
use std::sync::Arc;

use boundlane_benches::workload::Workload;
use boundlane_ingest::{DecodeOptions, DecodeState, Decoder, DigestKey, Framer, fields};
use boundlane_record::redact::Redactor;
use boundlane_record::{EntryBatch, Micros, StreamName};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const LINES: usize = 20_000;
const CHUNK_BYTES: usize = 256 * 1024;

fn key() -> DigestKey {
    DigestKey::new(&[7; 32])
}

/// The yardstick: what a program does that only counts lines.
fn scan(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

fn to_fields(text: &str) -> usize {
    let mut parsed = 0;
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        parsed += usize::from(black_box(fields(&text[start..end])).is_some());
        start = end + 1;
    }
    parsed
}

fn to_entries(text: &str, redactor: &Arc<Redactor>, batch: &mut EntryBatch) -> usize {
    let state = DecodeState::default();
    let mut decoder = Decoder::new(DecodeOptions::default(), Arc::clone(redactor), key(), state);
    let stream = StreamName {
        stream: "import/bench/1".into(),
        sandbox: Some("bench".into()),
        source: "import".into(),
        ..StreamName::default()
    };
    let mut framer = Framer::new(key(), 0);
    let mut entries = 0;
    for chunk in text.as_bytes().chunks(CHUNK_BYTES) {
        let mut left = chunk;
        while let Some(line) = framer.next(&mut left) {
            decoder.line(&line, &stream, Micros(1_791_291_700_000_000), batch);
            if batch.len() >= 500 {
                entries += batch.len();
                black_box(batch.bytes());
                batch.clear();
            }
        }
    }
    entries
}

fn parse(c: &mut Criterion) {
    let text = Workload::text(1, LINES);
    let redactor = Arc::new(Redactor::default());
    let mut group = c.benchmark_group("parse");
    group.throughput(Throughput::Elements(LINES as u64));
    group.bench_function("newline_scan", |b| b.iter(|| scan(black_box(&text))));
    group.bench_function("borrowed_fields", |b| {
        b.iter(|| to_fields(black_box(&text)));
    });
    group.bench_function("canonical_entries", |b| {
        let mut batch = EntryBatch::new();
        b.iter(|| to_entries(black_box(&text), &redactor, &mut batch));
    });
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
