//! This machine's journals, as the query engine reads them.

use boundlane_query::{LiveBlock, LiveBlocks, LiveHead, LiveJournal};
use boundlane_record::{Row, Seq};
use boundlane_store::{Piece, Reader, Select, StateDir};

/// Blocks that one read fetches: short reads, so that no writer waits for a slow question.
const BLOCKS_PER_READ: usize = 64;

/// The journals of one state directory. Every call opens them anew and sees what is there then.
pub(super) struct Journals(pub(super) StateDir);

impl Journals {
    fn current(&self) -> Option<Reader> {
        Reader::open(&self.0).ok().flatten()
    }

    fn older(&self) -> impl Iterator<Item = Reader> {
        let files = std::fs::read_dir(self.0.journals_dir())
            .into_iter()
            .flatten()
            .flatten();
        let mut paths: Vec<_> = files.map(|file| file.path()).collect();
        paths.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "sqlite")
        });
        paths.sort();
        paths
            .into_iter()
            .filter_map(|path| Reader::open_file(&path).ok().flatten())
    }

    fn all(&self) -> impl Iterator<Item = Reader> {
        self.older().chain(self.current())
    }

    fn of(&self, journal: &str) -> Option<Reader> {
        self.all()
            .find(|reader| reader.head().is_ok_and(|head| head.journal == journal))
    }
}

impl LiveJournal for Journals {
    fn journals(&self) -> Vec<LiveHead> {
        let head = |reader: Reader| {
            let head = reader.head().ok()?;
            let pruned = reader.totals().ok()?.pruned;
            Some(LiveHead {
                journal: head.journal,
                first: Seq(pruned + 1),
                size: head.size,
            })
        };
        self.all().filter_map(head).collect()
    }

    fn blocks(&self, journal: &str, after: Seq) -> LiveBlocks {
        let Some(reader) = self.of(journal) else {
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
