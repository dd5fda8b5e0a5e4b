//! What the entries say: which numbers are missing, whose they are, their subtrees.

use std::collections::BTreeMap;

use boundlane_record::tree::{Edge, Hash, SUBTREE_ENTRIES, leaf_hash};
use boundlane_record::{EntryMeta, Outcome, Seq, TreeSize, canonical};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::copy::Fault;
use super::{RANGES_MAX, Salvage, streams};
use crate::block::{Block, Columns, StreamId};
use crate::head;
use crate::tally::Tally;
use crate::walk::{Damage, Piece, Select, Walk};

/// Blocks between two commits of the copy.
const BLOCKS_A_COMMIT: u64 = 1024;

/// Reads every block of the copy in number order.
pub(super) fn entries(copy: &Connection, salvage: &mut Salvage) -> Result<(), Fault> {
    let mut subtree: Option<Edge> = None;
    let mut walk = Walk::begin(copy, Select::all())?;
    let mut blocks = 0;
    while let Some(piece) = walk.next(copy)? {
        match piece {
            Piece::Block(block) => {
                salvage.entries += block.entries().len() as u64;
                by_stream(copy, &block)?;
                for (seq, entry) in block.entries() {
                    leaf(copy, &mut subtree, seq, leaf_hash(entry), salvage)?;
                }
            }
            Piece::Damaged(Damage { first, last, .. }) | Piece::Pruned { first, last } => {
                subtree = None;
                missing(salvage, first, last);
            }
        }
        blocks += 1;
        if blocks % BLOCKS_A_COMMIT == 0 {
            copy.execute_batch("COMMIT; BEGIN")?;
        }
    }
    copy.execute_batch(
        "INSERT INTO totals SELECT kind, outcome, sum(entries) FROM counts GROUP BY 1, 2",
    )?;
    Ok(())
}

/// Ranges that adjoin are one.
fn missing(salvage: &mut Salvage, first: Seq, last: Seq) {
    salvage.missing_entries += last.0 - first.0 + 1;
    let named = salvage.missing.len();
    match salvage.missing.last_mut() {
        Some((_, before)) if before.next() == first => *before = last,
        _ if named < RANGES_MAX => salvage.missing.push((first, last)),
        _ => {}
    }
}

/// Lists the block under its streams, and counts its entries there.
fn by_stream(copy: &Connection, block: &Block) -> Result<(), Fault> {
    let mut of = BTreeMap::<StreamId, (Tally, Seq)>::new();
    for (seq, entry) in block.entries() {
        // What no reader can decode is kept as it is, under the journal itself.
        let row = canonical::decode(entry).unwrap_or_default();
        let id = StreamId(streams::id_of(copy, &row)?);
        let (tally, last) = of.entry(id).or_insert_with(|| (Tally::default(), seq));
        tally.count(&EntryMeta::of(&row, 0));
        *last = seq;
    }
    let ids: Vec<StreamId> = of.keys().copied().collect();
    if ids != block.header.streams {
        relabel(copy, block.header.first, &ids)?;
    }
    for (id, (tally, last)) in &of {
        copy.prepare_cached(
            "INSERT INTO block_streams (stream, first, entries) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![id.0, block.header.first.0, tally.entries()])?;
        let mut add = copy.prepare_cached(
            "INSERT INTO counts (stream, kind, outcome, entries) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET entries = entries + excluded.entries",
        )?;
        for (kind, outcome, entries) in tally.iter() {
            let outcome = outcome.map_or("", Outcome::word);
            add.execute(params![id.0, kind.word(), outcome, entries])?;
        }
        if *id != StreamId::JOURNAL {
            streams::saw(copy, id.0, *last)?;
        }
    }
    Ok(())
}

/// Gives the block's row other stream ids: a stream that lost its row has a new one.
fn relabel(copy: &Connection, first: Seq, ids: &[StreamId]) -> rusqlite::Result<()> {
    let texts: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
    let streams = texts.join(" ");
    let checksum = copy
        .prepare_cached(
            "SELECT last, packed, plain_bytes, observed_from, observed_to, time_from, time_to, \
             counts, body FROM blocks WHERE first = ?1",
        )?
        .query_row([first.0], |row| {
            let time: (Option<i64>, Option<i64>) = (row.get(5)?, row.get(6)?);
            let (counts, body): (String, Vec<u8>) = (row.get(7)?, row.get(8)?);
            let micros = boundlane_record::Micros;
            let columns = Columns {
                first,
                last: Seq(row.get(0)?),
                packed: row.get::<_, i64>(1)? != 0,
                plain_bytes: row.get(2)?,
                observed: (micros(row.get(3)?), micros(row.get(4)?)),
                time: time
                    .0
                    .zip(time.1)
                    .map(|(from, to)| (micros(from), micros(to))),
                counts: &counts,
                streams: &streams,
                body: &body,
            };
            Ok(columns.checksum())
        })?;
    copy.prepare_cached("UPDATE blocks SET streams = ?2, checksum = ?3 WHERE first = ?1")?
        .execute(params![first.0, streams, checksum])?;
    Ok(())
}

/// Derives the hash of each subtree whose entries are all there. A kept hash that is another stays, and is
/// counted: the tree was stated before the damage was seen.
fn leaf(
    copy: &Connection,
    subtree: &mut Option<Edge>,
    seq: Seq,
    leaf: Hash,
    salvage: &mut Salvage,
) -> rusqlite::Result<()> {
    let before = seq.0 - 1;
    if before.is_multiple_of(SUBTREE_ENTRIES) {
        *subtree = Some(Edge::new());
    }
    let Some(hash) = subtree.as_mut().and_then(|edge| edge.push(leaf)) else {
        return Ok(());
    };
    let n = before / SUBTREE_ENTRIES;
    let kept: Option<Vec<u8>> = copy
        .prepare_cached("SELECT hash FROM subtrees WHERE n = ?1")?
        .query_row([n], |row| row.get(0))
        .optional()?;
    match kept {
        Some(kept) => salvage.contradicted += u64::from(kept != hash.0),
        None => {
            copy.prepare_cached("INSERT INTO subtrees (n, hash) VALUES (?1, ?2)")?
                .execute(params![n, hash.0])?;
        }
    }
    Ok(())
}

/// The edge at `size`, when everything that it needs was read.
pub(super) fn edge(copy: &Connection, size: TreeSize) -> Option<Edge> {
    let mut edge = head::edge_of_subtrees(copy, size.0 / SUBTREE_ENTRIES).ok()?;
    head::extend(copy, &mut edge, size).ok()?;
    Some(edge)
}
