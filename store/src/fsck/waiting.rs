//! L4 and L5: what waits for a consumer, counted anew from the blocks.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::{Findings, FsckError, Law};
use crate::admission::Waiting;
use crate::block::StreamId;
use crate::queue;
use crate::schema;
use crate::stream::StreamState;

/// Compares the counters with the blocks that the slowest consumer has not taken whole.
pub(super) fn compare(
    db: &Connection,
    streams: &[StreamState],
    findings: &mut Findings<'_>,
) -> Result<(), FsckError> {
    if schema::version(db)? < 2 {
        return Ok(());
    }
    let unlisted: u64 = db.query_row(
        "SELECT count(*) FROM blocks WHERE length(body) <> (SELECT coalesce(sum(stored_bytes), 0) \
         FROM block_streams WHERE block_streams.first = blocks.first \
         AND block_streams.stream IN (SELECT value FROM json_each(\
         '[' || replace(blocks.streams, ' ', ',') || ']')))",
        [],
        |row| row.get(0),
    )?;
    if unlisted > 0 {
        let what = format!("{unlisted} blocks are not divided among their streams");
        findings.add(Law::L5, "table `block_streams`", what);
    }
    let should = by_stream(db)?;
    let is = counted(db)?;
    for stream in streams {
        let should = should.get(&stream.id).copied().unwrap_or_default();
        let is = is.get(&stream.id).copied().unwrap_or_default();
        if is != should {
            let what = format!("waiting is {is:?}, its blocks say {should:?}");
            findings.add(
                Law::L4,
                format_args!("stream `{}`", stream.name.stream),
                what,
            );
        }
    }
    let mut sum = Waiting::default();
    for waiting in should.values() {
        sum.general += waiting.general;
        sum.last_tenth += waiting.last_tenth;
    }
    let is = queue::all(db)?;
    if is != sum {
        let what = format!("waiting is {is:?}, the blocks say {sum:?}");
        findings.add(Law::L4, "table `journal`", what);
    }
    Ok(())
}

type ByStream = BTreeMap<StreamId, Waiting>;

fn by_stream(db: &Connection) -> rusqlite::Result<ByStream> {
    let taken = queue::taken_through(db)?;
    db.prepare(
        "SELECT sum(entries - tenth_entries), sum(stored_bytes - tenth_bytes), sum(tenth_entries), \
         sum(tenth_bytes), stream FROM block_streams WHERE first IN \
         (SELECT first FROM blocks WHERE last > ?1) GROUP BY stream",
    )?
    .query_map(params![taken.0], |row| {
        Ok((StreamId(row.get(4)?), queue::waiting(row)?))
    })?
    .collect()
}

fn counted(db: &Connection) -> rusqlite::Result<ByStream> {
    db.prepare(
        "SELECT waiting_entries, waiting_bytes, tenth_entries, tenth_bytes, id FROM streams",
    )?
    .query_map([], |row| Ok((StreamId(row.get(4)?), queue::waiting(row)?)))?
    .collect()
}
