//! Taking acknowledged entries away: in number order, in batches, each stated by a `pruned` entry.

use boundlane_record::{EntryBatch, Micros, Seq, Session, SessionKind, TreeSize};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Journal;
use crate::block::StreamId;
use crate::commit::{Commit, Written};
use crate::error::AppendError;
use crate::head;
use crate::limits;
use crate::queue;

/// Blocks that one prune takes away at most.
const PRUNE_BLOCKS_MAX: u64 = 256;
/// A wall clock that moved by more than this beside the monotonic one is not believed.
const CLOCK_STEP_MICROS_MAX: i64 = 24 * 3600 * 1_000_000;

/// What a prune has to respect besides the bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneTerms {
    /// Now.
    pub now: Micros,
    /// The longest time that a query may take: entries stay for so long after the archive has them, so
    /// that one that is under way finds them.
    pub query_micros_max: i64,
    /// Which boot of the machine this is, and the wall clock's time of it as it is believed now.
    pub boot: Option<(String, Micros)>,
    /// The greatest size for which a receipt is held, where a receiver is configured.
    pub receipted: Option<TreeSize>,
}

/// What became of a prune.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prune {
    /// Entries were taken away.
    Done {
        /// The first.
        first: Seq,
        /// The last.
        through: Seq,
    },
    /// Nothing is old enough, or too much.
    NotDue,
    /// The wall clock has stepped by more than a day since this boot was first seen.
    ClockStepped,
}

/// Blocks that go.
struct Batch {
    first: Seq,
    through: Seq,
    stored_bytes: u64,
    observed: (Micros, Micros),
}

impl Journal {
    /// Takes away one batch of the oldest entries that every consumer has and that are older, or more,
    /// than the bounds say. Call it again until it is not due.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn prune(&mut self, terms: &PruneTerms) -> Result<Prune, AppendError> {
        self.transaction(|db, packer| {
            if has_stepped(db, terms)? {
                return Ok(Prune::ClockStepped);
            }
            let Some(batch) = due(db, terms)? else {
                return Ok(Prune::NotDue);
            };
            let edge = head::edge_at(db, batch.through.tree_size())?.ok_or(
                AppendError::Damaged("the edge at a prune cannot be derived"),
            )?;
            let mut rows = EntryBatch::new();
            let evidence = serde_json::json!({
                "first": batch.first.0,
                "through": batch.through.0,
                "root": edge.root().to_hex(),
                "edge": edge.hashes().iter().map(|hash| hash.to_hex()).collect::<Vec<_>>(),
            });
            let pruned = Session {
                what: SessionKind::Pruned,
                from: Some(batch.observed.0),
                to: Some(batch.observed.1),
                count: Some(batch.through.0 + 1 - batch.first.0),
                evidence: Some(evidence.to_string()),
            };
            rows.push(&pruned.row(None, terms.now));
            let mut commit = Commit::begin(db, packer)?;
            let mut written = Written::default();
            commit.own_entries(StreamId::JOURNAL, &rows, &mut written)?;
            commit.note_entries(StreamId::JOURNAL, &written)?;
            let (seq, _) = commit.finish()?;
            db.prepare_cached(
                "INSERT INTO prunes (through, first, root, edge, seq, at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                batch.through.0,
                batch.first.0,
                edge.root().0,
                edge.to_bytes(),
                seq.0,
                terms.now.0
            ])?;
            take_away(db, &batch)?;
            Ok(Prune::Done {
                first: batch.first,
                through: batch.through,
            })
        })
    }
}

/// Compares the boot's moment with the one that was seen first in this boot.
fn has_stepped(db: &Connection, terms: &PruneTerms) -> Result<bool, AppendError> {
    let Some((boot, moment)) = &terms.boot else {
        return Ok(false);
    };
    let first: Option<i64> = db
        .prepare_cached("SELECT moment FROM boot WHERE id = ?1")?
        .query_row([boot], |row| row.get(0))
        .optional()?;
    if let Some(first) = first {
        return Ok(first.abs_diff(moment.0) > CLOCK_STEP_MICROS_MAX.unsigned_abs());
    }
    db.prepare_cached("DELETE FROM boot")?.execute([])?;
    db.prepare_cached("INSERT INTO boot (id, moment) VALUES (?1, ?2)")?
        .execute(params![boot, moment.0])?;
    Ok(false)
}

