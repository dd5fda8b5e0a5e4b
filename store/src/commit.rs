//! One commit: what is written between `BEGIN IMMEDIATE` and `COMMIT`.
//!
//! The head, each checkpoint and each counter is read inside, so that writers in other processes can
//! come between two commits and never inside one.

mod checkpoint;
mod losses;
mod queue;

use boundlane_record::tree::{Edge, SUBTREE_ENTRIES, leaf_hash};
use boundlane_record::{Books, EntryBatch, EntryMeta, Micros, Seq, TreeSize};
use rusqlite::{Connection, params};

use crate::admission::Region;
use crate::block::StreamId;
use crate::error::AppendError;
use crate::head;
use crate::item::Item;
use crate::pack::{Packer, Sealed};
use crate::tally::Tally;
use queue::{Admitted, Queue};

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The first number given in this commit; one beyond `size` when none was.
    pub first: Seq,
    /// The journal's size after it.
    pub size: TreeSize,
    /// What became of each item, in order.
    pub items: Vec<AppendedItem>,
}

/// What became of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendedItem {
    /// The version of its checkpoint now: what the next item of this stream expects.
    pub version: u64,
    /// The first of its numbers, a gap numbered before its entries included; `None` when none was given.
    pub first: Option<Seq>,
    /// The last of its numbers.
    pub last: Option<Seq>,
    /// Its books, lines that found no room counted as refused.
    pub books: Books,
}

/// A commit under way.
pub(crate) struct Commit<'c> {
    db: &'c Connection,
    packer: &'c mut Packer,
    start: TreeSize,
    edge: Edge,
    tally: Tally,
    books: Books,
    stored_bytes: u64,
    queue: Queue,
}

/// Entries of one stream that were written one after another.
#[derive(Default)]
pub(crate) struct Written {
    first: Option<Seq>,
    last: Option<Seq>,
    tally: Tally,
    time: Option<Micros>,
    observed: Option<Micros>,
}

