//! Opening the journal for writing: create it, or check it and, where it must be, follow it by another.

use std::path::PathBuf;

use boundlane_record::TreeSize;
use boundlane_record::tree::Hash;
use rusqlite::{Connection, params};

use super::startup::{self, Identity};
use super::succession::{self, Began, Predecessor, Why};
use super::{Journal, Number, Salvaged, Setup, damage, layout, migrate};
use crate::db;
use crate::error::{AppendError, OpenError, ReadError};
use crate::head;
use crate::lock::Gate;
use crate::pack::Packer;
use crate::schema;
use crate::state_dir::{StateDir, StateDirError};
use crate::stream;

/// How often an opening that meets another writer's begins again.
const ATTEMPTS_MAX: u32 = 8;

/// What opening the journal found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The journal's id.
    pub journal: String,
    /// Its size.
    pub size: TreeSize,
    /// The root at that size.
    pub root: Hash,
    /// Set when the journal began just now.
    pub began: Option<Began>,
    /// Where the journal before it was moved.
    pub set_aside: Option<PathBuf>,
    /// What was damaged, and what could be read of it.
    pub salvaged: Option<Salvaged>,
    /// How many of the last entries had their hashes derived again.
    pub entries_checked: u64,
    /// Losses that a crash left open and that got their numbers now.
    pub losses_numbered: u64,
    /// Whether `digest.key` is another than before: marks and fingerprints were void and are gone.
    pub key_replaced: bool,
}

impl Journal {
    /// Opens the journal of `dir` for writing; directory, key and journal are created when they are not
    /// there. A journal that is another machine's, an older copy, or whose history contradicts a known
    /// head is set aside, and a new one begins. So it is with a damaged one, when nobody else has it open:
    /// what can be read of it is salvaged.
    ///
    /// # Errors
    /// [`OpenError`]; a newer program's journal is not touched.
    pub fn open(dir: &StateDir, setup: &Setup) -> Result<(Journal, Opened), OpenError> {
        dir.create()?;
        for _ in 1..ATTEMPTS_MAX {
            if let Some(opened) = attempt(dir, setup)? {
                return Ok(opened);
            }
        }
        let why = if dir.journal_path().exists() {
            "the journal is replaced again and again"
        } else {
            "the journal is not in its place"
        };
        Err(OpenError::InUse { why: why.into() })
    }
}

impl Journal {
    /// Numbers what a crash left open: nobody else lives who could let it grow. A full disk leaves it.
    fn number_left(&mut self, dir: &StateDir, setup: &Setup) -> Result<u64, OpenError> {
        match self.number_open_losses(Number::All, setup.now) {
            Err(AppendError::Full | AppendError::Busy) => Ok(0),
            numbered => numbered.map_err(|error| append(dir, error)),
        }
    }
}

/// One way through. `None` when another writer replaced or has not yet created what was to be opened.
fn attempt(dir: &StateDir, setup: &Setup) -> Result<Option<(Journal, Opened)>, OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    let gate = Gate::enter(dir).map_err(io)?;
    let alone = gate.is_alone();
    let began = if alone { settle(dir, setup)? } else { None };
    if !dir.journal_path().exists() {
        return Ok(None);
    }
    let mut gate = Some(gate);
    match enter(dir, setup, &mut gate, began) {
        Err(error) if alone && damage::is_damage(&error) => {
            // What failed last may have given the gate away, and others may have come in.
            match gate.map_or_else(|| Gate::enter(dir).map_err(io), Ok)? {
                gate if gate.is_alone() => salvage(dir, setup, gate, &error),
                _ => Err(error),
            }
        }
        entered => entered,
    }
}

