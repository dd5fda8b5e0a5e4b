//! Walking blocks in number order or against it, one short read at a time, holes included.

use boundlane_record::Seq;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::block::{Block, BlockHeader, COLUMNS, Fault, Read, StoredBlock, StreamId};
use crate::error::ReadError;

/// Which blocks to read, and in which order.
pub struct Select<'s> {
    after: Seq,
    through: Option<Seq>,
    streams: Vec<StreamId>,
    newest_first: bool,
    wanted: Box<dyn Fn(&BlockHeader) -> bool + 's>,
}

impl<'s> Select<'s> {
    /// Everything that the journal holds now, oldest first.
    pub fn all() -> Select<'s> {
        Select {
            after: Seq(0),
            through: None,
            streams: Vec::new(),
            newest_first: false,
            wanted: Box::new(|_| true),
        }
    }

    /// Only numbers after this one.
    pub fn after(mut self, after: Seq) -> Select<'s> {
        self.after = after;
        self
    }

    /// Only numbers through this one.
    pub fn through(mut self, through: Seq) -> Select<'s> {
        self.through = Some(through);
        self
    }

    /// Only blocks that hold entries of one of these streams; the other entries in them come along.
    /// Nothing is read of the other blocks, so holes among them are not noticed.
    pub fn streams(mut self, streams: Vec<StreamId>) -> Select<'s> {
        self.streams = streams;
        self
    }

    /// The newest block first. Within a block entries stay in number order.
    pub fn newest_first(mut self) -> Select<'s> {
        self.newest_first = true;
        self
    }

    /// Only blocks whose header `wanted` accepts: the others are neither checked nor unpacked.
    pub fn only(mut self, wanted: impl Fn(&BlockHeader) -> bool + 's) -> Select<'s> {
        self.wanted = Box::new(wanted);
        self
    }
}

impl std::fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Select")
            .field("after", &self.after)
            .field("through", &self.through)
            .field("streams", &self.streams)
            .field("newest_first", &self.newest_first)
            .finish_non_exhaustive()
    }
}

/// What a walk meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A block.
    Block(Box<Block>),
    /// Numbers whose entries cannot be read: a gap of exactly these.
    Damaged(Damage),
    /// Numbers that were pruned while the walk went on.
    Pruned {
        /// The first of them.
        first: Seq,
        /// The last of them.
        last: Seq,
    },
}

/// Numbers whose entries cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The first of them.
    pub first: Seq,
    /// The last of them.
    pub last: Seq,
    /// What is wrong with the block.
    pub why: &'static str,
}

/// A walk over the blocks of one connection. Each step is one short read.
pub(crate) struct Walk<'s> {
    select: Select<'s>,
    /// Numbers not yet met: after the first, through the second.
    left: (Seq, Seq),
    range: (Seq, Seq),
    unpacker: zstd::bulk::Decompressor<'static>,
}

/// One row as a step found it.
struct Row {
    first: Seq,
    read: Result<Read, Fault>,
}

