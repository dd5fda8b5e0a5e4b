//! The writer.

mod carry;
mod damage;
mod layout;
mod migrate;
mod open;
mod rescue;
mod retention;
mod startup;
mod succession;

use boundlane_record::tree::Hash;
use boundlane_record::{Fingerprint, Mark, Micros, Seq, TreeSize};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::admission::Waiting;
use crate::block::StreamId;
use crate::commit::{Appended, Commit, Written};
use crate::db;
use crate::error::{AppendError, ReadError};
use crate::head::{self, Head};
use crate::item::{COMMIT_ITEMS_MAX, Item};
use crate::limits::{self, Limits};
use crate::lock::Gate;
use crate::open_loss::{self, GrowingLoss};
use crate::pack::Packer;
use crate::queue;
use crate::stream::{self, StreamState};

pub use damage::Salvaged;
pub use open::Opened;
pub use rescue::{Rescue, RescueError, Rescued, salvage_into};
pub use retention::{Prune, PruneTerms};
pub use startup::STARTUP_ENTRIES;
pub use succession::{Began, Predecessor, Why};

/// What a writer says about itself and its machine when it opens the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Name and version of the program.
    pub program: String,
    /// What the machine is called; for people.
    pub machine_label: String,
    /// The machine's own id (`/etc/machine-id`); only a keyed hash of it is kept.
    pub machine_id: Option<String>,
    /// The version of the redaction rules in use.
    pub redaction: u32,
    /// Now.
    pub now: Micros,
    /// Heads of journals as the archive's footers state them, oldest first.
    pub known_heads: Vec<KnownHead>,
}

/// A head that is known from elsewhere and that this journal must have on its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHead {
    /// The journal's id.
    pub journal: String,
    /// The size.
    pub size: TreeSize,
    /// The root at that size.
    pub root: Hash,
}

/// Who takes entries over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Consumer {
    /// The local archive, always.
    Archiver,
    /// The receiver, on an enrolled machine.
    Uploader,
}

impl Consumer {
    /// The word in the table.
    pub const fn word(self) -> &'static str {
        match self {
            Consumer::Archiver => "archiver",
            Consumer::Uploader => "uploader",
        }
    }
}

/// How far a consumer had acknowledged, and has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    /// Before.
    pub before: Seq,
    /// Now; never less.
    pub through: Seq,
}

/// Which open losses get a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number<'a> {
    /// All of them.
    All,
    /// All of one stream.
    Stream(&'a str),
    /// Drops that began before this moment.
    DropsOpenedBefore(Micros),
}

impl Number<'_> {
    fn takes(self, loss: &GrowingLoss, stream: &str) -> bool {
        match self {
            Number::All => true,
            Number::Stream(name) => name == stream,
            Number::DropsOpenedBefore(moment) => loss.kind == "drops" && loss.opened < moment,
        }
    }
}

/// The one journal of a state directory, open for writing.
///
/// Several processes may have it open at once; each commit reads what the others did. A commit that
/// fails for another reason than a full disk or a busy file closes it: every later call says
/// [`AppendError::Poisoned`], and opening it again checks what is there.
pub struct Journal {
    db: Connection,
    packer: Packer,
    id: String,
    poisoned: bool,
    /// Says to other writers that this one lives; dropped after the connection.
    gate: Gate,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal")
            .field("id", &self.id)
            .field("poisoned", &self.poisoned)
            .finish_non_exhaustive()
    }
}

impl Journal {
    /// The journal's id: 32 lower-case hex digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Commits whole items, in order: all of them or none. When it returns they are on the disk.
    ///
    /// # Errors
    /// [`AppendError`]; nothing was written. After [`AppendError::Conflict`], [`AppendError::Full`],
    /// [`AppendError::Busy`] and refused items the journal can be used on.
    pub fn append(&mut self, items: &[Item<'_>]) -> Result<Appended, AppendError> {
        if items.len() > COMMIT_ITEMS_MAX {
            return Err(AppendError::Items(items.len()));
        }
        for item in items {
            item.check().map_err(|fault| AppendError::Item {
                stream: item.stream.stream.clone(),
                fault,
            })?;
        }
        self.transaction(|db, packer| {
            let mut commit = Commit::begin(db, packer)?;
            let items = items
                .iter()
                .map(|item| commit.item(item))
                .collect::<Result<_, _>>()?;
            let (first, size) = commit.finish()?;
            Ok(Appended { first, size, items })
        })
    }

    /// Gives open losses their numbers, as entries observed at `now`. Returns how many.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn number_open_losses(
        &mut self,
        which: Number<'_>,
        now: Micros,
    ) -> Result<u64, AppendError> {
        if open_loss::all(&self.db)?.is_empty() {
            return Ok(0);
        }
        self.transaction(|db, packer| {
            let mut commit = Commit::begin(db, packer)?;
            let mut numbered = 0;
            for loss in open_loss::all(db)? {
                let name = stream::name(db, loss.stream)?
                    .ok_or(AppendError::Damaged("an open loss of no stream"))?;
                if !which.takes(&loss, &name.stream) {
                    continue;
                }
                let mut written = Written::default();
                commit.number(&loss, &name, now, &mut written)?;
                commit.note_entries(loss.stream, &written)?;
                numbered += written.entries();
            }
            commit.finish()?;
            Ok(numbered)
        })
    }

