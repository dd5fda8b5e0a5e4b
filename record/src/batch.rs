//! Entries on their way to the journal: canonical bytes end to end, and what the journal counts by.

use crate::canonical;
use crate::column::Row;
use crate::number::Micros;
use crate::vocabulary::{ClassTag, Kind, Outcome, Severity};

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
    /// Whether it is let in when little room is left: a denial, a finding of medium severity and above,
    /// a change of the policy, or a line that nobody could parse.
    pub matters: bool,
}

/// Consecutive entries: canonical bytes, each followed by a newline.
#[derive(Debug, Clone, Default)]
pub struct EntryBatch {
    bytes: Vec<u8>,
    metas: Vec<EntryMeta>,
}

impl EntryMeta {
    /// What is kept beside the entry of `row`, which ends at `end`. A row without a known kind is counted
    /// as `unparsed`, one without a moment as of the epoch.
    pub fn of(row: &Row<'_>, end: usize) -> EntryMeta {
        let kind = row.kind.as_deref().and_then(Kind::from_word);
        let kind = kind.unwrap_or(Kind::Unparsed);
        let outcome = row.outcome.as_deref().and_then(Outcome::from_word);
        EntryMeta {
            end,
            kind,
            outcome,
            time: row.time,
            observed: row.observed.unwrap_or(Micros(0)),
            matters: matters(kind, outcome, row),
        }
    }
}

impl EntryBatch {
    /// An empty batch.
    pub fn new() -> EntryBatch {
        EntryBatch::default()
    }

    /// Appends `row`'s canonical bytes.
    pub fn push(&mut self, row: &Row<'_>) {
        canonical::encode(row, &mut self.bytes);
        self.metas.push(EntryMeta::of(row, self.bytes.len()));
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

fn matters(kind: Kind, outcome: Option<Outcome>, row: &Row<'_>) -> bool {
    if kind == Kind::Unparsed || outcome == Some(Outcome::Denied) {
        return true;
    }
    let tag = row.class_tag.as_deref().and_then(ClassTag::from_word);
    match tag.or_else(|| row.class_uid.map(i64::from).and_then(ClassTag::from_uid)) {
        Some(ClassTag::Config) => true,
        Some(ClassTag::Finding) => {
            let severity = row.severity.as_deref().and_then(Severity::from_word);
            severity.is_some_and(|severity| severity >= Severity::Medium)
        }
        _ => false,
    }
}