/// Replaces a damaged journal and opens the new one.
fn salvage(
    dir: &StateDir,
    setup: &Setup,
    gate: Gate,
    error: &OpenError,
) -> Result<Option<(Journal, Opened)>, OpenError> {
    let why = match error {
        OpenError::Damaged { why, .. } => why.clone(),
        OpenError::Sqlite { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    let (began, salvaged) = damage::replace(dir, setup, &why)?;
    drop(gate);
    let opened = attempt_after(dir, setup, began, salvaged.damaged.clone())?;
    Ok(opened.map(|(journal, opened)| {
        let salvaged = Some(salvaged);
        (journal, Opened { salvaged, ..opened })
    }))
}

/// Opens what is there: checks it, and follows it by another where it is not itself.
fn enter(
    dir: &StateDir,
    setup: &Setup,
    gate: &mut Option<Gate>,
    began: Option<Began>,
) -> Result<Option<(Journal, Opened)>, OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    let alone = gate.as_ref().is_some_and(Gate::is_alone);
    let key = dir.digest_key()?;
    let (mut db, entries_checked, stranger) = open_checked(dir, setup, &key, alone)?;
    if migrate::is_needed(&db).map_err(db::at(&dir.journal_path()))? {
        if !alone {
            let why = "an older version of this program writes to it; end that one first";
            return Err(OpenError::InUse { why: why.into() });
        }
        migrate::migrate(dir, &mut db, &setup.program)?;
    }
    if let Some((why, predecessor)) = stranger {
        if !alone {
            return Err(OpenError::InUse {
                why: reason(why).into(),
            });
        }
        let began = Began {
            why,
            predecessor: Some(predecessor),
        };
        let kept = follow(dir, setup, &key, db, &began)?;
        drop(gate.take());
        return attempt_after(dir, setup, began, kept);
    }
    let key_replaced = alone && rekey(&mut db, setup, &key).map_err(|error| read(dir, error))?;
    let id = head::read(&db).map_err(|error| read(dir, error))?.journal;
    let packer = Packer::new().map_err(io)?;
    let Some(gate) = gate.take() else {
        return Ok(None);
    };
    let mut journal = Journal {
        id,
        db,
        packer,
        poisoned: false,
        gate,
    };
    let losses_numbered = if alone {
        journal.number_left(dir, setup)?
    } else {
        0
    };
    journal.gate.share().map_err(io)?;
    if db::has_moved(&journal.db).map_err(db::at(&dir.journal_path()))? {
        return Ok(None);
    }
    let head = journal.head().map_err(|error| read(dir, error))?;
    let opened = Opened {
        journal: head.journal,
        size: head.size,
        root: head.root,
        began,
        set_aside: None,
        salvaged: None,
        entries_checked,
        losses_numbered,
        key_replaced,
    };
    Ok(Some((journal, opened)))
}

/// The opening after a journal was set aside: the same, and what happened is in the answer.
fn attempt_after(
    dir: &StateDir,
    setup: &Setup,
    began: Began,
    kept: PathBuf,
) -> Result<Option<(Journal, Opened)>, OpenError> {
    Ok(attempt(dir, setup)?.map(|(journal, opened)| {
        let opened = Opened {
            began: Some(began),
            set_aside: Some(kept),
            ..opened
        };
        (journal, opened)
    }))
}

/// Alone in the directory: ends what a crash interrupted, and lays out a journal where there is none.
fn settle(dir: &StateDir, setup: &Setup) -> Result<Option<Began>, OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    layout::resume(dir).map_err(io)?;
    if dir.journal_path().exists() {
        return Ok(None);
    }
    let began = match setup.known_heads.last() {
        None => Began {
            why: Why::New,
            predecessor: None,
        },
        Some(head) => Began {
            why: Why::StateLost,
            predecessor: Some(Predecessor {
                journal: head.journal.clone(),
                size: head.size,
                root: Some(head.root),
            }),
        },
    };
    succession::build(dir, setup, &dir.digest_key()?, &began)?;
    layout::install(dir).map_err(io)?;
    Ok(Some(began))
}

type Stranger = Option<(Why, Predecessor)>;

/// Opens the file that is there and checks it, in one snapshot.
fn open_checked(
    dir: &StateDir,
    setup: &Setup,
    key: &[u8; 32],
    alone: bool,
) -> Result<(Connection, u64, Stranger), OpenError> {
    let path = dir.journal_path();
    schema::check_file(&path)?;
    if alone {
        damage::inspect(dir, setup)?;
    }
    let db = db::open_writer(&path).map_err(db::at(&path))?;
    db::move_wal_on_close(&db, false).map_err(db::at(&path))?;
    schema::check_connection(&path, &db)?;
    let snapshot = db.unchecked_transaction().map_err(db::at(&path))?;
    let checked = startup::check(&snapshot).map_err(|error| read(dir, error))?;
    let stranger = startup::stranger(&snapshot, setup, key).map_err(|error| read(dir, error))?;
    drop(snapshot);
    db::move_wal_on_close(&db, true).map_err(db::at(&path))?;
    Ok((db, checked, stranger))
}

/// Builds the new journal, moves the old one aside as a single read-only file, installs the new one.
fn follow(
    dir: &StateDir,
    setup: &Setup,
    key: &[u8; 32],
    old: Connection,
    began: &Began,
) -> Result<PathBuf, OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    let path = dir.journal_path();
    let id = head::read(&old).map_err(|error| read(dir, error))?.journal;
    succession::build(dir, setup, key, began)?;
    db::end_wal(&old).map_err(db::at(&path))?;
    old.close().map_err(|(_, error)| db::at(&path)(error))?;
    let kept = layout::set_aside(dir, &id).map_err(io)?;
    layout::install(dir).map_err(io)?;
    Ok(kept)
}

/// Under another key the old marks and fingerprints compare with nothing.
fn rekey(db: &mut Connection, setup: &Setup, key: &[u8; 32]) -> Result<bool, ReadError> {
    if !Identity::read(db)?.has_other_key(key) {
        return Ok(false);
    }
    let machine = setup.machine_id.as_deref();
    let machine = machine.map(|id| succession::machine_hash(key, id));
    let transaction = db.transaction()?;
    stream::void_digests(&transaction)?;
    transaction.execute(
        "UPDATE journal SET key_hash = ?1, machine_hash = ?2",
        params![succession::key_hash(key), machine],
    )?;
    transaction.commit()?;
    Ok(true)
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Fork => "the journal's history contradicts the archive's",
        _ => "the journal is an older copy or another machine's",
    }
}

fn read(dir: &StateDir, error: ReadError) -> OpenError {
    let path = dir.journal_path();
    match error {
        ReadError::Sqlite(source) => db::at(&path)(source),
        ReadError::Damaged(why) => OpenError::Damaged {
            path,
            why: why.into(),
        },
    }
}

fn append(dir: &StateDir, error: AppendError) -> OpenError {
    let path = dir.journal_path();
    match error {
        AppendError::Failed(source) => db::at(&path)(source),
        other => OpenError::Damaged {
            path,
            why: other.to_string(),
        },
    }
}
