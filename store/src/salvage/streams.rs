//! Checkpoints: taken over where they agree with the entries, else known to be lost.

use boundlane_record::Seq;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::copy::Fault;
use super::image::{Image, Met};
use super::record::Record;
use super::tables::Tables;

/// Columns of a stream's row in the first schema.
const COLUMNS_MIN: usize = 22;

/// Streams whose checkpoint cannot be gone on from, by what is known of them; and, of each stream, the last
/// number that was read of it.
const SCRATCH: &str = "
CREATE TEMP TABLE lost (stream INTEGER PRIMARY KEY);
CREATE TEMP TABLE seen (stream INTEGER PRIMARY KEY, last INTEGER NOT NULL);
";

pub(super) fn begin(copy: &Connection) -> rusqlite::Result<()> {
    copy.execute_batch(SCRATCH)
}

/// Takes what may be a stream's row. Of two versions the later one counts: a page that was given up can
/// still hold the earlier.
pub(super) fn take(copy: &Connection, tables: &Tables, record: &Record) -> rusqlite::Result<()> {
    let (Value::Integer(id), Value::Text(stream), Some(Value::Integer(version))) =
        (&record[0], &record[1], record.get(6))
    else {
        return Ok(());
    };
    if record.len() < COLUMNS_MIN || *id < 1 || *version < 1 {
        return Ok(());
    }
    let known: Option<i64> = copy
        .prepare_cached("SELECT max(version) FROM streams WHERE id = ?1 OR stream = ?2")?
        .query_row(params![id, stream], |row| row.get(0))?;
    if known.is_none_or(|known| known < *version) {
        tables.put(copy, "streams", record)?;
    }
    Ok(())
}

/// The id of a stream that an entry names; one that has no row gets one without a checkpoint.
pub(super) fn id_of(copy: &Connection, row: &boundlane_record::Row<'_>) -> rusqlite::Result<i64> {
    let Some(stream) = row.stream.as_deref() else {
        return Ok(0);
    };
    let known: Option<i64> = copy
        .prepare_cached("SELECT id FROM streams WHERE stream = ?1")?
        .query_row([stream], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    copy.prepare_cached(
        "INSERT INTO streams (stream, sandbox, sandbox_id, workspace, source, version, place, \
         decode_state, policy_known, entries, lines_read, records, ignored, repeats, refused) \
         VALUES (?1, ?2, ?3, ?4, ?5, 0, '', '', 0, 0, 0, 0, 0, 0, 0)",
    )?
    .insert(params![
        stream,
        row.sandbox.as_deref(),
        row.sandbox_id.as_deref(),
        row.workspace.as_deref(),
        row.source.as_deref().unwrap_or(""),
    ])
}

/// Notes that an entry of `stream` was read.
pub(super) fn saw(copy: &Connection, stream: i64, seq: Seq) -> rusqlite::Result<()> {
    copy.prepare_cached(
        "INSERT INTO temp.seen VALUES (?1, ?2) \
         ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
    )?
    .execute(params![stream, seq.0])?;
    Ok(())
}

/// Takes a table of digests; streams that may miss some have lost their place.
pub(super) fn digests(
    copy: &Connection,
    tables: &Tables,
    image: &mut Image,
    table: &str,
    is_sound: fn(&[u8]) -> bool,
) -> Result<(), Fault> {
    let mut failed = Ok(());
    // Rows are in the order of their streams: what lies between two of them is of these or between.
    let (mut before, mut hole) = (0, false);
    let mut holes = Vec::new();
    image.follow(tables.root(table), &mut |met| {
        let record = match met {
            Met::Row(cell) => cell.record,
            Met::Hole => Record::new(),
        };
        let [
            Value::Integer(stream),
            Value::Integer(_),
            Value::Blob(bytes),
        ] = &record[..]
        else {
            hole = true;
            return;
        };
        if !is_sound(bytes) || *stream < before {
            hole = true;
            return;
        }
        if std::mem::take(&mut hole) {
            holes.push((before, *stream));
        }
        before = *stream;
        if let Err(error) = tables.put(copy, table, &record) {
            failed = Err(error);
        }
    })?;
    failed?;
    if hole {
        holes.push((before, i64::MAX));
    }
    for (from, to) in holes {
        copy.execute(
            "INSERT OR IGNORE INTO temp.lost SELECT id FROM streams WHERE id BETWEEN ?1 AND ?2",
            [from, to],
        )?;
    }
    Ok(())
}

/// Finds the streams whose rows contradict themselves or what was read of them: an older state of the row,
/// or bytes that changed.
pub(super) fn judge(copy: &Connection, size: u64) -> rusqlite::Result<()> {
    copy.execute(
        "INSERT OR IGNORE INTO temp.lost SELECT s.id FROM main.streams AS s \
         LEFT JOIN temp.seen AS e ON e.stream = s.id \
         WHERE s.version < 1 OR e.last > coalesce(s.last, 0) OR s.last > ?1 \
         OR s.lines_read <> s.records + s.ignored + s.repeats + s.refused \
         OR (s.place <> '' AND NOT json_valid(s.place)) \
         OR (s.decode_state <> '' AND NOT json_valid(s.decode_state))",
        [size],
    )?;
    Ok(())
}

/// Whether losses without a number are of streams that lost their checkpoints: nothing goes on from them.
pub(super) fn leave_open_losses(copy: &Connection) -> rusqlite::Result<bool> {
    copy.query_row(
        "SELECT EXISTS (SELECT 1 FROM open_losses WHERE stream IN (SELECT stream FROM temp.lost) \
         OR stream NOT IN (SELECT id FROM main.streams))",
        [],
        |row| row.get(0),
    )
}

/// Streams that keep their checkpoints, and those that lost them.
pub(super) fn count(copy: &Connection) -> rusqlite::Result<(u64, u64)> {
    copy.query_row(
        "SELECT (SELECT count(*) FROM main.streams) - (SELECT count(*) FROM temp.lost), \
         (SELECT count(*) FROM temp.lost)",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Marks in the copy itself which streams have no checkpoint: version 0, which no checkpoint has.
pub(super) fn end(copy: &Connection) -> rusqlite::Result<()> {
    copy.execute_batch(
        "UPDATE main.streams SET version = 0 WHERE id IN (SELECT stream FROM temp.lost);
         DROP TABLE temp.lost;
         DROP TABLE temp.seen;",
    )
}
