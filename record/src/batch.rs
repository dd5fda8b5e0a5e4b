//! Entries on their way to the journal: canonical bytes end to end, and what the journal counts by.

use crate::canonical;
use crate::column::Row;
use crate::number::Micros;
use crate::vocabulary::{Kind, Outcome};

/// What the journal keeps beside an entry's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryMeta {
    /// Where the entry ends in the batch's bytes, its newline not included.
    pub end: usize,
    /// What the entry is.
    pub kind: Kind,
    /// What it is counted by.
    pub outcome: Option<Outcome>,
    /// When it happened.
    pub time: Option<Micros>,
    /// When it was read.
    pub observed: Micros,
}

/// Consecutive entries: canonical bytes, each followed by a newline.
#[derive(Debug, Clone, Default)]
pub struct EntryBatch {
    bytes: Vec<u8>,
    metas: Vec<EntryMeta>,
}

impl EntryBatch {
    /// An empty batch.
    pub fn new() -> EntryBatch {
        EntryBatch::default()
    }

    /// Appends `row`'s canonical bytes. `kind`, `outcome` and `observed` are read from the row; one
    /// without a known kind is counted as `unparsed`, one without a moment as of the epoch.
    pub fn push(&mut self, row: &Row<'_>) {
        canonical::encode(row, &mut self.bytes);
        self.metas.push(EntryMeta {
            end: self.bytes.len(),
            kind: row
                .kind
                .as_deref()
                .and_then(Kind::from_word)
                .unwrap_or(Kind::Unparsed),
            outcome: row.outcome.as_deref().and_then(Outcome::from_word),
            time: row.time,
            observed: row.observed.unwrap_or(Micros(0)),
        });
        self.bytes.push(b'\n');
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.metas.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.metas.is_empty()
    }

    /// Canonical bytes in all, newlines included.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of all entries, a newline after each.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is kept beside each entry, in order.
    pub fn metas(&self) -> &[EntryMeta] {
        &self.metas
    }

    /// Each entry's canonical bytes, without newline, and what is kept beside it.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &EntryMeta)> {
        let mut start = 0;
        self.metas.iter().map(move |meta| {
            let entry = &self.bytes[start..meta.end];
            start = meta.end + 1;
            (entry, meta)
        })
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.metas.clear();
    }
}
