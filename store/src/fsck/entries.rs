//! One pass over the blocks: numbers, checksums, canonical form, the tree, and what the counters should say.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use boundlane_record::tree::{Edge, Hash, SUBTREE_ENTRIES, leaf_hash};
use boundlane_record::{
    EntryMeta, Extent, Kind, Micros, Row, Seq, SessionKind, StreamName, canonical,
};
use rusqlite::{Connection, OptionalExtension as _};

use super::{Findings, FsckError, Law, Progress};
use crate::block::{BLOCK_ENTRIES_MAX, BLOCK_PLAIN_BYTES_MAX, Block, StreamId};
use crate::error::ReadError;
use crate::head::{self, Head};
use crate::tally::Tally;
use crate::walk::{Damage, Piece, Select, Walk};

/// What the entries say, for the tables to be compared with.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) entries: u64,
    pub(super) blocks: u64,
    pub(super) stored_bytes: u64,
    pub(super) index_rows: u64,
    pub(super) tally: Tally,
    pub(super) streams: BTreeMap<StreamId, StreamEntries>,
    /// By kind, cause and extent: losses, lines, denied lines.
    pub(super) losses: BTreeMap<(String, String, String), (u64, u64, u64)>,
    /// The evidence of `journal_start`.
    pub(super) start: Option<String>,
    /// Whether every number was read, so that counters can be compared exactly.
    pub(super) whole: bool,
}

/// What one stream's entries say.
#[derive(Default)]
pub(super) struct StreamEntries {
    pub(super) tally: Tally,
    pub(super) first: Option<Seq>,
    pub(super) last: Option<Seq>,
    pub(super) dropped_lines: u64,
    /// Whose it is, as its last `attached` says.
    pub(super) attached: Option<StreamName>,
}

struct Pass<'p, 'r> {
    db: &'p Connection,
    findings: &'p mut Findings<'r>,
    ids: HashMap<String, StreamId>,
    /// `None` after a hole, until the next subtree begins.
    edge: Option<Edge>,
    derived: Derived,
    buffer: Vec<u8>,
}

