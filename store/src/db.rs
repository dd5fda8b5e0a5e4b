//! Connections: how SQLite is set up for the writer and for readers.

use std::ffi::c_int;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, MAIN_DB, OpenFlags};

use crate::error::OpenError;

/// How long a connection waits for another's lock.
pub(crate) const BUSY_SECONDS_MAX: u64 = 10;
/// Pages in the `-wal` before a commit also moves them into the file: 8 MiB of 4 KiB pages.
const WAL_PAGES: u32 = 2048;
/// What the `-wal` is cut to when it begins anew: one great commit's worth.
const WAL_BYTES_KEPT: u32 = 32 * 1024 * 1024;
/// Statements kept prepared: more than the crate has.
const STATEMENTS: usize = 96;

/// Maps SQLite's word on opening `path`.
pub(crate) fn at(path: &Path) -> impl FnOnce(rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    move |source| match source.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
            OpenError::Damaged {
                path,
                why: source.to_string(),
            }
        }
        _ => OpenError::Sqlite { path, source },
    }
}

/// The writer's connection to a file that exists. Closing it keeps `-wal` and `-shm`, so that readers
/// who may not create files in the directory can read.
pub(crate) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    durable(&db)?;
    let mut persist: c_int = 1;
    db.file_control(Some(MAIN_DB), FileControl::PersistWal(&mut persist))?;
    Ok(db)
}

/// Whether closing the last connection moves the `-wal` into the file. Not before the file is known to be
/// sound: a damaged one is kept as it was found.
pub(crate) fn move_wal_on_close(db: &Connection, moves: bool) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !moves)?;
    Ok(())
}

/// The same for a file that is being laid out: closing it leaves the file alone.
pub(crate) fn open_builder(path: &Path) -> rusqlite::Result<Connection> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    durable(&db)?;
    Ok(db)
}

/// The same for a file that is made again when a crash comes between: it has no `-wal`, and nothing is on
/// the disk before its maker says so.
pub(crate) fn open_scratch(path: &Path) -> rusqlite::Result<Connection> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.pragma_update(None, "synchronous", "OFF")?;
    db.pragma_update(None, "temp_store", "FILE")?;
    Ok(db)
}

/// Every commit is on the disk when it returns.
fn durable(db: &Connection) -> rusqlite::Result<()> {
    switch_journal_mode(db, "wal")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
    db.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
    db.pragma_update(None, "temp_store", "MEMORY")
}

/// A reader's connection.
///
/// A directory or a medium that cannot be written has room for no `-shm`. Where there is no `-wal`
/// either, no writer lives (each makes one with its first statement and keeps it), so the file is then
/// read as one that does not change.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    match db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
        Err(error) if cannot_open(&error) && !beside(path, "-wal").exists() => open_immutable(path),
        Err(error) => Err(error),
        Ok(()) => Ok(db),
    }
}

fn cannot_open(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
    )
}

/// A connection that takes no locks and makes no files: for a file that nobody writes.
pub(crate) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let path = path
        .to_str()
        .ok_or_else(|| rusqlite::Error::InvalidPath(path.to_owned()))?;
    let escaped = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    open(Path::new(&format!("file:{escaped}?immutable=1")), flags)
}

fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(Duration::from_secs(BUSY_SECONDS_MAX))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(db)
}

/// Whether the file under the connection is no longer the one at its path.
pub(crate) fn has_moved(db: &Connection) -> rusqlite::Result<bool> {
    let mut moved: c_int = 0;
    db.file_control(Some(MAIN_DB), FileControl::HasMoved(&mut moved))?;
    Ok(moved != 0)
}

/// `path` with `suffix` after its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the file one without `-wal`, complete in itself. Nobody else may have it open.
pub(crate) fn end_wal(db: &Connection) -> rusqlite::Result<()> {
    let mut persist: c_int = 0;
    db.file_control(Some(MAIN_DB), FileControl::PersistWal(&mut persist))?;
    switch_journal_mode(db, "delete")
}

/// SQLite answers with the mode that is in force, which is the old one where it could not switch.
fn switch_journal_mode(db: &Connection, mode: &str) -> rusqlite::Result<()> {
    let now: String = db.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))?;
    if now == mode {
        return Ok(());
    }
    let why = format!("journal mode is `{now}`, not `{mode}`");
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
    Err(rusqlite::Error::SqliteFailure(code, Some(why)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// A path that means something in a URI is still only a path.
    #[test]
    fn an_immutable_file_is_found_whatever_its_path_spells() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a%20b?mode=memory#c d");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE here (n); INSERT INTO here VALUES (7)")
            .unwrap();
        drop(db);
        let db = open_immutable(&path).unwrap();
        let n: i64 = db
            .query_row("SELECT n FROM here", [], |row| row.get(0))
            .unwrap();
        assert_eq!(n, 7);
        assert!(db.execute("INSERT INTO here VALUES (8)", []).is_err());
    }

    /// A busy or corrupt file is never read as one that does not change.
    #[test]
    fn only_a_file_that_cannot_be_opened_is_read_as_one_that_does_not_change() {
        let cannot = |code| {
            let code = rusqlite::ffi::Error::new(code);
            cannot_open(&rusqlite::Error::SqliteFailure(code, None))
        };
        assert!(cannot(rusqlite::ffi::SQLITE_CANTOPEN));
        assert!(cannot(rusqlite::ffi::SQLITE_READONLY));
        assert!(!cannot(rusqlite::ffi::SQLITE_BUSY));
        assert!(!cannot(rusqlite::ffi::SQLITE_CORRUPT));
    }
}