impl<'c> Commit<'c> {
    /// Reads the head inside the transaction that `db` has begun.
    pub(crate) fn begin(
        db: &'c Connection,
        packer: &'c mut Packer,
    ) -> Result<Commit<'c>, AppendError> {
        let head = head::read(db)?;
        packer.clear()?;
        Ok(Commit {
            db,
            packer,
            start: head.size,
            edge: head.edge,
            tally: Tally::default(),
            books: Books::default(),
            stored_bytes: 0,
            queue: Queue::begin(db)?,
        })
    }

    /// Writes one item: gaps that were open before its records, its entries as far as there is room for
    /// them, its open losses, its checkpoint.
    pub(crate) fn item(&mut self, item: &Item<'_>) -> Result<AppendedItem, AppendError> {
        let stream = self.checkpointed_stream(item)?;
        let (admitted, refused) = self.admit(item)?;
        let books = refused.leave(item.books);
        let mut written = Written::default();
        if item.closes_gaps() {
            self.number_open_gaps(stream, item.stream, item.at, &mut written)?;
        }
        if refused.is_none() {
            self.number_ended_drops(stream, item, &mut written)?;
        }
        self.entries(stream, item.entries, &admitted, &mut written)?;
        for loss in item.open_losses {
            self.grow_loss(stream, loss, item.at)?;
        }
        for drops in refused.drops() {
            self.grow_loss(stream, &drops, item.at)?;
        }
        self.note_entries(stream, &written)?;
        let version = self.move_checkpoint(stream, item, books)?;
        self.books += books;
        Ok(AppendedItem {
            version,
            first: written.first,
            last: written.last,
            books,
        })
    }

    /// Appends entries that are always let in.
    pub(crate) fn own_entries(
        &mut self,
        stream: StreamId,
        batch: &EntryBatch,
        written: &mut Written,
    ) -> Result<(), AppendError> {
        self.queue.let_in(batch);
        self.entries(stream, batch, &Admitted::All, written)
    }

    /// Appends the batch's entries that are let in.
    fn entries(
        &mut self,
        stream: StreamId,
        batch: &EntryBatch,
        admitted: &Admitted,
        written: &mut Written,
    ) -> Result<(), AppendError> {
        for (index, (entry, meta)) in batch.iter().enumerate() {
            let Some(region) = admitted.region(index) else {
                continue;
            };
            let seq = self.entry(stream, entry, meta, region)?;
            written.note(seq, meta);
            if meta.kind.is_loss() {
                self.note_loss(seq, stream, entry, meta)?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        stream: StreamId,
        entry: &[u8],
        meta: &EntryMeta,
        region: Region,
    ) -> Result<Seq, AppendError> {
        if !self.packer.has_room(entry.len())
            && let Some(before) = self.packer.turn()?
        {
            self.write(before)?;
        }
        let completed = self.edge.push(leaf_hash(entry));
        let size = self.edge.size();
        if let Some(hash) = completed {
            let mut insert = self
                .db
                .prepare_cached("INSERT INTO subtrees (n, hash) VALUES (?1, ?2)")?;
            insert.execute(params![size.0 / SUBTREE_ENTRIES - 1, hash.0])?;
        }
        let seq = Seq(size.0);
        self.packer.add(seq, (stream, region), entry, meta);
        Ok(seq)
    }

    /// Writes the row of a block.
    fn write(&mut self, sealed: Sealed) -> Result<(), AppendError> {
        let columns = sealed.columns();
        let mut insert = self.db.prepare_cached(
            "INSERT INTO blocks (first, last, packed, plain_bytes, observed_from, observed_to, \
             time_from, time_to, counts, streams, checksum, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?;
        insert.execute(params![
            columns.first.0,
            columns.last.0,
            i64::from(columns.packed),
            columns.plain_bytes,
            columns.observed.0.0,
            columns.observed.1.0,
            columns.time.map(|(from, _)| from.0),
            columns.time.map(|(_, to)| to.0),
            columns.counts,
            columns.streams,
            sealed.checksum(),
            columns.body,
        ])?;
        let mut insert = self.db.prepare_cached(
            "INSERT INTO block_streams (stream, first, entries, stored_bytes, tenth_entries, \
             tenth_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for share in sealed.shares() {
            insert.execute(params![
                share.stream.0,
                columns.first.0,
                share.all.entries,
                share.all.stored_bytes,
                share.last_tenth.entries,
                share.last_tenth.stored_bytes,
            ])?;
            self.queue.add(share.stream, share.waiting());
        }
        self.stored_bytes += columns.body.len() as u64;
        self.packer.reuse(sealed);
        Ok(())
    }

    /// Counts what was written for `stream`: its numbers, its times, its kinds.
    pub(crate) fn note_entries(
        &mut self,
        stream: StreamId,
        written: &Written,
    ) -> Result<(), AppendError> {
        if written.first.is_none() {
            return Ok(());
        }
        let mut add = self.db.prepare_cached(
            "INSERT INTO counts (stream, kind, outcome, entries) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET entries = entries + excluded.entries",
        )?;
        for (kind, outcome, entries) in written.tally.iter() {
            let outcome = outcome.map_or("", boundlane_record::Outcome::word);
            add.execute(params![stream.0, kind.word(), outcome, entries])?;
        }
        self.tally += &written.tally;
        if stream == StreamId::JOURNAL {
            return Ok(());
        }
        let mut update = self.db.prepare_cached(
            "UPDATE streams SET entries = entries + ?2, first = coalesce(first, ?3), last = ?4, \
             last_time = coalesce(max(last_time, ?5), last_time, ?5), \
             last_observed = coalesce(max(last_observed, ?6), last_observed, ?6) WHERE id = ?1",
        )?;
        update.execute(params![
            stream.0,
            written.tally.entries(),
            written.first.map(|seq| seq.0),
            written.last.map(|seq| seq.0),
            written.time.map(|time| time.0),
            written.observed.map(|observed| observed.0),
        ])?;
        Ok(())
    }

    /// Seals the last blocks and moves head, books and counters.
    pub(crate) fn finish(mut self) -> Result<(Seq, TreeSize), AppendError> {
        while let Some(sealed) = self.packer.rest()? {
            self.write(sealed)?;
        }
        self.count_waiting()?;
        let mut add = self.db.prepare_cached(
            "INSERT INTO totals (kind, outcome, entries) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET entries = entries + excluded.entries",
        )?;
        for (kind, outcome, entries) in self.tally.iter() {
            let outcome = outcome.map_or("", boundlane_record::Outcome::word);
            add.execute(params![kind.word(), outcome, entries])?;
        }
        let mut update = self.db.prepare_cached(
            "UPDATE journal SET size = ?1, edge = ?2, stored_bytes = stored_bytes + ?3, \
             lines_read = lines_read + ?4, records = records + ?5, ignored = ignored + ?6, \
             repeats = repeats + ?7, refused = refused + ?8",
        )?;
        let Books {
            lines_read,
            records,
            ignored,
            repeats,
            refused,
        } = self.books;
        let size = self.edge.size();
        update.execute(params![
            size.0,
            self.edge.to_bytes(),
            self.stored_bytes,
            lines_read,
            records,
            ignored,
            repeats,
            refused,
        ])?;
        Ok((Seq(self.start.0 + 1), size))
    }
}

impl Written {
    fn note(&mut self, seq: Seq, meta: &EntryMeta) {
        self.first = self.first.or(Some(seq));
        self.last = Some(seq);
        self.tally.count(meta);
        self.time = self.time.max(meta.time);
        self.observed = self.observed.max(Some(meta.observed));
    }

    /// How many entries.
    pub(crate) fn entries(&self) -> u64 {
        self.tally.entries()
    }
}
