//! What a writer brings: whole items, each entries of one stream with the checkpoint that passes them.

use boundlane_record::{
    Books, EntryBatch, Fingerprint, Kind, Mark, Micros, PolicyInForce, SessionKind, StreamName,
    canonical,
};

use crate::block::ENTRY_BYTES_MAX;
use crate::loss::OpenLoss;

/// Entries in one item.
pub const ITEM_ENTRIES_MAX: usize = 500;
/// Items in one commit.
pub const COMMIT_ITEMS_MAX: usize = 64;
/// Fingerprints kept of one stream: its last lines.
pub const FINGERPRINTS_MAX: usize = 4096;
/// Bytes of one checkpoint's place and of its decode state.
pub const CHECKPOINT_BYTES_MAX: usize = 1024 * 1024;

/// What becomes of records for which there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// The source can wait, and nothing of the commit is written.
    Wait,
    /// The source cannot: they are refused, and counted.
    Shed,
    /// There is no room for any, whatever the bounds say: the disk is full.
    Refuse,
}

/// Entries of one stream, with everything that must be committed with them.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The stream that all entries are of.
    pub stream: &'a StreamName,
    /// At most [`ITEM_ENTRIES_MAX`] entries, possibly none.
    pub entries: &'a EntryBatch,
    /// When it was made: what open losses and gaps numbered with it are dated by.
    pub at: Micros,
    /// The lines that the checkpoint passes, since the last one.
    pub books: Books,
    /// The version of the checkpoint that this one follows; `None` begins the stream.
    pub expects: Option<u64>,
    /// The place after these lines.
    pub checkpoint: &'a Checkpoint,
    /// Losses that the checkpoint passes and that may still grow. They come after the entries.
    pub open_losses: &'a [OpenLoss],
    /// What becomes of the records for which there is no room.
    pub when_full: WhenFull,
}

/// The durable position of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// JSON, the source's own.
    pub place: String,
    /// JSON, the parser's own.
    pub decode_state: String,
    /// The policy in force there.
    pub policy: PolicyInForce,
    /// What changes among the marks.
    pub marks: MarkChange,
    /// Fingerprints of the lines passed, oldest first; the last [`FINGERPRINTS_MAX`] are kept.
    pub fingerprints: Vec<Fingerprint>,
}

/// First marks are dropped, then others added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkChange {
    /// Drops the marks at this offset and beyond.
    pub drop_from_offset: Option<u64>,
    /// Adds these; one at the same offset is replaced.
    pub add: Vec<Mark>,
}

/// Why an item is refused before anything is written: the caller's mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemFault {
    /// More than [`ITEM_ENTRIES_MAX`] entries.
    #[error("{0} entries, more than {ITEM_ENTRIES_MAX}")]
    Entries(usize),
    /// An entry longer than [`ENTRY_BYTES_MAX`].
    #[error("an entry of {0} bytes, more than {ENTRY_BYTES_MAX}")]
    EntryBytes(usize),
    /// A checkpoint longer than [`CHECKPOINT_BYTES_MAX`].
    #[error("a checkpoint of {0} bytes, more than {CHECKPOINT_BYTES_MAX}")]
    CheckpointBytes(usize),
    /// L4: lines read are not records, ignored, repeats and refused.
    #[error("L4: the books do not balance: {0:?}")]
    Unbalanced(Books),
    /// L4: the books count other records than the entries are.
    #[error("L4: the books count {booked} records, the entries are {brought}")]
    Records {
        /// According to the books.
        booked: u64,
        /// According to the entries.
        brought: u64,
    },
    /// L4: the books count other refused lines than the drops do.
    #[error("L4: the books count {booked} refused lines, the drops {brought}")]
    Refused {
        /// According to the books.
        booked: u64,
        /// In drop entries and in open drops.
        brought: u64,
    },
}

impl Item<'_> {
    /// Checks what the item says about itself.
    pub(crate) fn check(&self) -> Result<(), ItemFault> {
        if self.entries.len() > ITEM_ENTRIES_MAX {
            return Err(ItemFault::Entries(self.entries.len()));
        }
        let longest = self
            .checkpoint
            .place
            .len()
            .max(self.checkpoint.decode_state.len());
        if longest > CHECKPOINT_BYTES_MAX {
            return Err(ItemFault::CheckpointBytes(longest));
        }
        if !self.books.balance() {
            return Err(ItemFault::Unbalanced(self.books));
        }
        self.check_entries()
    }

    fn check_entries(&self) -> Result<(), ItemFault> {
        let mut records = 0;
        let mut refused: u64 = self.open_losses.iter().map(OpenLoss::refused).sum();
        for (entry, meta) in self.entries.iter() {
            if entry.len() > ENTRY_BYTES_MAX {
                return Err(ItemFault::EntryBytes(entry.len()));
            }
            records += u64::from(meta.kind.is_record());
            if meta.kind == Kind::Drops {
                refused += dropped_lines(entry);
            }
        }
        if records != self.books.records {
            return Err(ItemFault::Records {
                booked: self.books.records,
                brought: records,
            });
        }
        if refused != self.books.refused {
            return Err(ItemFault::Refused {
                booked: self.books.refused,
                brought: refused,
            });
        }
        Ok(())
    }

    /// Whether what was open before is over now: an entry holds a received line, or says that nothing
    /// more is to come.
    pub(crate) fn closes_gaps(&self) -> bool {
        let mut entries = self.entries.iter();
        self.books.records > 0
            || entries.any(|(entry, meta)| meta.kind == Kind::Session && ends_watching(entry))
    }
}

fn ends_watching(entry: &[u8]) -> bool {
    let ends = [SessionKind::End, SessionKind::Detached];
    canonical::decode(entry).is_ok_and(|row| {
        ends.iter()
            .any(|end| row.cause.as_deref() == Some(end.word()))
    })
}

/// The lines that a `drops` entry counts.
pub(crate) fn dropped_lines(entry: &[u8]) -> u64 {
    canonical::decode(entry)
        .ok()
        .and_then(|row| row.count)
        .and_then(|count| u64::try_from(count).ok())
        .unwrap_or(0)
}
