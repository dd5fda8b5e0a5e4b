//! What the tables say of each other, and what SQLite says of its file.

use rusqlite::Connection;

use super::{Findings, FsckError, Law};
use crate::head::Head;

/// Complaints of SQLite that are reported.
const COMPLAINTS_MAX: u32 = 100;

/// SQLite's own check of pages, indexes and types.
pub(super) fn integrity(db: &Connection, findings: &mut Findings<'_>) -> Result<(), FsckError> {
    let mut check = db.prepare(&format!("PRAGMA integrity_check({COMPLAINTS_MAX})"))?;
    let mut rows = check.query([])?;
    while let Some(row) = rows.next()? {
        let word: String = row.get(0)?;
        if word != "ok" {
            findings.add(Law::L1, "file", word);
        }
    }
    Ok(())
}

/// A condition that no row may meet.
struct Forbidden {
    law: Law,
    place: &'static str,
    what: &'static str,
    /// Counts the rows that meet it. `?1` is the journal's size.
    sql: &'static str,
}

const FORBIDDEN: [Forbidden; 11] = [
    Forbidden {
        law: Law::L4,
        place: "table `acks`",
        what: "a number was acknowledged that was not given",
        sql: "SELECT count(*) FROM acks WHERE through > ?1",
    },
    Forbidden {
        law: Law::L1,
        place: "table `acks`",
        what: "a number was pruned that was not acknowledged",
        sql: "SELECT count(*) FROM acks, journal WHERE through < pruned AND ?1 >= 0",
    },
    Forbidden {
        law: Law::L1,
        place: "table `prunes`",
        what: "a number was pruned that was not given, or more is gone than was stated",
        sql: "SELECT count(*) FROM journal WHERE pruned > ?1 \
              OR pruned <> coalesce((SELECT max(through) FROM prunes), 0)",
    },
    Forbidden {
        law: Law::L9,
        place: "table `subtrees`",
        what: "there are more or fewer hashes than the size asks for",
        sql: "SELECT abs((SELECT count(*) FROM subtrees WHERE n * 256 + 256 <= ?1) - ?1 / 256) \
              + (SELECT count(*) FROM subtrees WHERE n * 256 + 256 > ?1)",
    },
    Forbidden {
        law: Law::L2,
        place: "table `blocks`",
        what: "a block holds numbers beyond the journal's size",
        sql: "SELECT count(*) FROM blocks WHERE last > ?1",
    },
    Forbidden {
        law: Law::L1,
        place: "table `block_streams`",
        what: "a block is listed that is not there",
        sql: "SELECT count(*) FROM block_streams \
              WHERE ?1 >= 0 AND first NOT IN (SELECT first FROM blocks)",
    },
    Forbidden {
        law: Law::L3,
        place: "table `marks`",
        what: "a mark is of no stream, or is not 32 bytes",
        sql: "SELECT count(*) FROM marks WHERE ?1 >= 0 AND (length(digest) <> 32 OR offset < 0 \
              OR stream NOT IN (SELECT id FROM streams))",
    },
    Forbidden {
        law: Law::L3,
        place: "table `fingerprints`",
        what: "fingerprints are of no stream, or not 16 bytes each",
        sql: "SELECT count(*) FROM fingerprints WHERE ?1 >= 0 AND (length(digests) % 16 <> 0 \
              OR stream NOT IN (SELECT id FROM streams))",
    },
    Forbidden {
        law: Law::L5,
        place: "table `fingerprints`",
        what: "a stream keeps more lines than the limit, beyond those appended with the oldest kept",
        sql: "SELECT count(*) FROM (SELECT stream FROM fingerprints AS f WHERE ?1 >= 0 \
              AND through > (SELECT min(through) FROM fingerprints WHERE stream = f.stream) \
              GROUP BY stream HAVING sum(length(digests)) / 16 > 4096)",
    },
    Forbidden {
        law: Law::L4,
        place: "table `open_losses`",
        what: "an open loss is of no stream, or is neither gap nor drops",
        sql: "SELECT count(*) FROM open_losses WHERE ?1 >= 0 AND (kind NOT IN ('gap', 'drops') \
              OR stream NOT IN (SELECT id FROM streams))",
    },
    Forbidden {
        law: Law::L3,
        place: "table `streams`",
        what: "a stream has no checkpoint, or numbers that were not given",
        sql: "SELECT count(*) FROM streams WHERE version < 1 OR last > ?1",
    },
];

/// Checks what a row may not say, whatever the entries are.
pub(super) fn check(
    db: &Connection,
    head: &Head,
    findings: &mut Findings<'_>,
) -> Result<(), FsckError> {
    for forbidden in &FORBIDDEN {
        let rows: u64 = db.query_row(forbidden.sql, [head.size.0], |row| row.get(0))?;
        if rows > 0 {
            findings.add(forbidden.law, forbidden.place, forbidden.what);
        }
    }
    Ok(())
}
