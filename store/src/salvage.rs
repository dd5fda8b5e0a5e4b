//! Salvage: everything that can still be read of a damaged journal, as a whole file of the same journal.
//!
//! The damaged file is read page by page, see [`image`], and never written. A block is taken where its own
//! checksum fits, wherever in the file it lies. What comes out is a file of the same id and the same
//! numbers, whose unreadable ones are missing: readers name exactly these. Checkpoints are taken with it as
//! far as they agree with the entries. Memory does not grow with the journal: what is found goes into the
//! copy and is sorted out there.

mod blocks;
mod copy;
mod derive;
mod image;
mod record;
mod streams;
mod tables;
pub(crate) mod wal;

use boundlane_record::tree::Hash;
use boundlane_record::{Seq, TreeSize};

pub(crate) use copy::{Fault, Hints, copy};
pub(crate) use image::Image;

/// Ranges of missing numbers that are named one by one; all of them are counted.
pub const RANGES_MAX: usize = 1000;

/// What was salvaged of one journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvage {
    /// Its id, `None` when nothing says it any more.
    pub journal: Option<String>,
    /// How far it went, as far as that is known.
    pub size: TreeSize,
    /// The root at that size, `None` when it can neither be read nor derived.
    pub root: Option<Hash>,
    /// Numbers through this one had been pruned.
    pub pruned: Seq,
    /// Entries that were read.
    pub entries: u64,
    /// Numbers whose entries cannot be read, the first [`RANGES_MAX`] ranges.
    pub missing: Vec<(Seq, Seq)>,
    /// How many numbers that is in all.
    pub missing_entries: u64,
    /// Why commits after `size` may be gone too; `None` when nothing says so.
    pub tail: Option<&'static str>,
    /// Subtrees whose kept hash is not that of the entries: one of the two is not what was written.
    pub contradicted: u64,
    /// Streams whose checkpoints were taken over.
    pub streams: u64,
    /// Streams whose checkpoints are lost.
    pub checkpoints_lost: u64,
    /// Whether there may be streams that nothing names any more.
    pub streams_unknown: bool,
    /// Whether losses that had no number yet may be gone.
    pub open_losses_unknown: bool,
}

impl Salvage {
    /// Whether everything was readable.
    pub fn is_whole(&self) -> bool {
        self.journal.is_some()
            && self.missing_entries == 0
            && self.tail.is_none()
            && self.contradicted == 0
            && self.checkpoints_lost == 0
            && !self.streams_unknown
            && !self.open_losses_unknown
    }
}
