//! One block: gathered entry by entry, then packed and checked.

use boundlane_record::{EntryMeta, Micros, Seq};
use zstd::bulk::Compressor;

use super::share::{Part, Share, divide};
use crate::admission::Region;
use crate::block::{BLOCK_ENTRIES_MAX, BLOCK_PLAIN_BYTES_MAX, Columns, StreamId};
use crate::tally::Tally;

/// The entries of a block that is not full yet.
pub(super) struct Draft {
    plain: Vec<u8>,
    packed: Vec<u8>,
    counts: String,
    streams_text: String,
    first: Seq,
    entries: usize,
    observed: (Micros, Micros),
    time: Option<(Micros, Micros)>,
    tally: Tally,
    streams: Vec<Part>,
}

/// A block ready for its row.
pub(crate) struct Sealed {
    draft: Draft,
    /// Whether the packed bytes are the shorter ones.
    shorter: bool,
    checksum: [u8; 16],
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            plain: Vec::with_capacity(BLOCK_PLAIN_BYTES_MAX),
            packed: Vec::new(),
            counts: String::new(),
            streams_text: String::new(),
            first: Seq::FIRST,
            entries: 0,
            observed: (Micros(i64::MAX), Micros(i64::MIN)),
            time: None,
            tally: Tally::default(),
            streams: Vec::new(),
        }
    }
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether an entry of `bytes` still goes into the block at hand.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.is_empty()
            || self.entries < BLOCK_ENTRIES_MAX
                && self.plain.len() + 1 + bytes <= BLOCK_PLAIN_BYTES_MAX
    }

    /// Adds the entry numbered `seq`, which follows the last one added.
    pub(super) fn add(
        &mut self,
        seq: Seq,
        (stream, region): (StreamId, Region),
        entry: &[u8],
        meta: &EntryMeta,
    ) {
        if self.is_empty() {
            self.first = seq;
        } else {
            self.plain.push(b'\n');
        }
        self.plain.extend_from_slice(entry);
        self.entries += 1;
        let (from, to) = self.observed;
        self.observed = (from.min(meta.observed), to.max(meta.observed));
        if let Some(time) = meta.time {
            let (from, to) = self.time.unwrap_or((time, time));
            self.time = Some((from.min(time), to.max(time)));
        }
        self.tally.count(meta);
        self.part(stream).add(entry.len(), region);
    }

    fn part(&mut self, stream: StreamId) -> &mut Part {
        let at = self.streams.iter().rposition(|part| part.stream == stream);
        // The next entry is most likely of the same stream: it is kept last.
        match at {
            Some(at) => self.streams[at..].rotate_left(1),
            None => self.streams.push(Part::new(stream)),
        }
        let last = self.streams.len() - 1;
        &mut self.streams[last]
    }

    /// The block of what was added.
    pub(super) fn seal(mut self, compressor: &mut Compressor<'_>) -> Sealed {
        self.tally.write_to(&mut self.counts);
        self.streams.sort_unstable_by_key(|part| part.stream);
        write_streams(&self.streams, &mut self.streams_text);
        self.packed.clear();
        self.packed
            .reserve(zstd::zstd_safe::compress_bound(self.plain.len()));
        let shorter = compressor
            .compress_to_buffer(&self.plain, &mut self.packed)
            .is_ok_and(|bytes| bytes < self.plain.len());
        let checksum = self.columns(shorter).checksum();
        Sealed {
            draft: self,
            shorter,
            checksum,
        }
    }

    fn columns(&self, packed: bool) -> Columns<'_> {
        Columns {
            first: self.first,
            last: Seq(self.first.0 + self.entries as u64 - 1),
            packed,
            plain_bytes: self.plain.len(),
            observed: self.observed,
            time: self.time,
            counts: &self.counts,
            streams: &self.streams_text,
            body: if packed { &self.packed } else { &self.plain },
        }
    }

    /// Forgets all entries and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.plain.clear();
        self.entries = 0;
        self.observed = (Micros(i64::MAX), Micros(i64::MIN));
        self.time = None;
        self.tally = Tally::default();
        self.streams.clear();
    }
}

impl Sealed {
    pub(crate) fn columns(&self) -> Columns<'_> {
        self.draft.columns(self.shorter)
    }

    pub(crate) fn checksum(&self) -> [u8; 16] {
        self.checksum
    }

    /// What it holds of each stream, ascending.
    pub(crate) fn shares(&self) -> impl Iterator<Item = Share> {
        divide(&self.draft.streams, self.columns().body.len() as u64)
    }

    /// Its memory, for another block.
    pub(super) fn into_draft(mut self) -> Draft {
        self.draft.clear();
        self.draft
    }
}

fn write_streams(streams: &[Part], text: &mut String) {
    use std::fmt::Write as _;
    text.clear();
    for part in streams {
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{space}{}", part.stream.0);
    }
}
