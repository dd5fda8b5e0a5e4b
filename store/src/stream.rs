//! What the journal keeps of each stream.

use boundlane_record::{Books, Fingerprint, Mark, Micros, PolicyInForce, Seq, StreamName};
use rusqlite::{Connection, Row, ToSql};

use crate::block::StreamId;
use crate::item::FINGERPRINTS_MAX;
use crate::tally::Tally;

const COLUMNS: &str = "id, stream, sandbox, sandbox_id, workspace, source, version, place, \
     decode_state, policy_version, policy_hash, policy_known, entries, first, last, last_time, \
     last_observed, lines_read, records, ignored, repeats, refused";

/// One stream: its checkpoint, its books, what it brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamState {
    /// Its number in this journal.
    pub id: StreamId,
    /// What it is called and whose it is.
    pub name: StreamName,
    /// The version of its checkpoint: what the next item expects.
    pub version: u64,
    /// JSON, the source's own.
    pub place: String,
    /// JSON, the parser's own.
    pub decode_state: String,
    /// The policy in force at the place.
    pub policy: PolicyInForce,
    /// Its lines.
    pub books: Books,
    /// Its entries, pruned ones included.
    pub entries: u64,
    /// Its entries by kind and outcome, pruned ones included.
    pub tally: Tally,
    /// Its first number.
    pub first: Option<Seq>,
    /// Its last number.
    pub last: Option<Seq>,
    /// The greatest event time.
    pub last_time: Option<Micros>,
    /// The greatest moment at which a line of it was read.
    pub last_observed: Option<Micros>,
}

impl StreamState {
    fn read(row: &Row<'_>) -> rusqlite::Result<StreamState> {
        Ok(StreamState {
            id: StreamId(row.get(0)?),
            name: StreamName {
                stream: row.get(1)?,
                sandbox: row.get(2)?,
                sandbox_id: row.get(3)?,
                workspace: row.get(4)?,
                source: row.get(5)?,
            },
            version: row.get(6)?,
            place: row.get(7)?,
            decode_state: row.get(8)?,
            policy: PolicyInForce {
                version: row.get(9)?,
                hash: row.get(10)?,
                known: row.get(11)?,
            },
            entries: row.get(12)?,
            tally: Tally::default(),
            first: row.get::<_, Option<u64>>(13)?.map(Seq),
            last: row.get::<_, Option<u64>>(14)?.map(Seq),
            last_time: row.get::<_, Option<i64>>(15)?.map(Micros),
            last_observed: row.get::<_, Option<i64>>(16)?.map(Micros),
            books: Books {
                lines_read: row.get(17)?,
                records: row.get(18)?,
                ignored: row.get(19)?,
                repeats: row.get(20)?,
                refused: row.get(21)?,
            },
        })
    }
}

/// All streams in the order in which they began.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Vec<StreamState>> {
    select(db, "1", &[])
}

/// The streams of a sandbox, by its name or its id.
pub(crate) fn of_sandbox(db: &Connection, sandbox: &str) -> rusqlite::Result<Vec<StreamState>> {
    select(db, "sandbox = ?1 OR sandbox_id = ?1", &[&sandbox])
}

/// The stream called `name`.
pub(crate) fn by_name(db: &Connection, name: &str) -> rusqlite::Result<Option<StreamState>> {
    Ok(select(db, "stream = ?1", &[&name])?.pop())
}

/// The name of the stream with this id.
pub(crate) fn name(db: &Connection, id: StreamId) -> rusqlite::Result<Option<StreamName>> {
    Ok(select(db, "id = ?1", &[&id.0])?
        .pop()
        .map(|stream| stream.name))
}

fn select(
    db: &Connection,
    condition: &str,
    params: &[&dyn ToSql],
) -> rusqlite::Result<Vec<StreamState>> {
    let sql = format!("SELECT {COLUMNS} FROM streams WHERE {condition} ORDER BY id");
    let mut streams: Vec<StreamState> = db
        .prepare_cached(&sql)?
        .query_map(params, StreamState::read)?
        .collect::<Result<_, _>>()?;
    for stream in &mut streams {
        stream.tally = tally(db, stream.id)?;
    }
    Ok(streams)
}

fn tally(db: &Connection, id: StreamId) -> rusqlite::Result<Tally> {
    let mut select =
        db.prepare_cached("SELECT kind, outcome, entries FROM counts WHERE stream = ?1")?;
    let mut rows = select.query([id.0])?;
    let mut tally = Tally::default();
    while let Some(row) = rows.next()? {
        let (kind, outcome): (String, String) = (row.get(0)?, row.get(1)?);
        tally.add_words(&kind, &outcome, row.get(2)?);
    }
    Ok(tally)
}

/// The stream's marks, ascending by offset.
pub(crate) fn marks(db: &Connection, id: StreamId) -> rusqlite::Result<Vec<Mark>> {
    db.prepare_cached("SELECT offset, digest FROM marks WHERE stream = ?1 ORDER BY offset")?
        .query_map([id.0], |row| {
            Ok(Mark {
                offset: row.get(0)?,
                digest: row.get(1)?,
            })
        })?
        .collect()
}

/// Fingerprints of the stream's last lines, oldest first.
pub(crate) fn fingerprints(db: &Connection, id: StreamId) -> rusqlite::Result<Vec<Fingerprint>> {
    let mut select =
        db.prepare_cached("SELECT digests FROM fingerprints WHERE stream = ?1 ORDER BY through")?;
    let mut rows = select.query([id.0])?;
    let mut fingerprints = Vec::new();
    while let Some(row) = rows.next()? {
        let digests: Vec<u8> = row.get(0)?;
        let whole = digests
            .chunks_exact(16)
            .filter_map(|chunk| chunk.try_into().ok());
        fingerprints.extend(whole.map(Fingerprint));
    }
    let surplus = fingerprints.len().saturating_sub(FINGERPRINTS_MAX);
    fingerprints.drain(..surplus);
    Ok(fingerprints)
}

/// Marks and fingerprints made with another key compare with nothing: they go.
pub(crate) fn void_digests(db: &Connection) -> rusqlite::Result<()> {
    db.execute("DELETE FROM marks", [])?;
    db.execute("DELETE FROM fingerprints", [])?;
    Ok(())
}
