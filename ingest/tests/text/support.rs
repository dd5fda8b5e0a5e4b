//! A stream to read lines into, and its entries as JSON objects.

use std::sync::Arc;

use boundlane_ingest::{
    DecodeOptions, DecodeState, Decoded, Decoder, DigestKey, FramedLine, Framer,
};
use boundlane_record::redact::Redactor;
use boundlane_record::{EntryBatch, Micros, Row, StreamName, canonical};

pub(super) const OBSERVED: Micros = Micros(1_800_000_000_000_000);

pub(super) fn key() -> DigestKey {
    DigestKey::new(&[7; 32])
}

pub(super) fn stream() -> StreamName {
    StreamName {
        stream: "import/demo/1".into(),
        sandbox: Some("demo".into()),
        source: "import".into(),
        ..StreamName::default()
    }
}

pub(super) fn decoder(options: DecodeOptions) -> Decoder {
    Decoder::new(
        options,
        Arc::new(Redactor::default()),
        key(),
        DecodeState::default(),
    )
}

/// What became of a line, and its row when it is a record.
pub(super) type Outcome = (Decoded, Option<Row<'static>>);

pub(super) fn decode_line(decoder: &mut Decoder, line: &FramedLine<'_>) -> Outcome {
    let mut batch = EntryBatch::new();
    let decoded = decoder.line(line, &stream(), OBSERVED, &mut batch);
    let row = batch
        .iter()
        .next()
        .map(|(bytes, _)| canonical::decode(bytes).unwrap().into_owned());
    assert!(batch.len() <= 1, "one physical line is at most one entry");
    assert_eq!(row.is_some(), matches!(decoded, Decoded::Record { .. }));
    (decoded, row)
}

/// Every physical line of `input`.
pub(super) fn decode_all(decoder: &mut Decoder, input: &[u8]) -> Vec<Outcome> {
    let mut framer = Framer::new(key(), 0);
    let mut outcomes = Vec::new();
    let mut chunk = input;
    while let Some(line) = framer.next(&mut chunk) {
        outcomes.push(decode_line(decoder, &line));
    }
    if let Some(line) = framer.finish() {
        outcomes.push(decode_line(decoder, &line));
    }
    outcomes
}

/// The rows of `input`'s records, read as one stream.
pub(super) fn rows(input: &str) -> Vec<Row<'static>> {
    let outcomes = decode_all(&mut decoder(DecodeOptions::default()), input.as_bytes());
    outcomes.into_iter().filter_map(|(_, row)| row).collect()
}

/// The row of one line, which must be a record.
pub(super) fn row(line: &str) -> Row<'static> {
    let mut rows = rows(&format!("{line}\n"));
    assert_eq!(rows.len(), 1, "{line}");
    rows.remove(0)
}

/// The named values of a row.
pub(super) fn attributes(row: &Row<'_>) -> serde_json::Map<String, serde_json::Value> {
    row.attributes
        .as_deref()
        .map(|text| serde_json::from_str(text).unwrap())
        .unwrap_or_default()
}
