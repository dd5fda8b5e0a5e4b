//! The reader: no lock, short reads, nothing written but SQLite's own `-wal` and `-shm`.

mod totals;

use std::ops::ControlFlow;

use boundlane_record::tree::{Edge, Hash};
use boundlane_record::{Fingerprint, Mark, Seq, TreeSize};
use rusqlite::Connection;

use crate::block::StreamId;
use crate::db;
use crate::error::{OpenError, ReadError};
use crate::head::{self, Head};
use crate::open_loss::{self, GrowingLoss};
use crate::schema;
use crate::state_dir::{StateDir, StateDirError};
use crate::stream::{self, StreamState};
use crate::walk::{Damage, Piece, Select, Walk};

pub use totals::{Ack, LossTotal, Totals};

/// A journal open for reading, beside any number of writers.
#[derive(Debug)]
pub struct Reader {
    db: Connection,
}

/// What [`Reader::each_entry`] meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// An entry's number and canonical bytes.
    Entry(Seq, &'a [u8]),
    /// Numbers whose entries cannot be read.
    Damaged(&'a Damage),
    /// Numbers that were pruned while reading: the archive has them.
    Pruned {
        /// The first of them.
        first: Seq,
        /// The last of them.
        last: Seq,
    },
}

impl Reader {
    /// Opens the journal of `dir`, `None` when there is none. Creates neither directory nor journal.
    ///
    /// # Errors
    /// [`OpenError`]; a newer program's journal is [`OpenError::NewerSchema`].
    pub fn open(dir: &StateDir) -> Result<Option<Reader>, OpenError> {
        Reader::open_file(&dir.journal_path())
    }

    /// Opens a journal file, as those under [`StateDir::journals_dir`]. `None` when it is not there.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_file(path: &std::path::Path) -> Result<Option<Reader>, OpenError> {
        match std::fs::metadata(path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            // A directory that is a file, or somebody else's: not the same as nothing recorded.
            Err(error) => return Err(StateDirError::io(path)(error).into()),
        }
        schema::check_file(path)?;
        let db = db::open_reader(path).map_err(db::at(path))?;
        schema::check_connection(path, &db)?;
        Ok(Some(Reader { db }))
    }

    /// What the journal is and how far it goes now.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn head(&self) -> Result<Head, ReadError> {
        head::read(&self.db)
    }

    /// The right edge of the tree at an older size. `None` when the journal is shorter, or the entries
    /// needed for it are pruned.
    ///
    /// # Errors
    /// [`ReadError`]; what is needed cannot be read.
    pub fn edge_at(&self, size: TreeSize) -> Result<Option<Edge>, ReadError> {
        let snapshot = self.db.unchecked_transaction()?;
        head::edge_at(&snapshot, size)
    }

    /// The root of the tree at an older size, as [`Reader::edge_at`].
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn root_at(&self, size: TreeSize) -> Result<Option<Hash>, ReadError> {
        Ok(self.edge_at(size)?.map(|edge| edge.root()))
    }

    /// The blocks that `select` names, through the head of this moment, holes in their place.
    ///
    /// # Errors
    /// [`ReadError`], here and from the iterator, which ends with it.
    pub fn blocks<'r>(&'r self, select: Select<'r>) -> Result<Blocks<'r>, ReadError> {
        Ok(Blocks {
            walk: Some(Walk::begin(&self.db, select)?),
            db: &self.db,
        })
    }

    /// Calls `each` with every entry that `select` names, until it breaks.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn each_entry<B>(
        &self,
        select: Select<'_>,
        mut each: impl FnMut(Found<'_>) -> ControlFlow<B>,
    ) -> Result<Option<B>, ReadError> {
        let mut walk = Walk::begin(&self.db, select)?;
        while let Some(piece) = walk.next(&self.db)? {
            let flow = match &piece {
                Piece::Block(block) => block
                    .entries()
                    .try_for_each(|(seq, entry)| each(Found::Entry(seq, entry))),
                Piece::Damaged(damage) => each(Found::Damaged(damage)),
                Piece::Pruned { first, last } => each(Found::Pruned {
                    first: *first,
                    last: *last,
                }),
            };
            if let ControlFlow::Break(answer) = flow {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// All streams, in the order in which they began.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn streams(&self) -> Result<Vec<StreamState>, ReadError> {
        Ok(stream::all(&self.db)?)
    }

    /// The streams of a sandbox, by its name or its id.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn streams_of(&self, sandbox: &str) -> Result<Vec<StreamState>, ReadError> {
        Ok(stream::of_sandbox(&self.db, sandbox)?)
    }

    /// The stream called `name`.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn stream(&self, name: &str) -> Result<Option<StreamState>, ReadError> {
        Ok(stream::by_name(&self.db, name)?)
    }

    /// A stream's marks, ascending by offset.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn marks(&self, stream: StreamId) -> Result<Vec<Mark>, ReadError> {
        Ok(stream::marks(&self.db, stream)?)
    }

    /// Fingerprints of a stream's last lines, oldest first.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn fingerprints(&self, stream: StreamId) -> Result<Vec<Fingerprint>, ReadError> {
        Ok(stream::fingerprints(&self.db, stream)?)
    }

    /// Losses that have no number yet, oldest first.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn open_losses(&self) -> Result<Vec<GrowingLoss>, ReadError> {
        Ok(open_loss::all(&self.db)?)
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.db
    }
}

/// The pieces of a journal, each read when it is asked for.
pub struct Blocks<'r> {
    db: &'r Connection,
    walk: Option<Walk<'r>>,
}

impl Iterator for Blocks<'_> {
    type Item = Result<Piece, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.walk.as_mut()?.next(self.db).transpose();
        if !matches!(next, Some(Ok(_))) {
            self.walk = None;
        }
        next
    }
}

impl std::fmt::Debug for Blocks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").finish_non_exhaustive()
    }
}
