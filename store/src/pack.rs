//! From a run of entries to blocks: how they are cut, packed and checked.

use boundlane_record::{EntryMeta, Micros, Seq};

use crate::block::{BLOCK_ENTRIES_MAX, BLOCK_PLAIN_BYTES_MAX, Columns, StreamId};
use crate::tally::Tally;

/// zstd level 1: a higher one costs more writer time than it saves disk.
const ZSTD_LEVEL: i32 = 1;

/// Gathers entries and seals them into blocks. Reused from commit to commit: it keeps its memory.
pub(crate) struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
    plain: Vec<u8>,
    packed: Vec<u8>,
    counts: String,
    streams_text: String,
    first: Seq,
    entries: usize,
    observed: (Micros, Micros),
    time: Option<(Micros, Micros)>,
    tally: Tally,
    streams: Vec<(StreamId, u64)>,
}

/// A block ready for its row.
pub(crate) struct Sealed<'p> {
    pub(crate) columns: Columns<'p>,
    pub(crate) checksum: [u8; 16],
    /// Each stream in it with its entries, ascending.
    pub(crate) streams: &'p [(StreamId, u64)],
}

impl Packer {
    pub(crate) fn new() -> std::io::Result<Packer> {
        Ok(Packer {
            compressor: zstd::bulk::Compressor::new(ZSTD_LEVEL)?,
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
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Whether an entry of `bytes` still goes into the block at hand.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.is_empty()
            || self.entries < BLOCK_ENTRIES_MAX
                && self.plain.len() + 1 + bytes <= BLOCK_PLAIN_BYTES_MAX
    }

    /// Adds the entry numbered `seq`, which follows the last one added.
    pub(crate) fn add(&mut self, seq: Seq, stream: StreamId, entry: &[u8], meta: &EntryMeta) {
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
        match self.streams.last_mut() {
            Some((last, entries)) if *last == stream => *entries += 1,
            _ => self.add_stream(stream),
        }
    }

    fn add_stream(&mut self, stream: StreamId) {
        match self.streams.iter().position(|(id, _)| *id == stream) {
            Some(at) => {
                self.streams[at].1 += 1;
                // The next entry is most likely of the same stream.
                let last = self.streams.len() - 1;
                self.streams.swap(at, last);
            }
            None => self.streams.push((stream, 1)),
        }
    }

    /// The block of what was added. [`Packer::clear`] begins the next.
    pub(crate) fn seal(&mut self) -> Sealed<'_> {
        self.tally.write_to(&mut self.counts);
        self.streams.sort_unstable();
        write_streams(&self.streams, &mut self.streams_text);
        self.packed.clear();
        self.packed
            .reserve(zstd::zstd_safe::compress_bound(self.plain.len()));
        let shorter = self
            .compressor
            .compress_to_buffer(&self.plain, &mut self.packed)
            .is_ok_and(|bytes| bytes < self.plain.len());
        let columns = Columns {
            first: self.first,
            last: Seq(self.first.0 + self.entries as u64 - 1),
            packed: shorter,
            plain_bytes: self.plain.len(),
            observed: self.observed,
            time: self.time,
            counts: &self.counts,
            streams: &self.streams_text,
            body: if shorter { &self.packed } else { &self.plain },
        };
        Sealed {
            checksum: columns.checksum(),
            columns,
            streams: &self.streams,
        }
    }

    /// Forgets the block at hand.
    pub(crate) fn clear(&mut self) {
        self.plain.clear();
        self.entries = 0;
        self.observed = (Micros(i64::MAX), Micros(i64::MIN));
        self.time = None;
        self.tally = Tally::default();
        self.streams.clear();
    }
}

fn write_streams(streams: &[(StreamId, u64)], text: &mut String) {
    use std::fmt::Write as _;
    text.clear();
    for (id, _) in streams {
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{space}{}", id.0);
    }
}
