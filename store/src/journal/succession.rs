//! How a journal begins, and how one that is not itself any more is followed by another.

use std::path::Path;

use boundlane_record::tree::{Edge, Hash};
use boundlane_record::{
    EntryBatch, Extent, Gap, GapCause, Micros, Row, SCHEMA_VERSION, Session, SessionKind,
    StreamName, TreeSize,
};
use rusqlite::{Connection, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::{Setup, carry};
use crate::block::StreamId;
use crate::commit::{Commit, Written};
use crate::db;
use crate::error::{AppendError, OpenError};
use crate::pack::Packer;
use crate::salvage::Salvage;
use crate::schema::{self, JOURNAL_SCHEMA};
use crate::state_dir::{StateDir, StateDirError, hex, random_bytes};

/// Why a journal begins; the `why` of its `journal_start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There was none.
    New,
    /// The machine was enrolled.
    Enrolled,
    /// The one before has another history than a head known from elsewhere.
    Fork,
    /// The one before was damaged.
    Salvaged,
    /// The one before is an older copy, or another machine's.
    Restored,
    /// The one before is gone.
    StateLost,
}

impl Why {
    /// The word in `journal_start`.
    pub const fn word(self) -> &'static str {
        match self {
            Why::New => "new",
            Why::Enrolled => "enrolled",
            Why::Fork => "fork",
            Why::Salvaged => "salvaged",
            Why::Restored => "restored",
            Why::StateLost => "state_lost",
        }
    }

    /// The gap that such a beginning leaves.
    const fn gap(self) -> Option<GapCause> {
        match self {
            Why::New | Why::Enrolled => None,
            Why::Fork => Some(GapCause::Forked),
            Why::Salvaged => Some(GapCause::Damaged),
            Why::Restored => Some(GapCause::Restored),
            Why::StateLost => Some(GapCause::CheckpointLost),
        }
    }
}

/// The journal before, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// Its id.
    pub journal: String,
    /// The greatest size known of it.
    pub size: TreeSize,
    /// The root at that size, `None` when it was lost with the entries.
    pub root: Option<Hash>,
}

/// A journal that began in this opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Began {
    /// Why.
    pub why: Why,
    /// The journal before it.
    pub predecessor: Option<Predecessor>,
}

/// A keyed hash of the machine's id: tells whether it is the same machine, and not which.
pub(super) fn machine_hash(key: &[u8; 32], machine_id: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"boundlane machine\0");
    hasher.update(key);
    hasher.update(machine_id.trim());
    hasher.finalize().into()
}

/// Tells whether `digest.key` is the one that the journal began with.
pub(super) fn key_hash(key: &[u8; 32]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"boundlane digest key\0");
    hasher.update(key);
    hasher.finalize().into()
}

/// Builds a whole journal file of one or two entries, ready to be installed.
pub(super) fn build(
    dir: &StateDir,
    setup: &Setup,
    key: &[u8; 32],
    began: &Began,
) -> Result<(), OpenError> {
    build_after(dir, setup, key, began, None)
}

/// The same after a salvage, of which the file lies at the path if it has anything: the new journal says
/// what is missing and goes on from the checkpoints.
pub(super) fn build_after(
    dir: &StateDir,
    setup: &Setup,
    key: &[u8; 32],
    began: &Began,
    salvaged: Option<(&Salvage, Option<&Path>)>,
) -> Result<(), OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    let path = super::layout::begin_building(dir).map_err(io)?;
    let id = hex(&random_bytes::<16>().map_err(io)?);
    let mut packer = Packer::new().map_err(io)?;
    let at = |error| db::at(&path)(error);
    let mut db = db::open_builder(&path).map_err(at)?;
    let from = salvaged.and_then(|(_, from)| from);
    if let Some(from) = from {
        carry::attach(&db, from).map_err(db::at(from))?;
    }
    let filled = rows(&db, setup, began, salvaged).and_then(|rows| {
        fill(&mut db, &mut packer, &rows, |db| {
            insert_journal(db, &id, setup, key, began)?;
            from.map_or(Ok(()), |_| carry::checkpoints(db))
        })
    });
    filled.map_err(|error| failed(&path, error))?;
    db.close().map_err(|(_, error)| at(error))?;
    super::layout::end_building(dir).map_err(io)
}

