//! What must hold of every input's lines, for all targets that read lines.

use std::sync::{Arc, LazyLock};

use boundlane_ingest::{DecodeOptions, DecodeState, Decoded, Decoder, DigestKey, Framer};
use boundlane_record::redact::Redactor;
use boundlane_record::{EntryBatch, Micros, StreamName, canonical};

/// The longest canonical entry, in bytes.
const ENTRY_BYTES_MAX: usize = 512 * 1024;

static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(|| Arc::new(Redactor::default()));

/// Decodes every line of `input`. Panics where a line has not exactly one outcome, or an entry is not
/// canonical or too long, or a stored state does not read back.
pub fn check_lines(input: &[u8]) {
    let key = DigestKey::new(&[3; 32]);
    let state = DecodeState::default();
    let mut decoder = Decoder::new(
        DecodeOptions::default(),
        REDACTOR.clone(),
        key.clone(),
        state,
    );
    let stream = StreamName {
        stream: "fuzz".into(),
        source: "import".into(),
        ..StreamName::default()
    };
    let mut framer = Framer::new(key, 0);
    let mut batch = EntryBatch::new();
    let mut chunk = input;
    while let Some(line) = framer.next(&mut chunk) {
        check(
            decoder.line(&line, &stream, Micros(1), &mut batch),
            &mut batch,
        );
    }
    if let Some(line) = framer.finish() {
        check(
            decoder.line(&line, &stream, Micros(1), &mut batch),
            &mut batch,
        );
    }
    let stored = DecodeState::from_json(&decoder.state().to_json()).expect("a state reads back");
    assert_eq!(&stored, decoder.state());
}

fn check(decoded: Decoded, batch: &mut EntryBatch) {
    assert_eq!(
        batch.len(),
        usize::from(matches!(decoded, Decoded::Record { .. }))
    );
    for (bytes, meta) in batch.iter() {
        assert!(bytes.len() <= ENTRY_BYTES_MAX);
        let row = canonical::decode(bytes).expect("an entry is canonical");
        assert!(row.raw.is_some());
        let Decoded::Record { kind, outcome } = &decoded else {
            continue;
        };
        assert_eq!((meta.kind, meta.outcome), (*kind, *outcome));
    }
    batch.clear();
}
