//! A commit and the queue: which entries are let in, and what waits afterwards.

use std::collections::{BTreeMap, HashMap};

use boundlane_record::{Books, DropCause, Drops, EntryBatch, EntryMeta, Outcome};

use super::Commit;
use crate::admission::{Door, Held, Region, Waiting};
use crate::block::StreamId;
use crate::error::AppendError;
use crate::item::{Item, WhenFull};
use crate::limits;
use crate::loss::{OpenLoss, Outcomes};
use crate::queue::{self, Moves};

/// The queue during one commit.
#[derive(Default)]
pub(super) struct Queue {
    bound: Held,
    /// What waits of all, with the most that this commit's entries can take.
    all: Waiting,
    /// The same of each sandbox that this commit brings entries of.
    shares: HashMap<String, Waiting>,
    /// What the rows of this commit add.
    added: BTreeMap<StreamId, Waiting>,
}

/// Which entries of an item are let in, and where.
pub(super) enum Admitted {
    /// All of them, outside the last tenth.
    All,
    /// One by one.
    Each(Vec<Option<Region>>),
}

impl Admitted {
    /// Where the entry is let in.
    pub(super) fn region(&self, index: usize) -> Option<Region> {
        match self {
            Admitted::All => Some(Region::General),
            Admitted::Each(regions) => regions[index],
        }
    }
}

/// What was refused of an item, by cause.
#[derive(Default)]
pub(super) struct Refused(Vec<(Drops, Outcomes)>);

impl Refused {
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The books of what is left.
    pub(super) fn leave(&self, books: Books) -> Books {
        let lines: u64 = self.0.iter().map(|(drops, _)| drops.count).sum();
        Books {
            records: books.records - lines,
            refused: books.refused + lines,
            ..books
        }
    }

    /// As losses that may still grow.
    pub(super) fn drops(self) -> impl Iterator<Item = OpenLoss> {
        self.0.into_iter().map(|(drops, outcomes)| {
            OpenLoss::Drops(Drops {
                evidence: Some(outcomes.to_json()),
                ..drops
            })
        })
    }

    fn add(&mut self, cause: DropCause, meta: &EntryMeta) {
        let at = self.0.iter().position(|(drops, _)| drops.cause == cause);
        let at = at.unwrap_or_else(|| {
            let none = Drops {
                cause,
                count: 0,
                denied: 0,
                from: meta.observed,
                to: meta.observed,
                evidence: None,
            };
            self.0.push((none, Outcomes::default()));
            self.0.len() - 1
        });
        let (drops, outcomes) = &mut self.0[at];
        drops.count += 1;
        drops.denied += u64::from(meta.outcome == Some(Outcome::Denied));
        drops.from = drops.from.min(meta.observed);
        drops.to = drops.to.max(meta.observed);
        outcomes.count(meta.outcome);
    }
}

impl Queue {
    pub(super) fn begin(db: &rusqlite::Connection) -> rusqlite::Result<Queue> {
        Ok(Queue {
            bound: queue::bound(db, &limits::read(db)?)?,
            all: queue::all(db)?,
            ..Queue::default()
        })
    }

    /// Counts entries that nobody asks for: losses, and what the journal says of itself.
    pub(super) fn let_in(&mut self, batch: &EntryBatch) {
        self.all.add(Region::General, all_of(batch));
    }

    /// The same for the share of a sandbox that has brought something in this commit.
    pub(super) fn count_share(&mut self, sharer: &str, batch: &EntryBatch) {
        if let Some(share) = self.shares.get_mut(sharer) {
            share.add(Region::General, all_of(batch));
        }
    }

    /// Counts what a row adds.
    pub(super) fn add(&mut self, stream: StreamId, waiting: Waiting) {
        let added = self.added.entry(stream).or_default();
        added.general += waiting.general;
        added.last_tenth += waiting.last_tenth;
    }
}

impl Commit<'_> {
    /// Decides on every entry of the item.
    pub(super) fn admit(&mut self, item: &Item<'_>) -> Result<(Admitted, Refused), AppendError> {
        let mut door = self.door(item)?;
        let needed = all_of(item.entries);
        let mut refused = Refused::default();
        let admitted = match item.when_full {
            // It waits until its share has room, and then comes in whole.
            WhenFull::Wait if item.books.records > 0 && door.holds_back() => {
                return Err(AppendError::QueueFull {
                    waiting: self.queue.all.all().entries,
                });
            }
            WhenFull::Refuse => one_by_one(&mut door, item, &mut refused),
            WhenFull::Shed if !door.has_room_for(needed) => {
                one_by_one(&mut door, item, &mut refused)
            }
            _ => {
                door.take(Region::General, needed);
                Admitted::All
            }
        };
        self.queue.all = door.queue;
        let sharer = queue::sharer(item.stream).to_owned();
        self.queue.shares.insert(sharer, door.share);
        Ok((admitted, refused))
    }

    fn door(&self, item: &Item<'_>) -> Result<Door, AppendError> {
        let sharer = queue::sharer(item.stream);
        let share = match self.queue.shares.get(sharer) {
            Some(share) => *share,
            None => queue::share(self.db, sharer)?,
        };
        Ok(Door {
            bound: self.queue.bound,
            queue: self.queue.all,
            share,
        })
    }

    /// Moves the counters of what waits.
    pub(super) fn count_waiting(&mut self) -> Result<(), AppendError> {
        for (stream, added) in std::mem::take(&mut self.queue.added) {
            queue::count(self.db, stream, added, Moves::In)?;
        }
        Ok(())
    }
}

/// The most that these entries can take.
fn all_of(batch: &EntryBatch) -> Held {
    Held {
        entries: batch.len() as u64,
        stored_bytes: batch.byte_len() as u64,
    }
}

/// Losses and sessions are always let in; each record is asked about.
fn one_by_one(door: &mut Door, item: &Item<'_>, refused: &mut Refused) -> Admitted {
    let is_disk_full = item.when_full == WhenFull::Refuse;
    let verdicts = item.entries.iter().map(|(entry, meta)| {
        let bytes = entry.len() as u64;
        if !meta.kind.is_record() {
            door.take(Region::General, Held::one(bytes));
            return Some(Region::General);
        }
        let verdict = match is_disk_full {
            true => Err(DropCause::DiskFull),
            false => door.admit(bytes, meta.matters),
        };
        match verdict {
            Ok(region) => Some(region),
            Err(cause) => {
                refused.add(cause, meta);
                None
            }
        }
    });
    Admitted::Each(verdicts.collect())
}
