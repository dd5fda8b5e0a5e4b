//! Why the journal cannot be opened, written or read.

use std::path::PathBuf;

use crate::item::ItemFault;
use crate::state_dir::StateDirError;

/// A journal that a newer program laid out. Not damage: nothing was touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this journal has schema {found}, written by {written_by}; this program knows {ours}: use that program, or another `--state-dir`"
)]
pub struct NewerSchema {
    /// The program that laid it out, as it calls itself.
    pub written_by: String,
    /// The schema found.
    pub found: u32,
    /// The newest schema known here.
    pub ours: u32,
}

/// Why a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The state directory cannot be used.
    #[error(transparent)]
    Dir(#[from] StateDirError),
    /// A newer program's journal; exit 3.
    #[error(transparent)]
    NewerSchema(#[from] NewerSchema),
    /// The file does not hold what it must.
    #[error("`{}` is damaged: {why}; run `boundlane fsck`", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
    /// The journal must be set aside, and another process writes it.
    #[error("{why}, and another process writes this journal: stop it and try again")]
    InUse {
        /// Why it must be set aside.
        why: String,
    },
    /// SQLite or the disk refused.
    #[error("`{}` cannot be opened: {source}; see that this user may write there, then run `boundlane fsck`", path.display())]
    Sqlite {
        /// The journal.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
}

/// Why a commit did not happen. Nothing of it is in the journal.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Another writer moved this stream's checkpoint: read the stream again and go on from there.
    #[error("the checkpoint of stream `{stream}` was moved by another process")]
    Conflict {
        /// The stream's name.
        stream: String,
    },
    /// The caller brought something that must not be written.
    #[error("stream `{stream}`: {fault}")]
    Item {
        /// The stream's name.
        stream: String,
        /// What is wrong.
        fault: ItemFault,
    },
    /// More than [`crate::COMMIT_ITEMS_MAX`] items.
    #[error("{0} items in one commit, more than {max}", max = crate::COMMIT_ITEMS_MAX)]
    Items(usize),
    /// A number beyond the last one was acknowledged.
    #[error("entry {through} was acknowledged, the last one is {size}")]
    Beyond {
        /// What was acknowledged.
        through: u64,
        /// The journal's size.
        size: u64,
    },
    /// A new consumer begins before what is pruned: it would never get that.
    #[error("entries through {pruned} are pruned, a new consumer has only {through}")]
    Pruned {
        /// What it has.
        through: u64,
        /// What is gone.
        pruned: u64,
    },
    /// There is no room for records of a source that can wait. Nothing was written.
    #[error("{waiting} entries wait for a consumer: there is no room for more")]
    QueueFull {
        /// Entries that wait, of all sandboxes.
        waiting: u64,
    },
    /// The disk is full. Rolled back; the journal can be used.
    #[error("the disk is full")]
    Full,
    /// Another writer held the file for too long. Rolled back; the journal can be used.
    #[error(
        "another process kept the journal locked for {} s",
        crate::db::BUSY_SECONDS_MAX
    )]
    Busy,
    /// The file was moved or replaced since it was opened: open it again.
    #[error("the journal was moved or replaced; open it again")]
    Replaced,
    /// An earlier commit failed: open the journal again.
    #[error("an earlier commit failed; open the journal again")]
    Poisoned,
    /// The commit failed. The journal must be opened again, which checks it.
    #[error("the journal could not be written: {0}")]
    Failed(rusqlite::Error),
    /// What the journal holds does not fit together. It must be opened again, which checks it.
    #[error("the journal is damaged: {0}; run `boundlane fsck`")]
    Damaged(&'static str),
}

impl AppendError {
    /// Whether the journal must be opened again.
    pub fn closes(&self) -> bool {
        matches!(
            self,
            AppendError::Replaced
                | AppendError::Poisoned
                | AppendError::Failed(_)
                | AppendError::Damaged(_)
        )
    }
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> AppendError {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => AppendError::Full,
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
                AppendError::Busy
            }
            _ => AppendError::Failed(error),
        }
    }
}

impl From<ReadError> for AppendError {
    fn from(error: ReadError) -> AppendError {
        match error {
            ReadError::Sqlite(error) => error.into(),
            ReadError::Damaged(what) => AppendError::Damaged(what),
        }
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// SQLite or the disk refused.
    #[error("the journal could not be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// What the journal holds does not fit together.
    #[error("the journal is damaged: {0}; run `boundlane fsck`")]
    Damaged(&'static str),
}
