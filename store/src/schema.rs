//! The schema's number, and what a file's first bytes say before SQLite sees them.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rusqlite::Connection;

use crate::db;
use crate::error::{NewerSchema, OpenError};

/// The schema that this program writes.
pub const JOURNAL_SCHEMA: u32 = 2;

/// The tables, commented.
pub(crate) const SQL: &str = include_str!("schema.sql");

const APPLICATION_ID: u32 = 0x426e_646c;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Checks that `path` is a journal that this program knows, without touching it.
///
/// Another program's schema is told from the file's header. A change of schema that still lies in the
/// `-wal` shows in [`check_connection`].
pub(crate) fn check_file(path: &Path) -> Result<(), OpenError> {
    let header = read_header(path).map_err(crate::state_dir::StateDirError::io(path))?;
    let damaged = |why: &str| OpenError::Damaged {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    let header = header.ok_or_else(|| damaged("it is shorter than a header"))?;
    if &header[..16] != MAGIC {
        return Err(damaged("it is not an SQLite file"));
    }
    check_numbers(
        path,
        big_endian(&header[68..72]),
        big_endian(&header[60..64]),
    )
}

/// The same through an open connection, which sees the `-wal` too.
pub(crate) fn check_connection(path: &Path, db: &Connection) -> Result<(), OpenError> {
    let application = db.pragma_query_value(None, "application_id", |row| row.get::<_, u32>(0));
    let numbers = application.and_then(|id| Ok((id, version(db)?)));
    let (application, version) = numbers.map_err(db::at(path))?;
    check_numbers(path, application, version)
}

/// The schema of the file under the connection.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn check_numbers(path: &Path, application: u32, version: u32) -> Result<(), OpenError> {
    if application != APPLICATION_ID || version == 0 {
        return Err(OpenError::Damaged {
            path: path.to_owned(),
            why: "it is not a journal of this program".into(),
        });
    }
    if version > JOURNAL_SCHEMA {
        return Err(NewerSchema {
            written_by: written_by(path).unwrap_or_else(|| "a newer version".into()),
            found: version,
            ours: JOURNAL_SCHEMA,
        }
        .into());
    }
    Ok(())
}

/// How long the file's header says that it is; `None` when it does not.
pub(crate) fn stated_bytes(path: &Path) -> io::Result<Option<u64>> {
    let Some(header) = read_header(path)? else {
        return Ok(None);
    };
    let page_bytes = match big_endian(&header[16..18]) {
        1 => 65536,
        bytes => u64::from(bytes),
    };
    // The count is good when it was written by the last change.
    let is_of_last = header[24..28] == header[92..96];
    Ok(is_of_last.then(|| page_bytes * u64::from(big_endian(&header[28..32]))))
}

fn read_header(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut header = Vec::with_capacity(100);
    File::open(path)?.take(100).read_to_end(&mut header)?;
    Ok((header.len() == 100).then_some(header))
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Who laid the schema out. For a message only: without locks, so that not even a `-shm` is made.
fn written_by(path: &Path) -> Option<String> {
    let db = db::open_immutable(path).ok()?;
    db.query_row("SELECT written_by FROM journal", [], |row| row.get(0))
        .ok()
}
