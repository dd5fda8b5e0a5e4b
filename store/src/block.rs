//! A block: consecutive entries of one commit, as they are stored and as they are read.

use boundlane_record::{Micros, Seq};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

use crate::tally::Tally;

/// Entries in one block.
pub const BLOCK_ENTRIES_MAX: usize = 256;
/// Bytes of one block before packing; an entry longer than this makes a block alone.
pub const BLOCK_PLAIN_BYTES_MAX: usize = 256 * 1024;
/// Canonical bytes of one entry.
pub const ENTRY_BYTES_MAX: usize = 512 * 1024;

/// The columns of a block's row, in the order that [`StoredBlock::read`] expects.
pub(crate) const COLUMNS: &str = "first, last, packed, plain_bytes, observed_from, observed_to, \
     time_from, time_to, counts, streams, checksum, body";

/// A stream's number in its journal; 0 is the journal itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub i64);

impl StreamId {
    /// What entries about the journal itself are under.
    pub const JOURNAL: StreamId = StreamId(0);
}

/// What is known of a block without unpacking it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockHeader {
    /// Number of its first entry.
    pub first: Seq,
    /// Number of its last entry.
    pub last: Seq,
    /// Least and greatest `observed`.
    pub observed: (Micros, Micros),
    /// Least and greatest `time`; `None` when no entry has one.
    pub time: Option<(Micros, Micros)>,
    /// Its entries by kind and outcome.
    pub tally: Tally,
    /// The streams it holds entries of, ascending.
    pub streams: Vec<StreamId>,
    /// Bytes before packing.
    pub plain_bytes: usize,
    /// Bytes in the file.
    pub stored_bytes: usize,
}

/// A block's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What is known without unpacking.
    pub header: BlockHeader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    range: std::ops::Range<usize>,
}

impl Block {
    /// Canonical bytes of all entries, joined by newlines; none after the last.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The entries that were asked for, in number order; at the ends of a range this can be a part of
    /// the block.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Seq, &[u8])> + ExactSizeIterator {
        self.range.clone().map(|at| {
            let start = match at {
                0 => 0,
                _ => self.ends[at - 1] + 1,
            };
            let seq = Seq(self.header.first.0 + at as u64);
            (seq, &self.bytes[start..self.ends[at]])
        })
    }

    /// Leaves only the entries after `after`, through `through`, in [`Block::entries`].
    pub(crate) fn clip(&mut self, after: Seq, through: Seq) {
        let at = |seq: u64| {
            let at = (seq + 1).saturating_sub(self.header.first.0);
            usize::try_from(at).map_or(self.ends.len(), |at| at.min(self.ends.len()))
        };
        let end = at(through.0);
        self.range = at(after.0).min(end)..end;
    }
}

/// The columns that the checksum covers, body last.
pub(crate) struct Columns<'a> {
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    pub(crate) packed: bool,
    pub(crate) plain_bytes: usize,
    pub(crate) observed: (Micros, Micros),
    pub(crate) time: Option<(Micros, Micros)>,
    pub(crate) counts: &'a str,
    pub(crate) streams: &'a str,
    pub(crate) body: &'a [u8],
}

impl Columns<'_> {
    /// The first 16 bytes of SHA-256 over: `first`, `last`, `packed`, `plain_bytes`, both observed
    /// times, 1 and both event times or 0, each 8 bytes big-endian; then `counts`, a zero byte,
    /// `streams`, a zero byte, `body`.
    pub(crate) fn checksum(&self) -> [u8; 16] {
        let (timed, time) = match self.time {
            Some((from, to)) => (1, (from.0, to.0)),
            None => (0, (0, 0)),
        };
        let mut hasher = Sha256::new();
        for number in [
            self.first.0.to_be_bytes(),
            self.last.0.to_be_bytes(),
            u64::from(self.packed).to_be_bytes(),
            (self.plain_bytes as u64).to_be_bytes(),
            self.observed.0.0.to_be_bytes(),
            self.observed.1.0.to_be_bytes(),
            i64::to_be_bytes(timed),
            time.0.to_be_bytes(),
            time.1.to_be_bytes(),
        ] {
            hasher.update(number);
        }
        hasher.update(self.counts);
        hasher.update([0]);
        hasher.update(self.streams);
        hasher.update([0]);
        hasher.update(self.body);
        let mut short = [0u8; 16];
        short.copy_from_slice(&hasher.finalize()[..16]);
        short
    }
}