    /// Notes that `consumer` has taken over everything through this number. Never goes back.
    ///
    /// # Errors
    /// [`AppendError::Beyond`] for a number that was not given, [`AppendError::Pruned`] for a new consumer
    /// that would still need what is gone; else as [`Journal::append`].
    pub fn acknowledge(
        &mut self,
        consumer: Consumer,
        through: Seq,
        now: Micros,
    ) -> Result<Acknowledged, AppendError> {
        self.transaction(|db, _| {
            let head = head::read(db)?;
            if through.0 > head.size.0 {
                return Err(AppendError::Beyond {
                    through: through.0,
                    size: head.size.0,
                });
            }
            let taken = queue::taken_through(db)?;
            let before: Option<u64> = db
                .prepare_cached("SELECT through FROM acks WHERE consumer = ?1")?
                .query_row([consumer.word()], |row| row.get(0))
                .optional()?;
            if before.is_none() && through < head.pruned {
                return Err(AppendError::Pruned {
                    through: through.0,
                    pruned: head.pruned.0,
                });
            }
            let acknowledged = Acknowledged {
                before: Seq(before.unwrap_or(0)),
                through: through.max(Seq(before.unwrap_or(0))),
            };
            if before.is_none_or(|before| before < through.0) {
                db.prepare_cached(
                    "INSERT INTO acks (consumer, through, at) VALUES (?1, ?2, ?3) \
                     ON CONFLICT DO UPDATE SET through = excluded.through, at = excluded.at",
                )?
                .execute(params![consumer.word(), through.0, now.0])?;
                queue::taken(db, taken, queue::taken_through(db)?)?;
            }
            Ok(acknowledged)
        })
    }

    /// The bounds in force.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn limits(&self) -> Result<Limits, ReadError> {
        Ok(limits::read(&self.db)?)
    }

    /// What waits for a consumer, in whole blocks.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn waiting(&self) -> Result<Waiting, ReadError> {
        Ok(queue::all(&self.db)?)
    }

    /// Puts other bounds in force, for every writer of the directory. What waits already stays: a bound
    /// below it admits nothing until it fits.
    ///
    /// # Errors
    /// As [`Journal::append`].
    ///
    /// # Panics
    /// When a bound cannot be kept: [`Limits::check`] them where they come from.
    pub fn set_limits(&mut self, limits: &Limits) -> Result<(), AppendError> {
        assert_eq!(limits.check(), Ok(()));
        if self.limits()? == *limits {
            return Ok(());
        }
        self.transaction(|db, _| Ok(limits::write(db, limits)?))
    }

    /// What the journal is and how far it goes, other writers' commits included.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn head(&self) -> Result<Head, ReadError> {
        head::read(&self.db)
    }

    /// The stream called `name`.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn stream(&self, name: &str) -> Result<Option<StreamState>, ReadError> {
        Ok(stream::by_name(&self.db, name)?)
    }

    /// The streams of a sandbox, by its name or its id.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn streams_of(&self, sandbox: &str) -> Result<Vec<StreamState>, ReadError> {
        Ok(stream::of_sandbox(&self.db, sandbox)?)
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

    /// Runs `act` as one durable transaction; nothing of it stays when it fails.
    fn transaction<T>(
        &mut self,
        act: impl FnOnce(&Connection, &mut Packer) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        if self.poisoned {
            return Err(AppendError::Poisoned);
        }
        let done = transact(&mut self.db, &mut self.packer, act);
        // A transaction that could not even be rolled back must not be committed by the next one.
        self.poisoned = done.as_ref().is_err_and(AppendError::closes) || !self.db.is_autocommit();
        done
    }
}

/// One `BEGIN IMMEDIATE` transaction on the file that lies at the journal's path.
fn transact<T>(
    db: &mut Connection,
    packer: &mut Packer,
    act: impl FnOnce(&Connection, &mut Packer) -> Result<T, AppendError>,
) -> Result<T, AppendError> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if db::has_moved(&transaction)? {
        return Err(AppendError::Replaced);
    }
    let done = act(&transaction, packer)?;
    // Dropped on any error before this point, the transaction rolls back.
    transaction.commit()?;
    Ok(done)
}

#[cfg(test)]
mod power;
#[cfg(test)]
mod tests;
