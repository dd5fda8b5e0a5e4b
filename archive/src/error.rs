//! What can go wrong while an archive is written, named by who is at fault.

use std::path::{Path, PathBuf};

use boundlane_record::canonical::NotCanonical;
use boundlane_record::tree::{Edge, Hash};
use boundlane_record::{Seq, TreeSize};

/// A tree's size and root: what a file claims to end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// How many entries the tree has.
    pub size: TreeSize,
    /// Its root.
    pub root: Hash,
}

impl Head {
    /// The head of the tree with this right edge.
    pub fn of(edge: &Edge) -> Head {
        Head {
            size: edge.size(),
            root: edge.root(),
        }
    }
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.size, self.root)
    }
}

/// Why a range was not archived. Whatever it is, no file of the range that failed is in the table.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The disk refused.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Disk {
        /// What was tried: `create`, `write`, `sync`, `rename`, ...
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An entry of the caller cannot be rebuilt from columns, so it is no entry.
    #[error("entry {seq} is {source}; check the journal with `boundlane fsck`")]
    NotCanonical {
        /// Its number.
        seq: Seq,
        /// What does not fit.
        source: NotCanonical,
    },
    /// The caller left out a number or gave one twice.
    #[error("entry {got} came where {expected} was due")]
    OutOfOrder {
        /// The number that was due.
        expected: Seq,
        /// The number that came.
        got: Seq,
    },
    /// The archive holds another history of the same journal.
    #[error("`{}` holds another history of this journal (its head is {theirs}, ours is {ours}); nothing was written, keep both and run `boundlane fsck`", path.display())]
    Fork {
        /// The file that disagrees.
        path: PathBuf,
        /// The head it states.
        theirs: Head,
        /// The head over the entries given.
        ours: Head,
    },
    /// A file of the journal holds part of the range.
    #[error("`{}` already holds entries {first} to {last} of this journal, which only overlap the range from {ours} on; nothing was written", path.display())]
    Overlap {
        /// The file in the archive.
        path: PathBuf,
        /// Its first entry.
        first: Seq,
        /// Its last entry.
        last: Seq,
        /// The first or the last entry of the range given.
        ours: Seq,
    },
    /// Something unreadable stands where a file of this range belongs.
    #[error("`{}` is in the way: {why}; move it out of the archive and archive again", path.display())]
    InTheWay {
        /// What stands there.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What the disk gave back is not what was written.
    #[error("`{}` did not read back as it was written: {why}; nothing was published, check the disk", path.display())]
    ReadBack {
        /// The temporary file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// Columns could not be encoded.
    #[error("cannot encode `{}`: {source}", path.display())]
    Encode {
        /// The temporary file.
        path: PathBuf,
        /// What the encoder said.
        source: parquet::errors::ParquetError,
    },
    /// A thread of the run ended early; an earlier error was already returned, or a thread panicked.
    #[error("the archive run ended early; nothing more was published")]
    Stopped,
}

impl ArchiveError {
    pub(crate) fn disk(what: &'static str, path: &Path, source: std::io::Error) -> ArchiveError {
        ArchiveError::Disk {
            what,
            path: path.to_owned(),
            source,
        }
    }

    /// Tells a failing disk from a failing encoder, which reports both alike.
    pub(crate) fn encode(path: &Path, source: parquet::errors::ParquetError) -> ArchiveError {
        let parquet::errors::ParquetError::External(inner) = source else {
            return ArchiveError::Encode {
                path: path.to_owned(),
                source,
            };
        };
        match inner.downcast::<std::io::Error>() {
            Ok(io) => ArchiveError::disk("write", path, *io),
            Err(other) => ArchiveError::Encode {
                path: path.to_owned(),
                source: parquet::errors::ParquetError::External(other),
            },
        }
    }
}