fn fill(
    db: &mut Connection,
    packer: &mut Packer,
    rows: &EntryBatch,
    insert_journal: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), AppendError> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(schema::SQL)?;
    insert_journal(&transaction)?;
    let mut commit = Commit::begin(&transaction, packer)?;
    let mut written = Written::default();
    commit.own_entries(StreamId::JOURNAL, rows, &mut written)?;
    commit.note_entries(StreamId::JOURNAL, &written)?;
    commit.finish()?;
    transaction.commit()?;
    Ok(())
}

fn failed(path: &Path, error: AppendError) -> OpenError {
    match error {
        AppendError::Failed(source) => db::at(path)(source),
        other => OpenError::Damaged {
            path: path.to_owned(),
            why: other.to_string(),
        },
    }
}

fn insert_journal(
    db: &Connection,
    id: &str,
    setup: &Setup,
    key: &[u8; 32],
    began: &Began,
) -> rusqlite::Result<()> {
    let machine = setup.machine_id.as_deref().map(|id| machine_hash(key, id));
    db.execute(
        "INSERT INTO journal (one, written_by, id, created, why, machine_label, machine_hash, \
         key_hash, size, edge, pruned, stored_bytes, lines_read, records, ignored, repeats, refused) \
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, 0, 0, 0, 0, 0, 0, 0)",
        params![
            setup.program,
            id,
            setup.now.0,
            began.why.word(),
            setup.machine_label,
            machine,
            key_hash(key),
            Edge::new().to_bytes(),
        ],
    )?;
    Ok(())
}

/// Entry 1, and the gaps that go with a journal that follows another against its will.
fn rows(
    db: &Connection,
    setup: &Setup,
    began: &Began,
    salvaged: Option<(&Salvage, Option<&Path>)>,
) -> Result<EntryBatch, AppendError> {
    let mut batch = EntryBatch::new();
    let start = Session {
        what: SessionKind::JournalStart,
        from: None,
        to: None,
        count: None,
        evidence: Some(start_evidence(setup, began)),
    };
    batch.push(&start.row(None, setup.now));
    if let Some(cause) = began.why.gap() {
        let gap = Gap {
            cause,
            extent: Extent::Unknown,
            from: None,
            to: Some(setup.now),
            after_cursor: None,
            before_cursor: None,
            evidence: gap_evidence(began, salvaged.map(|(salvage, _)| salvage)),
        };
        push_about_journal(&gap, &StreamName::default(), setup.now, &mut batch);
    }
    if let Some((salvage, from)) = salvaged {
        let lost = match from {
            Some(_) => carry::lost(db)?,
            None => Vec::new(),
        };
        for (name, gap) in carry::gaps(salvage, lost, setup.now) {
            push_about_journal(&gap, &name, setup.now, &mut batch);
        }
    }
    Ok(batch)
}

/// The journal before, and after a salvage what is missing of it.
fn gap_evidence(began: &Began, salvage: Option<&Salvage>) -> Option<String> {
    let predecessor = began.predecessor.as_ref().map(Predecessor::json);
    let Some(salvage) = salvage else {
        return predecessor.map(|predecessor| predecessor.to_string());
    };
    let mut evidence = predecessor.unwrap_or_else(|| serde_json::json!({}));
    carry::state(salvage, &mut evidence);
    Some(evidence.to_string())
}

/// A gap of the journal itself belongs to no stream, and to no source unless one is named.
fn push_about_journal(gap: &Gap, name: &StreamName, now: Micros, batch: &mut EntryBatch) {
    let row = gap.row(name, now);
    let source = row.source.clone().filter(|source| !source.is_empty());
    batch.push(&Row {
        stream: None,
        source,
        ..row
    });
}

fn start_evidence(setup: &Setup, began: &Began) -> String {
    let mut evidence = serde_json::json!({
        "program": setup.program,
        "schema": SCHEMA_VERSION,
        "journal_schema": JOURNAL_SCHEMA,
        "redaction": setup.redaction,
        "machine_label": setup.machine_label,
        "why": began.why.word(),
    });
    if let Some(predecessor) = &began.predecessor {
        evidence["predecessor"] = predecessor.json();
    }
    evidence.to_string()
}

impl Predecessor {
    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "journal": self.journal,
            "size": self.size.0,
            "root": self.root.map(Hash::to_hex),
        })
    }
}