/// Why a block cannot be read.
pub(crate) type Fault = &'static str;

/// A block as its row says, unpacked on demand.
pub(crate) struct StoredBlock {
    pub(crate) header: BlockHeader,
    packed: bool,
    body: Vec<u8>,
}

/// A row read: its header alone when the body was not wanted.
pub(crate) enum Read {
    Whole(StoredBlock),
    Skipped(BlockHeader),
}

impl StoredBlock {
    /// Reads a row of [`COLUMNS`]. The body is read and the checksum compared only when `wanted` says so.
    pub(crate) fn read(
        row: &Row<'_>,
        wanted: &dyn Fn(&BlockHeader) -> bool,
    ) -> Result<Read, Fault> {
        const TYPE: Fault = "a column is not of its type";
        let text = |at| row.get_ref(at).ok().and_then(|value| value.as_str().ok());
        let blob = |at| row.get_ref(at).ok().and_then(|value| value.as_blob().ok());
        let counts = text(8).ok_or(TYPE)?;
        let streams = text(9).ok_or(TYPE)?;
        let body = blob(11).ok_or(TYPE)?;
        let header = BlockHeader {
            first: Seq(row.get(0).map_err(|_| TYPE)?),
            last: Seq(row.get(1).map_err(|_| TYPE)?),
            observed: (
                Micros(row.get(4).map_err(|_| TYPE)?),
                Micros(row.get(5).map_err(|_| TYPE)?),
            ),
            time: time_span(row).ok_or(TYPE)?,
            tally: Tally::from_text(counts).ok_or("`counts` cannot be read")?,
            streams: stream_ids(streams).ok_or("`streams` cannot be read")?,
            plain_bytes: row.get(3).map_err(|_| TYPE)?,
            stored_bytes: body.len(),
        };
        if header.last < header.first || header.plain_bytes > ENTRY_BYTES_MAX {
            return Err("its numbers or its length are beyond a block's");
        }
        // A header that contradicts itself is not skipped on its word.
        let numbers = header.last.0 - header.first.0 + 1;
        if header.tally.entries() == numbers && !wanted(&header) {
            return Ok(Read::Skipped(header));
        }
        let packed = row.get::<_, i64>(2).map_err(|_| TYPE)? != 0;
        let columns = Columns {
            first: header.first,
            last: header.last,
            packed,
            plain_bytes: header.plain_bytes,
            observed: header.observed,
            time: header.time,
            counts,
            streams,
            body,
        };
        if blob(10) != Some(&columns.checksum()[..]) {
            return Err("its checksum does not fit");
        }
        let body = body.to_owned();
        Ok(Read::Whole(StoredBlock {
            header,
            packed,
            body,
        }))
    }

    /// The entries, all of them in range.
    pub(crate) fn unpack(
        self,
        unpacker: &mut zstd::bulk::Decompressor<'_>,
    ) -> Result<Block, Fault> {
        let StoredBlock {
            header,
            packed,
            body,
        } = self;
        let bytes = if packed {
            unpacker
                .decompress(&body, header.plain_bytes)
                .map_err(|_| "it cannot be unpacked")?
        } else {
            body
        };
        if bytes.len() != header.plain_bytes {
            return Err("its length is not the stored one");
        }
        let mut ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
        ends.push(bytes.len());
        if ends.len() as u64 != header.last.0 - header.first.0 + 1 {
            return Err("it does not hold as many entries as numbers");
        }
        let range = 0..ends.len();
        Ok(Block {
            header,
            bytes,
            ends,
            range,
        })
    }
}

/// Both event times or neither; `None` when the row holds something else.
fn time_span(row: &Row<'_>) -> Option<Option<(Micros, Micros)>> {
    match (row.get_ref(6).ok()?, row.get_ref(7).ok()?) {
        (ValueRef::Null, ValueRef::Null) => Some(None),
        (ValueRef::Integer(from), ValueRef::Integer(to)) => Some(Some((Micros(from), Micros(to)))),
        _ => None,
    }
}

fn stream_ids(text: &str) -> Option<Vec<StreamId>> {
    text.split_ascii_whitespace()
        .map(|id| id.parse().ok().map(StreamId))
        .collect()
}