/// Reads every block after the last prune.
pub(super) fn derive(
    db: &Connection,
    head: &Head,
    findings: &mut Findings<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Derived, FsckError> {
    let mut pass = Pass {
        db,
        findings,
        ids: stream_ids(db)?,
        edge: begin(db, head)?,
        derived: Derived {
            whole: head.pruned == Seq(0),
            ..Derived::default()
        },
        buffer: Vec::new(),
    };
    for id in pass.ids.values() {
        pass.derived.streams.insert(*id, StreamEntries::default());
    }
    if pass.edge.is_none() {
        let what = "no edge to go on from";
        pass.findings.add(Law::L9, "table `prunes`", what);
    }
    let mut walk = Walk::begin(db, Select::all())?;
    while let Some(piece) = walk.next(db)? {
        pass.piece(&piece)?;
        progress(Progress {
            entries: pass.derived.entries,
            of: head.size.0 - head.pruned.0,
        });
    }
    pass.end(head);
    Ok(pass.derived)
}

fn begin(db: &Connection, head: &Head) -> Result<Option<Edge>, ReadError> {
    if head.pruned == Seq(0) {
        return Ok(Some(Edge::new()));
    }
    let edge: Option<Vec<u8>> = db
        .query_row(
            "SELECT edge FROM prunes WHERE through = ?1",
            [head.pruned.0],
            |row| row.get(0),
        )
        .optional()?;
    Ok(edge.and_then(|edge| Edge::from_bytes(&edge)))
}

fn stream_ids(db: &Connection) -> rusqlite::Result<HashMap<String, StreamId>> {
    db.prepare("SELECT stream, id FROM streams")?
        .query_map([], |row| Ok((row.get(0)?, StreamId(row.get(1)?))))?
        .collect()
}

impl Pass<'_, '_> {
    fn piece(&mut self, piece: &Piece) -> Result<(), FsckError> {
        match piece {
            Piece::Block(block) => self.block(block),
            Piece::Damaged(damage) => self.damaged(damage),
            Piece::Pruned { .. } => Ok(()),
        }
    }

    /// The tree goes on at the first subtree after the hole.
    fn damaged(&mut self, damage: &Damage) -> Result<(), FsckError> {
        let Damage { first, last, why } = damage;
        let place = format!("entries {first} through {last}");
        self.findings.add(Law::L1, place, why);
        self.derived.whole = false;
        self.edge = None;
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<(), FsckError> {
        let header = &block.header;
        self.derived.blocks += 1;
        self.derived.stored_bytes += header.stored_bytes as u64;
        let mut seen = Seen::default();
        for (seq, entry) in block.entries() {
            self.tree(seq, entry)?;
            if let Some(meta) = self.entry(seq, entry, &mut seen) {
                seen.meta(&meta);
            }
            self.derived.entries += 1;
        }
        self.compare_header(block, &seen);
        let entries = block.entries().len();
        if entries > BLOCK_ENTRIES_MAX || entries > 1 && header.plain_bytes > BLOCK_PLAIN_BYTES_MAX
        {
            let what = format!("{entries} entries, {} bytes", header.plain_bytes);
            self.findings.add(Law::L5, place(block), what);
        }
        self.check_index(block)
    }

    /// Pushes the entry into the tree, and compares the subtree that it completes.
    fn tree(&mut self, seq: Seq, entry: &[u8]) -> Result<(), FsckError> {
        let before = seq.0 - 1;
        if self.edge.is_none() && before.is_multiple_of(SUBTREE_ENTRIES) {
            self.edge = head::edge_of_subtrees(self.db, before / SUBTREE_ENTRIES).ok();
        }
        let Some(edge) = &mut self.edge else {
            return Ok(());
        };
        let Some(hash) = edge.push(leaf_hash(entry)) else {
            return Ok(());
        };
        let n = before / SUBTREE_ENTRIES;
        let stored: Option<Vec<u8>> = self
            .db
            .prepare_cached("SELECT hash FROM subtrees WHERE n = ?1")?
            .query_row([n], |row| row.get(0))
            .optional()?;
        if stored.and_then(|stored| Hash::from_slice(&stored)) != Some(hash) {
            let place = format!("subtree {n}");
            self.findings
                .add(Law::L9, place, "its hash is not that of its entries");
        }
        Ok(())
    }

    /// Decodes the entry and counts it. `None` when it is not canonical.
    fn entry(&mut self, seq: Seq, entry: &[u8], seen: &mut Seen) -> Option<EntryMeta> {
        let row = match canonical::decode(entry) {
            Ok(row) => row,
            Err(why) => {
                self.findings.add(Law::L8, format_args!("entry {seq}"), why);
                self.derived.whole = false;
                return None;
            }
        };
        self.buffer.clear();
        canonical::encode(&row, &mut self.buffer);
        if self.buffer != entry {
            let what = "it is spelled in another way than canonical";
            self.findings
                .add(Law::L8, format_args!("entry {seq}"), what);
        }
        let meta = EntryMeta::of(&row, 0);
        if seq == Seq::FIRST && row.cause.as_deref() != Some(SessionKind::JournalStart.word()) {
            self.findings
                .add(Law::L1, "entry 1", "it is not `journal_start`");
        }
        if seq == Seq::FIRST {
            self.derived.start = row.evidence.as_deref().map(str::to_owned);
        }
        let Some(id) = self.stream_of(&row) else {
            let what = "it is of a stream that has no row";
            self.findings
                .add(Law::L4, format_args!("entry {seq}"), what);
            return Some(meta);
        };
        seen.streams.insert(id);
        self.count(seq, id, &row, &meta);
        Some(meta)
    }

    fn stream_of(&self, row: &Row<'_>) -> Option<StreamId> {
        match row.stream.as_deref() {
            None => Some(StreamId::JOURNAL),
            Some(stream) => self.ids.get(stream).copied(),
        }
    }

    fn count(&mut self, seq: Seq, id: StreamId, row: &Row<'_>, meta: &EntryMeta) {
        self.derived.tally.count(meta);
        let stream = self.derived.streams.entry(id).or_default();
        stream.tally.count(meta);
        stream.first = stream.first.or(Some(seq));
        stream.last = Some(seq);
        if row.cause.as_deref() == Some(SessionKind::Attached.word()) && meta.kind == Kind::Session
        {
            stream.attached = Some(labels(row));
        }
        if !meta.kind.is_loss() {
            return;
        }
        let (extent, lines) = Extent::from_columns(row.extent.as_deref(), row.count).columns();
        let lines = lines.unwrap_or(0);
        if meta.kind == Kind::Drops {
            stream.dropped_lines += lines;
        }
        let denied = row.denied.and_then(|denied| u64::try_from(denied).ok());
        let key = (
            meta.kind.word().to_owned(),
            row.cause.as_deref().unwrap_or("").to_owned(),
            extent.word().to_owned(),
        );
        let total = self.derived.losses.entry(key).or_default();
        total.0 += 1;
        total.1 += lines;
        total.2 += denied.unwrap_or(0);
    }

    fn compare_header(&mut self, block: &Block, seen: &Seen) {
        let header = &block.header;
        let streams: Vec<StreamId> = seen.streams.iter().copied().collect();
        for (what, fits) in [
            ("counts", header.tally == seen.tally),
            ("observed span", Some(header.observed) == seen.observed),
            ("time span", header.time == seen.time),
            ("streams", header.streams == streams),
        ] {
            if !fits {
                let what = format!("its {what} are not those of its entries");
                self.findings.add(Law::L4, place(block), what);
            }
        }
    }

    /// The index by stream names the block under each of its streams, with its entries there.
    fn check_index(&mut self, block: &Block) -> Result<(), FsckError> {
        let mut select = self.db.prepare_cached(
            "SELECT coalesce(sum(entries), 0) FROM block_streams WHERE stream = ?1 AND first = ?2",
        )?;
        let mut listed = 0;
        for id in &block.header.streams {
            let entries: u64 = select.query_row((id.0, block.header.first.0), |row| row.get(0))?;
            listed += entries;
            if entries == 0 {
                let what = format!("it is not listed under stream {}", id.0);
                self.findings.add(Law::L1, place(block), what);
            }
        }
        self.derived.index_rows += block.header.streams.len() as u64;
        let entries = block.entries().len() as u64;
        self.findings
            .compare(Law::L4, place(block), "entries listed", listed, entries);
        Ok(())
    }

    fn end(&mut self, head: &Head) {
        if head.size.0 == 0 {
            self.findings
                .add(Law::L1, "journal", "it has no `journal_start`");
        }
        if self.edge.as_ref().is_some_and(|edge| *edge != head.edge) {
            let what = "its edge is not that of its entries";
            self.findings.add(Law::L9, "journal", what);
        }
    }
}

/// What the entries of one block say.
#[derive(Default)]
struct Seen {
    tally: Tally,
    observed: Option<(Micros, Micros)>,
    time: Option<(Micros, Micros)>,
    streams: BTreeSet<StreamId>,
}

impl Seen {
    fn meta(&mut self, meta: &EntryMeta) {
        self.tally.count(meta);
        self.observed = Some(widen(self.observed, meta.observed));
        if let Some(time) = meta.time {
            self.time = Some(widen(self.time, time));
        }
    }
}

fn widen(span: Option<(Micros, Micros)>, moment: Micros) -> (Micros, Micros) {
    let (from, to) = span.unwrap_or((moment, moment));
    (from.min(moment), to.max(moment))
}

/// The labels of an entry.
fn labels(row: &Row<'_>) -> StreamName {
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    StreamName {
        stream: owned(&row.stream).unwrap_or_default(),
        sandbox: owned(&row.sandbox),
        sandbox_id: owned(&row.sandbox_id),
        workspace: owned(&row.workspace),
        source: owned(&row.source).unwrap_or_default(),
    }
}

fn place(block: &Block) -> String {
    format!("block {}", block.header.first)
}
