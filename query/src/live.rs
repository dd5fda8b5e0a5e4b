//! The machine's own journal, as far as a question needs it: numbered blocks and open losses.
//!
//! This crate knows no store; whoever has one hands it over through [`LiveJournal`].

mod scan;

pub(crate) use scan::{LivePart, LiveScan, OpenLosses, each_live_row};

use boundlane_record::{Row, Seq, TreeSize};

/// Where one journal stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveHead {
    /// The journal's id, 32 hex digits.
    pub journal: String,
    /// What [`LiveJournal::blocks`] is asked for: the id, or another name for a history that has parted from
    /// the one with that id: its numbers are given elsewhere to other entries, and both are read.
    pub file: String,
    /// The first number that is still there, and only there; earlier ones were pruned.
    pub first: Seq,
    /// How many numbers were given, pruned ones included: the last number.
    pub size: TreeSize,
}

/// Consecutive entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveBlock {
    /// The number of the first entry.
    pub first: Seq,
    /// Canonical entries, joined by newlines, none after the last.
    pub ndjson: Vec<u8>,
}

/// Blocks in number order, or what is wrong with one of them, after which the next good one may follow.
pub type LiveBlocks = Box<dyn Iterator<Item = Result<LiveBlock, String>> + Send>;

/// Read access to the journals of this machine; every call sees what is there then.
pub trait LiveJournal: Send + Sync {
    /// All journals, older ones that were kept included.
    fn journals(&self) -> Vec<LiveHead>;

    /// The blocks of the journal called `file` in its head that hold numbers above `after`, in number order; the first may begin before.
    fn blocks(&self, file: &str, after: Seq) -> LiveBlocks;

    /// Losses that still grow and have no number yet.
    fn open_losses(&self) -> Vec<Row<'static>>;
}
