//! Counters for `status`: kept in the transactions they describe, never counted anew.

use std::collections::BTreeMap;

use boundlane_record::{Books, ExtentKind, Micros, Seq, TreeSize};
use rusqlite::{Connection, OptionalExtension as _};

use super::Reader;
use crate::admission::Waiting;
use crate::error::ReadError;
use crate::limits::{self, Limits};
use crate::open_loss;
use crate::queue;
use crate::schema;
use crate::tally::Tally;

/// The journal in numbers, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Lines of all streams.
    pub books: Books,
    /// Numbers given.
    pub size: TreeSize,
    /// Of those, numbers that are pruned.
    pub pruned: u64,
    /// Of those, numbers that every consumer has acknowledged and that are still kept.
    pub acknowledged: u64,
    /// Of those, numbers that wait for a consumer.
    pub queued: u64,
    /// When the oldest waiting entry was observed; the least in its block.
    pub oldest_queued: Option<Micros>,
    /// What waits in whole blocks, as the bound counts it; nothing in a journal of schema 1.
    pub waiting: Waiting,
    /// The bounds in force.
    pub limits: Limits,
    /// Bytes of all blocks, as stored.
    pub stored_bytes: u64,
    /// Entries by kind and outcome, pruned ones included.
    pub tally: Tally,
    /// Lines counted in drops that have no number yet.
    pub open_drops: u64,
    /// How far each consumer is.
    pub acks: Vec<Ack>,
}

/// How far one consumer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    /// A [`crate::Consumer`] word.
    pub consumer: String,
    /// Everything through this number.
    pub through: Seq,
    /// When it last moved.
    pub at: Micros,
}

/// Losses of one kind and cause, open ones included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LossTotal {
    /// `gap`, `drops` or `rejected`.
    pub kind: String,
    /// Why.
    pub cause: String,
    /// How many losses.
    pub losses: u64,
    /// How many of them have no number yet.
    pub open: u64,
    /// Lines in losses of exactly known extent.
    pub exact: u64,
    /// Lines in losses of at least that extent.
    pub at_least: u64,
    /// Lines in losses of at most that extent.
    pub at_most: u64,
    /// Losses of unknown extent.
    pub unknown: u64,
    /// Denials among dropped lines.
    pub denied: u64,
}

impl Reader {
    /// The journal's counters, of one snapshot.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn totals(&self) -> Result<Totals, ReadError> {
        let snapshot = self.connection().unchecked_transaction()?;
        totals(&snapshot)
    }

    /// Losses by kind and cause: all of them ever, or those seen since a moment and still kept.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn losses(&self, since: Option<Micros>) -> Result<Vec<LossTotal>, ReadError> {
        let snapshot = self.connection().unchecked_transaction()?;
        losses(&snapshot, since)
    }
}

fn totals(db: &Connection) -> Result<Totals, ReadError> {
    let (books, size, pruned, stored_bytes) = db
        .query_row(
            "SELECT lines_read, records, ignored, repeats, refused, size, pruned, stored_bytes \
             FROM journal",
            [],
            |row| Ok((books(row)?, row.get(5)?, row.get(6)?, row.get(7)?)),
        )
        .optional()?
        .ok_or(ReadError::Damaged("the table `journal` has no row"))?;
    let acks = acks(db)?;
    let through = acks.iter().map(|ack| ack.through.0).min().unwrap_or(0);
    let through = through.max(pruned).min(size);
    Ok(Totals {
        books,
        size: TreeSize(size),
        pruned,
        acknowledged: through - pruned,
        queued: size - through,
        oldest_queued: oldest_after(db, through)?,
        waiting: waiting(db)?,
        limits: limits::read(db)?,
        stored_bytes,
        tally: tally(db)?,
        open_drops: db.query_row(
            "SELECT coalesce(sum(lines), 0) FROM open_losses WHERE kind = 'drops'",
            [],
            |row| row.get(0),
        )?,
        acks,
    })
}

fn waiting(db: &Connection) -> rusqlite::Result<Waiting> {
    match schema::version(db)? {
        1 => Ok(Waiting::default()),
        _ => queue::all(db),
    }
}