impl<'s> Walk<'s> {
    /// Begins at the numbers that the journal holds now.
    pub(crate) fn begin(db: &Connection, select: Select<'s>) -> Result<Walk<'s>, ReadError> {
        let (size, pruned) = bounds(db)?;
        let through = select.through.map_or(size, |through| through.min(size));
        let after = select.after.max(pruned).min(through);
        let unpacker = zstd::bulk::Decompressor::new()
            .map_err(|_| ReadError::Damaged("no memory to unpack blocks"))?;
        Ok(Walk {
            select,
            left: (after, through),
            range: (after, through),
            unpacker,
        })
    }

    /// The next piece, `None` at the end.
    pub(crate) fn next(&mut self, db: &Connection) -> Result<Option<Piece>, ReadError> {
        loop {
            let (after, through) = self.left;
            if after >= through {
                return Ok(None);
            }
            let Some(row) = self.row(db)? else {
                self.left = (through, through);
                return self.hole(db, after.next(), through);
            };
            if let Some(piece) = self.step(db, row)? {
                return Ok(Some(piece));
            }
        }
    }

    fn row(&self, db: &Connection) -> Result<Option<Row>, ReadError> {
        match (self.select.streams.is_empty(), self.select.newest_first) {
            (true, false) => self.row_at(db, Which::OldestCovering, self.left.0.next()),
            (true, true) => self.row_at(db, Which::NewestUpTo, self.left.1),
            (false, newest_first) => self.row_of_streams(db, newest_first),
        }
    }

    fn row_at(&self, db: &Connection, which: Which, at: Seq) -> Result<Option<Row>, ReadError> {
        let mut statement = db.prepare_cached(&which.sql())?;
        let read = statement.query_row(params![at.0], |row| {
            Ok(Row {
                first: Seq(row.get(0)?),
                read: StoredBlock::read(row, &self.select.wanted),
            })
        });
        Ok(read.optional()?)
    }

    /// The nearest block that holds one of the streams.
    fn row_of_streams(&self, db: &Connection, newest: bool) -> Result<Option<Row>, ReadError> {
        let (after, through) = self.left;
        let mut nearest: Option<u64> = None;
        let mut statement = db.prepare_cached(if newest {
            "SELECT max(first) FROM block_streams WHERE stream = ?1 AND first <= ?2"
        } else {
            "SELECT min(first) FROM block_streams WHERE stream = ?1 AND first >= ?2"
        })?;
        // The block that `after` lies in begins before it, and can hold later entries.
        let from = if newest {
            through
        } else {
            self.begin_of_block(db, after)?
        };
        for stream in &self.select.streams {
            let first = statement.query_row(params![stream.0, from.0], |row| row.get(0))?;
            nearest = match (nearest, first) {
                (Some(a), Some(b)) if newest => Some(u64::max(a, b)),
                (Some(a), Some(b)) => Some(u64::min(a, b)),
                (a, b) => a.or(b),
            };
        }
        match nearest {
            Some(first) if first <= through.0 => {
                let row = self.row_at(db, Which::Exactly, Seq(first))?;
                Ok(Some(row.unwrap_or(Row {
                    first: Seq(first),
                    read: Err("its row is missing"),
                })))
            }
            _ => Ok(None),
        }
    }

    /// The first number of the block that holds the number after `after`.
    fn begin_of_block(&self, db: &Connection, after: Seq) -> Result<Seq, ReadError> {
        let mut statement = db.prepare_cached(
            "SELECT first FROM (SELECT first, last FROM blocks WHERE first <= ?1 \
             ORDER BY first DESC LIMIT 1) WHERE last >= ?1",
        )?;
        let first = statement.query_row([after.0 + 1], |row| row.get(0));
        Ok(Seq(first.optional()?.unwrap_or(after.0 + 1)))
    }

    /// Moves on over `row`. `None` when its block was not wanted.
    fn step(&mut self, db: &Connection, row: Row) -> Result<Option<Piece>, ReadError> {
        let (after, through) = self.left;
        let whole = self.select.streams.is_empty();
        // Numbers between the last piece and this row are in no block.
        if whole && !self.select.newest_first && row.first > after.next() {
            let last = Seq(row.first.0 - 1).min(through);
            self.left.0 = last;
            return self.hole(db, after.next(), last);
        }
        let (header, read) = match row.read {
            Ok(Read::Skipped(header)) => (Ok(header), None),
            Ok(Read::Whole(stored)) => (Ok(stored.header.clone()), Some(stored)),
            Err(why) => (Err(why), None),
        };
        let header = match header {
            Ok(header) => header,
            Err(why) => return self.damage(db, row.first, why).map(Some),
        };
        if whole && self.select.newest_first && header.last < through {
            self.left.1 = header.last.max(after);
            return self.hole(db, header.last.next().max(after.next()), through);
        }
        self.pass(header.first, header.last);
        let Some(stored) = read else {
            return Ok(None);
        };
        match stored.unpack(&mut self.unpacker) {
            Ok(mut block) => {
                block.clip(self.range.0, self.range.1);
                let any = block.entries().len() > 0;
                Ok(any.then(|| Piece::Block(Box::new(block))))
            }
            Err(why) => self.damaged(db, header.first, why).map(Some),
        }
    }

    /// Leaves a block behind.
    fn pass(&mut self, first: Seq, last: Seq) {
        let (after, through) = self.left;
        if self.select.newest_first {
            self.left.1 = Seq(first.0 - 1).min(through).max(after);
        } else {
            self.left.0 = last.max(after).min(through);
        }
    }

    /// A row that cannot be read: its numbers reach to the next block.
    fn damage(&mut self, db: &Connection, first: Seq, why: Fault) -> Result<Piece, ReadError> {
        let last = last_before_next(db, first)?;
        self.pass(first, last);
        self.damaged(db, first, why)
    }

    fn damaged(&self, db: &Connection, first: Seq, why: Fault) -> Result<Piece, ReadError> {
        let last = last_before_next(db, first)?;
        Ok(Piece::Damaged(Damage {
            first: first.max(self.range.0.next()),
            last: last.min(self.range.1),
            why,
        }))
    }

    /// Numbers that no block holds: pruned since the walk began, or missing.
    fn hole(&self, db: &Connection, first: Seq, last: Seq) -> Result<Option<Piece>, ReadError> {
        if !self.select.streams.is_empty() || first > last {
            return Ok(None);
        }
        let (_, pruned) = bounds(db)?;
        if last <= pruned {
            return Ok(Some(Piece::Pruned { first, last }));
        }
        Ok(Some(Piece::Damaged(Damage {
            first,
            last,
            why: "no block holds these numbers",
        })))
    }
}

/// Which row a step takes.
#[derive(Clone, Copy)]
enum Which {
    OldestCovering,
    NewestUpTo,
    Exactly,
}

impl Which {
    fn sql(&self) -> String {
        let condition = match self {
            // The block that begins at or before a number, if it reaches it, else the next one.
            Which::OldestCovering => {
                "first >= coalesce((SELECT first FROM (SELECT first, last FROM blocks \
                 WHERE first <= ?1 ORDER BY first DESC LIMIT 1) WHERE last >= ?1), ?1) \
                 ORDER BY first LIMIT 1"
            }
            Which::NewestUpTo => "first <= ?1 ORDER BY first DESC LIMIT 1",
            Which::Exactly => "first = ?1",
        };
        format!("SELECT {COLUMNS} FROM blocks WHERE {condition}")
    }
}

fn bounds(db: &Connection) -> Result<(Seq, Seq), ReadError> {
    let mut statement = db.prepare_cached("SELECT size, pruned FROM journal")?;
    let bounds = statement.query_row([], |row| Ok((Seq(row.get(0)?), Seq(row.get(1)?))));
    Ok(bounds?)
}

fn last_before_next(db: &Connection, first: Seq) -> Result<Seq, ReadError> {
    let mut statement = db.prepare_cached(
        "SELECT coalesce((SELECT min(first) FROM blocks WHERE first > ?1) - 1, \
         (SELECT size FROM journal))",
    )?;
    Ok(Seq(statement.query_row([first.0], |row| row.get(0))?))
}
