//! Bringing a journal of an older schema to this one: after a copy is put aside, in one transaction.

use std::path::PathBuf;

use boundlane_record::Seq;
use rusqlite::{Connection, TransactionBehavior, params};

use super::layout;
use crate::db;
use crate::error::OpenError;
use crate::files;
use crate::queue;
use crate::schema::{self, JOURNAL_SCHEMA};
use crate::state_dir::{StateDir, StateDirError};

/// Schema 2 counts what waits for a consumer, by sandbox, and knows what may be pruned.
const TO_2: &str = "
ALTER TABLE journal ADD COLUMN waiting_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journal ADD COLUMN waiting_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journal ADD COLUMN tenth_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journal ADD COLUMN tenth_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN waiting_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN waiting_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN tenth_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN tenth_bytes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX streams_waiting ON streams (coalesce(sandbox_id, sandbox, stream))
  WHERE waiting_entries + tenth_entries > 0;
ALTER TABLE block_streams ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE block_streams ADD COLUMN tenth_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE block_streams ADD COLUMN tenth_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE block_streams SET stored_bytes = (
  SELECT length(body) * entries / (last - first + 1) FROM blocks WHERE blocks.first = block_streams.first);
UPDATE block_streams SET stored_bytes = stored_bytes + (
  SELECT length(body) FROM blocks WHERE blocks.first = block_streams.first) - (
  SELECT sum(stored_bytes) FROM block_streams AS all_of WHERE all_of.first = block_streams.first)
  WHERE stream = (SELECT CAST(streams AS INTEGER) FROM blocks WHERE blocks.first = block_streams.first);
ALTER TABLE acks ADD COLUMN settling INTEGER NOT NULL DEFAULT 0;
ALTER TABLE acks ADD COLUMN settling_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE acks ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
CREATE TABLE boot (id TEXT PRIMARY KEY, moment INTEGER NOT NULL) STRICT, WITHOUT ROWID;
PRAGMA user_version = 2;
";

/// Whether the file is of an older schema.
pub(super) fn is_needed(db: &Connection) -> rusqlite::Result<bool> {
    Ok(schema::version(db)? < JOURNAL_SCHEMA)
}

/// Migrates the journal under `db`, which nobody else has open. The old file is kept beside the older
/// journals.
pub(super) fn migrate(dir: &StateDir, db: &mut Connection, program: &str) -> Result<(), OpenError> {
    let path = dir.journal_path();
    let at = |error| db::at(&path)(error);
    let kept = keep(dir, db)?;
    let transaction = db
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(at)?;
    // What this rests on is read inside, where nobody can change it.
    if is_needed(&transaction).map_err(at)? {
        transaction.execute_batch(TO_2).map_err(at)?;
        let taken = queue::taken_through(&transaction).map_err(at)?;
        queue::taken(&transaction, Seq(u64::MAX >> 1), taken).map_err(at)?;
        transaction
            .execute("UPDATE journal SET written_by = ?1", params![program])
            .map_err(at)?;
    }
    transaction.commit().map_err(at)?;
    debug_assert!(kept.exists());
    Ok(())
}

/// Copies the file, its `-wal` included, among the older journals; a copy of an earlier attempt stays. It
/// gets the name of one when it is whole: whatever has such a name is read as a journal.
fn keep(dir: &StateDir, db: &Connection) -> Result<PathBuf, OpenError> {
    let journal = dir.journal_path();
    let (id, version) = db
        .query_row("SELECT id FROM journal", [], |row| row.get::<_, String>(0))
        .and_then(|id| Ok((id, schema::version(db)?)))
        .map_err(db::at(&journal))?;
    let name = format!("{id}.schema-{version}");
    let journals = dir.journals_dir();
    let io = |error| OpenError::Dir(StateDirError::io(&journals)(error));
    let kept = layout::free_path(&journals, &name).map_err(io)?;
    let draft = db::beside(&journals.join(name), ".building");
    files::remove_if_there(&draft).map_err(io)?;
    files::create_private(&draft).map_err(io)?;
    let text = draft.to_str();
    let text = text.ok_or_else(|| io(std::io::Error::other("the path is not UTF-8")))?;
    db.execute("VACUUM INTO ?1", [text])
        .map_err(db::at(&draft))?;
    files::sync_file(&draft)
        .and_then(|()| files::rename(&draft, &kept))
        .and_then(|()| files::sync_dir(&journals))
        .map_err(io)?;
    Ok(kept)
}