fn books(row: &rusqlite::Row<'_>) -> rusqlite::Result<Books> {
    Ok(Books {
        lines_read: row.get(0)?,
        records: row.get(1)?,
        ignored: row.get(2)?,
        repeats: row.get(3)?,
        refused: row.get(4)?,
    })
}

fn acks(db: &Connection) -> rusqlite::Result<Vec<Ack>> {
    db.prepare_cached("SELECT consumer, through, at FROM acks ORDER BY consumer")?
        .query_map([], |row| {
            Ok(Ack {
                consumer: row.get(0)?,
                through: Seq(row.get(1)?),
                at: Micros(row.get(2)?),
            })
        })?
        .collect()
}

fn oldest_after(db: &Connection, through: u64) -> rusqlite::Result<Option<Micros>> {
    // Blocks have at most 256 entries: the one that holds the next number begins at most 255 before it.
    db.query_row(
        "SELECT observed_from FROM blocks WHERE first > ?1 - 256 AND last > ?1 ORDER BY first LIMIT 1",
        [through],
        |row| row.get(0),
    )
    .optional()
    .map(|observed| observed.map(Micros))
}

fn tally(db: &Connection) -> rusqlite::Result<Tally> {
    let mut select = db.prepare_cached("SELECT kind, outcome, entries FROM totals")?;
    let mut rows = select.query([])?;
    let mut tally = Tally::default();
    while let Some(row) = rows.next()? {
        let (kind, outcome): (String, String) = (row.get(0)?, row.get(1)?);
        tally.add_words(&kind, &outcome, row.get(2)?);
    }
    Ok(tally)
}

type ByCause = BTreeMap<(String, String), LossTotal>;

fn losses(db: &Connection, since: Option<Micros>) -> Result<Vec<LossTotal>, ReadError> {
    let mut by_cause = ByCause::new();
    let (sql, from) = match since {
        None => (
            "SELECT kind, cause, extent, entries, lines, denied FROM loss_totals WHERE ?1 IS NULL",
            None,
        ),
        Some(since) => (
            "SELECT kind, cause, extent, count(*), coalesce(sum(lines), 0), coalesce(sum(denied), 0) \
             FROM losses WHERE observed >= ?1 GROUP BY kind, cause, extent",
            Some(since.0),
        ),
    };
    let mut select = db.prepare_cached(sql)?;
    let mut rows = select.query([from])?;
    while let Some(row) = rows.next()? {
        let extent: String = row.get(2)?;
        let total = of(&mut by_cause, row.get(0)?, row.get(1)?);
        let losses: u64 = row.get(3)?;
        total.losses += losses;
        total.denied += row.get::<_, u64>(5)?;
        total.add_lines(ExtentKind::from_word(&extent), losses, row.get(4)?);
    }
    for loss in open_loss::all(db)? {
        if since.is_some_and(|since| loss.grown < since) {
            continue;
        }
        let (extent, lines) = loss.extent.columns();
        let total = of(&mut by_cause, loss.kind, loss.cause);
        total.losses += 1;
        total.open += 1;
        total.denied += loss.denied.unwrap_or(0);
        total.add_lines(Some(extent), 1, lines.unwrap_or(0));
    }
    Ok(by_cause.into_values().collect())
}

fn of(by_cause: &mut ByCause, kind: String, cause: String) -> &mut LossTotal {
    let key = (kind, cause);
    let empty = LossTotal {
        kind: key.0.clone(),
        cause: key.1.clone(),
        ..LossTotal::default()
    };
    by_cause.entry(key).or_insert(empty)
}

impl LossTotal {
    fn add_lines(&mut self, extent: Option<ExtentKind>, losses: u64, lines: u64) {
        match extent {
            Some(ExtentKind::Exact) => self.exact += lines,
            Some(ExtentKind::AtLeast) => self.at_least += lines,
            Some(ExtentKind::AtMost) => self.at_most += lines,
            Some(ExtentKind::Unknown) | None => self.unknown += losses,
        }
    }
}