/// The numbers that the archive has had for longer than a query takes.
///
/// Of the acknowledgements one is kept with its moment until it is old enough, then the latest.
fn settled(db: &Connection, terms: &PruneTerms) -> rusqlite::Result<u64> {
    let (through, next, next_at, settled): (u64, u64, i64, u64) = db
        .prepare_cached(
            "SELECT through, settling, settling_at, settled FROM acks WHERE consumer = 'archiver'",
        )?
        .query_row([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
    let age = terms.now.0.saturating_sub(next_at);
    if next > settled && age < terms.query_micros_max {
        return Ok(settled);
    }
    db.prepare_cached(
        "UPDATE acks SET settled = ?1, settling = ?2, settling_at = ?3 WHERE consumer = 'archiver'",
    )?
    .execute(params![next.max(settled), through, terms.now.0])?;
    Ok(next.max(settled))
}

/// The oldest blocks that may go and have to.
fn due(db: &Connection, terms: &PruneTerms) -> Result<Option<Batch>, AppendError> {
    let limits = limits::read(db)?;
    let head = head::read(db)?;
    let receipted = terms.receipted.map_or(u64::MAX, |size| size.0);
    let may = queue::taken_through(db)?
        .0
        .min(settled(db, terms)?)
        .min(receipted);
    let stored: u64 = db.query_row("SELECT stored_bytes FROM journal", [], |row| row.get(0))?;
    let mut kept = stored.saturating_sub(queue::all(db)?.all().stored_bytes);
    let age = i64::try_from(limits.kept_age_seconds_max.saturating_mul(1_000_000));
    let too_old = terms.now.0.saturating_sub(age.unwrap_or(i64::MAX));
    let mut blocks = db.prepare_cached(
        "SELECT last, observed_from, observed_to, length(body) FROM blocks \
         WHERE first > ?1 AND last <= ?2 ORDER BY first LIMIT ?3",
    )?;
    let mut rows = blocks.query(params![
        head.pruned.0,
        may.min(i64::MAX.unsigned_abs()),
        PRUNE_BLOCKS_MAX
    ])?;
    let mut batch: Option<Batch> = None;
    while let Some(row) = rows.next()? {
        let (from, to, bytes) = (Micros(row.get(1)?), Micros(row.get(2)?), row.get(3)?);
        if to.0 >= too_old && kept <= limits.kept_stored_bytes_max {
            break;
        }
        kept = kept.saturating_sub(bytes);
        let batch = batch.get_or_insert(Batch {
            first: head.pruned.next(),
            through: head.pruned,
            stored_bytes: 0,
            observed: (from, to),
        });
        batch.through = Seq(row.get(0)?);
        batch.stored_bytes += bytes;
        batch.observed = (batch.observed.0.min(from), batch.observed.1.max(to));
    }
    Ok(batch)
}

/// Hashes of complete subtrees, totals and checkpoints stay.
fn take_away(db: &Connection, batch: &Batch) -> Result<(), AppendError> {
    let mut blocks =
        db.prepare_cached("SELECT first, streams FROM blocks WHERE first >= ?1 AND last <= ?2")?;
    let mut unlist =
        db.prepare_cached("DELETE FROM block_streams WHERE stream = ?1 AND first = ?2")?;
    let range = params![batch.first.0, batch.through.0];
    let mut rows = blocks.query(range)?;
    while let Some(row) = rows.next()? {
        let first: u64 = row.get(0)?;
        let streams = row.get_ref(1)?.as_str().unwrap_or_default();
        for stream in streams.split_ascii_whitespace() {
            unlist.execute(params![stream.parse::<i64>().unwrap_or_default(), first])?;
        }
    }
    drop(rows);
    for sql in [
        "DELETE FROM blocks WHERE first >= ?1 AND last <= ?2",
        "DELETE FROM losses WHERE seq BETWEEN ?1 AND ?2",
    ] {
        db.prepare_cached(sql)?.execute(range)?;
    }
    db.prepare_cached("UPDATE journal SET pruned = ?1, stored_bytes = stored_bytes - ?2")?
        .execute(params![batch.through.0, batch.stored_bytes])?;
    Ok(())
}
