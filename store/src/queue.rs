//! The queue in the file: what waits for a consumer, of all sandboxes and of each.
//!
//! It is counted in whole blocks: a block waits until the slowest consumer has its last entry. The
//! counters move in the transaction that writes the block, and in the one that acknowledges it.

use boundlane_record::{Seq, StreamName};
use rusqlite::{Connection, params};

use crate::admission::{Held, Waiting};
use crate::block::{BLOCK_ENTRIES_MAX, StreamId};
use crate::limits::Limits;

/// Whose share a stream's entries are of: its sandbox's.
pub(crate) fn sharer(name: &StreamName) -> &str {
    let sandbox = name.sandbox_id.as_deref().or(name.sandbox.as_deref());
    sandbox.unwrap_or(&name.stream)
}

/// What waits in all.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Waiting> {
    db.prepare_cached(
        "SELECT waiting_entries, waiting_bytes, tenth_entries, tenth_bytes FROM journal",
    )?
    .query_row([], waiting)
}

/// Of how many parts of the bound what the file takes besides bodies leaves one at least.
const LEFT_PARTS: u64 = 4;

/// The bound in bodies. Pages that are half full, and all other tables, take disk too: what they take now
/// is not there for bodies.
pub(crate) fn bound(db: &Connection, limits: &Limits) -> rusqlite::Result<Held> {
    let (used, bodies): (u64, u64) = db
        .prepare_cached(
            "SELECT (page_count - freelist_count) * page_size, stored_bytes FROM journal, \
             pragma_page_count, pragma_freelist_count, pragma_page_size",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let most = limits.queued_stored_bytes_max;
    Ok(Held {
        entries: limits.queued_entries_max,
        stored_bytes: most
            .saturating_sub(used.saturating_sub(bodies))
            .max(most / LEFT_PARTS),
    })
}

/// What waits of one sandbox, see [`sharer`].
pub(crate) fn share(db: &Connection, sharer: &str) -> rusqlite::Result<Waiting> {
    db.prepare_cached(
        "SELECT coalesce(sum(waiting_entries), 0), coalesce(sum(waiting_bytes), 0), \
         coalesce(sum(tenth_entries), 0), coalesce(sum(tenth_bytes), 0) FROM streams \
         WHERE waiting_entries + tenth_entries > 0 AND coalesce(sandbox_id, sandbox, stream) = ?1",
    )?
    .query_row([sharer], waiting)
}

/// The four columns, in the order of [`all`].
pub(crate) fn waiting(row: &rusqlite::Row<'_>) -> rusqlite::Result<Waiting> {
    Ok(Waiting {
        general: Held {
            entries: row.get(0)?,
            stored_bytes: row.get(1)?,
        },
        last_tenth: Held {
            entries: row.get(2)?,
            stored_bytes: row.get(3)?,
        },
    })
}

/// Whether something joins the queue or leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    In,
    Out,
}

/// Moves the counters of `stream` and those of the journal.
pub(crate) fn count(
    db: &Connection,
    stream: StreamId,
    waiting: Waiting,
    moves: Moves,
) -> rusqlite::Result<()> {
    let sign = match moves {
        Moves::In => 1,
        Moves::Out => -1,
    };
    let values = params![
        sign,
        waiting.general.entries,
        waiting.general.stored_bytes,
        waiting.last_tenth.entries,
        waiting.last_tenth.stored_bytes,
        stream.0
    ];
    db.prepare_cached(
        "UPDATE journal SET waiting_entries = waiting_entries + ?1 * ?2, \
         waiting_bytes = waiting_bytes + ?1 * ?3, tenth_entries = tenth_entries + ?1 * ?4, \
         tenth_bytes = tenth_bytes + ?1 * ?5 WHERE ?6 >= 0",
    )?
    .execute(values)?;
    db.prepare_cached(
        "UPDATE streams SET waiting_entries = waiting_entries + ?1 * ?2, \
         waiting_bytes = waiting_bytes + ?1 * ?3, tenth_entries = tenth_entries + ?1 * ?4, \
         tenth_bytes = tenth_bytes + ?1 * ?5 WHERE id = ?6",
    )?
    .execute(values)?;
    Ok(())
}

/// How far the slowest consumer is.
pub(crate) fn taken_through(db: &Connection) -> rusqlite::Result<Seq> {
    db.prepare_cached("SELECT coalesce(min(through), 0) FROM acks")?
        .query_row([], |row| row.get(0).map(Seq))
}

/// Moves the counters after the slowest consumer came from `before` to `now`.
pub(crate) fn taken(db: &Connection, before: Seq, now: Seq) -> rusqlite::Result<()> {
    let (low, high, moves) = match before <= now {
        true => (before, now, Moves::Out),
        // A consumer that came new and begins further back.
        false => (now, before, Moves::In),
    };
    let mut blocks = db.prepare_cached(
        "SELECT first, streams FROM blocks WHERE first > ?1 AND first <= ?2 AND last > ?3 AND last <= ?2",
    )?;
    let mut block_stream = db.prepare_cached(
        "SELECT entries - tenth_entries, stored_bytes - tenth_bytes, tenth_entries, tenth_bytes \
         FROM block_streams WHERE stream = ?1 AND first = ?2",
    )?;
    let from = low.0.saturating_sub(BLOCK_ENTRIES_MAX as u64);
    let mut rows = blocks.query(params![from, high.0, low.0])?;
    let mut sums = std::collections::BTreeMap::<StreamId, Waiting>::new();
    while let Some(row) = rows.next()? {
        let first: u64 = row.get(0)?;
        let streams = row.get_ref(1)?.as_str().unwrap_or_default();
        for id in streams
            .split_ascii_whitespace()
            .filter_map(|id| id.parse().ok())
        {
            let part = block_stream.query_row(params![id, first], waiting)?;
            let sum = sums.entry(StreamId(id)).or_default();
            sum.general += part.general;
            sum.last_tenth += part.last_tenth;
        }
    }
    sums.into_iter()
        .try_for_each(|(stream, sum)| count(db, stream, sum, moves))
}
