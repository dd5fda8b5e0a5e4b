//! This machine's journals, as the query engine reads them.

use boundlane_archive::{Root, list};
use boundlane_query::{LiveBlock, LiveBlocks, LiveHead, LiveJournal};
use boundlane_record::{Row, Seq};
use boundlane_store::{Piece, Reader, Select, StateDir};

use crate::commands::recorded::older::{self, Older};

/// Blocks that one read fetches: short reads, so that no writer waits for a slow question.
const BLOCKS_PER_READ: usize = 64;

/// The journals of one state directory. Every call opens them anew and sees what is there then.
pub(super) struct Journals {
    pub(super) dir: StateDir,
    /// The archive beside them: after a fork it holds other entries under the same numbers.
    pub(super) archive: Root,
}

impl Journals {
    fn current(&self) -> Option<Reader> {
        Reader::open(&self.dir).ok().flatten()
    }

    /// Those that were set aside.
    fn older(&self) -> Vec<Older> {
        let directory = self.dir.journals_dir();
        if !older::are_there(&directory) {
            return Vec::new();
        }
        older::all(&directory, &list(&self.archive).files).0
    }

    fn of(&self, file: &str) -> Option<Reader> {
        let current = self.current();
        if let Some(reader) = current
            && reader.head().is_ok_and(|head| head.journal == file)
        {
            return Some(reader);
        }
        let mut older = self.older().into_iter();
        older
            .find(|older| name_of(older) == file)
            .map(|older| older.reader)
    }
}

/// The journal's id, or the path of a file whose history has parted from the one with that id.
fn name_of(older: &Older) -> String {
    match older.parts_after {
        Some(_) => older.path.to_string_lossy().into_owned(),
        None => older.head.journal.clone(),
    }
}

fn head_of_older(older: &Older) -> LiveHead {
    let pruned = older.head.pruned.next();
    LiveHead {
        journal: older.head.journal.clone(),
        file: name_of(older),
        first: older
            .parts_after
            .map_or(pruned, |after| after.next().max(pruned)),
        size: older.head.size,
    }
}

impl LiveJournal for Journals {
    fn journals(&self) -> Vec<LiveHead> {
        let mut heads: Vec<LiveHead> = self.older().iter().map(head_of_older).collect();
        let head = |reader: Reader| {
            let head = reader.head().ok()?;
            Some(LiveHead {
                file: head.journal.clone(),
                journal: head.journal,
                first: head.pruned.next(),
                size: head.size,
            })
        };
        heads.extend(self.current().and_then(head));
        heads
    }

    fn blocks(&self, file: &str, after: Seq) -> LiveBlocks {
        let Some(reader) = self.of(file) else {
            return Box::new(std::iter::once(Err("the journal is gone".to_owned())));
        };
        Box::new(Reading {
            reader,
            after,
            fetched: Vec::new().into_iter(),
            ended: false,
        })
    }

    fn open_losses(&self) -> Vec<Row<'static>> {
        let Some(reader) = self.current() else {
            return Vec::new();
        };
        let (Ok(streams), Ok(losses)) = (reader.streams(), reader.open_losses()) else {
            return Vec::new();
        };
        let row = |loss: &boundlane_store::GrowingLoss| {
            let stream = streams.iter().find(|stream| stream.id == loss.stream)?;
            Some(loss.row(&stream.name, loss.grown).into_owned())
        };
        losses.iter().filter_map(row).collect()
    }
}

/// Blocks in number order, fetched a few at a time.
struct Reading {
    reader: Reader,
    after: Seq,
    fetched: std::vec::IntoIter<Result<LiveBlock, String>>,
    ended: bool,
}

impl Reading {
    fn fetch(&mut self) -> Result<Vec<Result<LiveBlock, String>>, String> {
        let select = Select::all().after(self.after);
        let blocks = self
            .reader
            .blocks(select)
            .map_err(|error| error.to_string())?;
        let mut fetched = Vec::with_capacity(BLOCKS_PER_READ);
        for piece in blocks.take(BLOCKS_PER_READ) {
            let (last, block) = match piece.map_err(|error| error.to_string())? {
                Piece::Block(block) => {
                    let (first, last) = (block.header.first, block.header.last);
                    (
                        last,
                        Ok(LiveBlock {
                            first,
                            ndjson: block.bytes().to_vec(),
                        }),
                    )
                }
                Piece::Damaged(damage) => (
                    damage.last,
                    Err(format!(
                        "entries {} to {}: {}",
                        damage.first, damage.last, damage.why
                    )),
                ),
                Piece::Pruned { first, last } => (
                    last,
                    Err(format!("entries {first} to {last} were pruned meanwhile")),
                ),
            };
            self.after = last;
            fetched.push(block);
        }
        Ok(fetched)
    }
}

impl Iterator for Reading {
    type Item = Result<LiveBlock, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(block) = self.fetched.next() {
                return Some(block);
            }
            if self.ended {
                return None;
            }
            match self.fetch() {
                Ok(fetched) => {
                    self.ended = fetched.len() < BLOCKS_PER_READ;
                    self.fetched = fetched.into_iter();
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
