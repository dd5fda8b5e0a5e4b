//! Losses in a commit: open ones that grow or get their number, and numbered ones that are counted.

use boundlane_record::{
    Drops, EntryBatch, EntryMeta, Extent, Gap, Micros, Seq, StreamName, canonical,
};
use rusqlite::{OptionalExtension as _, params};

use super::{Commit, Written};
use crate::block::StreamId;
use crate::error::AppendError;
use crate::item::Item;
use crate::loss::OpenLoss;
use crate::open_loss::{self, GrowingLoss};
use crate::queue;

/// Nothing was shed for so long: the pressure has ended.
const DROPS_QUIET_MICROS: i64 = 1_000_000;
/// Drops get their number after so long even while lines are still shed.
pub(crate) const DROPS_OPEN_MICROS_MAX: i64 = 60 * 1_000_000;

impl Commit<'_> {
    /// Adds `loss` to the open loss of its stream and cause.
    pub(super) fn grow_loss(
        &self,
        stream: StreamId,
        loss: &OpenLoss,
        at: Micros,
    ) -> Result<(), AppendError> {
        let (kind, cause) = loss.words();
        let mut select = self.db.prepare_cached(&format!(
            "SELECT {} FROM open_losses WHERE stream = ?1 AND kind = ?2 AND cause = ?3",
            open_loss::COLUMNS
        ))?;
        let old = select
            .query_row(params![stream.0, kind, cause], GrowingLoss::read)
            .optional()?;
        let opened = old.as_ref().map_or(at, |old| old.opened);
        let loss = match old {
            Some(old) => as_open(&old, loss).grown(loss),
            None => loss.clone(),
        };
        self.write_open_loss(stream, &loss, opened, at)
    }

    fn write_open_loss(
        &self,
        stream: StreamId,
        loss: &OpenLoss,
        opened: Micros,
        grown: Micros,
    ) -> Result<(), AppendError> {
        let (kind, cause) = loss.words();
        let (extent, denied, from, to, after_cursor, before_cursor, evidence) = match loss {
            OpenLoss::Gap(gap) => (
                gap.extent,
                None,
                gap.from,
                gap.to,
                gap.after_cursor.as_deref(),
                gap.before_cursor.as_deref(),
                &gap.evidence,
            ),
            OpenLoss::Drops(drops) => (
                Extent::Exact(drops.count),
                Some(drops.denied),
                Some(drops.from),
                Some(drops.to),
                None,
                None,
                &drops.evidence,
            ),
        };
        let (extent, lines) = extent.columns();
        let mut insert = self.db.prepare_cached(
            "INSERT OR REPLACE INTO open_losses (stream, kind, cause, extent, lines, denied, \
             \"from\", \"to\", after_cursor, before_cursor, evidence, opened, grown) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        insert.execute(params![
            stream.0,
            kind,
            cause,
            extent.word(),
            lines,
            denied,
            from.map(|from| from.0),
            to.map(|to| to.0),
            after_cursor,
            before_cursor,
            evidence,
            opened.0,
            grown.0,
        ])?;
        Ok(())
    }

    /// Gives the stream's open gaps their numbers: a record is about to follow them.
    pub(super) fn number_open_gaps(
        &mut self,
        stream: StreamId,
        name: &StreamName,
        at: Micros,
        written: &mut Written,
    ) -> Result<(), AppendError> {
        let gaps = self.open_of(stream, "gap")?;
        gaps.iter()
            .try_for_each(|gap| self.number(gap, name, at, written))
    }

    /// Gives the stream's drops their numbers once the pressure has ended: nothing was shed for a while.
    /// So do those that have grown for long.
    pub(super) fn number_ended_drops(
        &mut self,
        stream: StreamId,
        item: &Item<'_>,
        written: &mut Written,
    ) -> Result<(), AppendError> {
        let drops = self.open_of(stream, "drops")?;
        let ended = drops.iter().filter(|drops| {
            let since = |moment: Micros| item.at.0.saturating_sub(moment.0);
            since(drops.grown) >= DROPS_QUIET_MICROS || since(drops.opened) >= DROPS_OPEN_MICROS_MAX
        });
        ended
            .into_iter()
            .try_for_each(|drops| self.number(drops, item.stream, item.at, written))
    }

    fn open_of(&self, stream: StreamId, kind: &str) -> Result<Vec<GrowingLoss>, AppendError> {
        let mut select = self.db.prepare_cached(&format!(
            "SELECT {} FROM open_losses WHERE stream = ?1 AND kind = ?2 ORDER BY opened",
            open_loss::COLUMNS
        ))?;
        let losses = select
            .query_map(params![stream.0, kind], GrowingLoss::read)?
            .collect::<Result<_, _>>()?;
        Ok(losses)
    }

    /// Gives one open loss its number: an entry instead of the row.
    pub(crate) fn number(
        &mut self,
        loss: &GrowingLoss,
        name: &StreamName,
        at: Micros,
        written: &mut Written,
    ) -> Result<(), AppendError> {
        let mut batch = EntryBatch::new();
        batch.push(&loss.row(name, at));
        self.own_entries(loss.stream, &batch, written)?;
        self.queue.count_share(queue::sharer(name), &batch);
        self.db
            .prepare_cached(
                "DELETE FROM open_losses WHERE stream = ?1 AND kind = ?2 AND cause = ?3",
            )?
            .execute(params![loss.stream.0, loss.kind, loss.cause])?;
        Ok(())
    }

    /// Counts a numbered loss.
    pub(super) fn note_loss(
        &self,
        seq: Seq,
        stream: StreamId,
        entry: &[u8],
        meta: &EntryMeta,
    ) -> Result<(), AppendError> {
        let row = canonical::decode(entry)
            .map_err(|_| AppendError::Damaged("an entry that was brought is not canonical"))?;
        let cause = row.cause.as_deref().unwrap_or("");
        let (extent, lines) = Extent::from_columns(row.extent.as_deref(), row.count).columns();
        let denied = row.denied.and_then(|denied| u64::try_from(denied).ok());
        self.db
            .prepare_cached(
                "INSERT INTO losses (seq, stream, kind, cause, extent, lines, denied, observed) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                seq.0,
                stream.0,
                meta.kind.word(),
                cause,
                extent.word(),
                lines,
                denied,
                meta.observed.0,
            ])?;
        self.db
            .prepare_cached(
                "INSERT INTO loss_totals (kind, cause, extent, entries, lines, denied) \
                 VALUES (?1, ?2, ?3, 1, ?4, ?5) ON CONFLICT DO UPDATE SET \
                 entries = entries + 1, lines = lines + excluded.lines, \
                 denied = denied + excluded.denied",
            )?
            .execute(params![
                meta.kind.word(),
                cause,
                extent.word(),
                lines.unwrap_or(0),
                denied.unwrap_or(0),
            ])?;
        Ok(())
    }
}

/// The stored loss as the kind and cause of `like`, which it has.
fn as_open(old: &GrowingLoss, like: &OpenLoss) -> OpenLoss {
    match like {
        OpenLoss::Gap(gap) => OpenLoss::Gap(Gap {
            cause: gap.cause,
            extent: old.extent,
            from: old.from,
            to: old.to,
            after_cursor: old.after_cursor.clone(),
            before_cursor: old.before_cursor.clone(),
            evidence: old.evidence.clone(),
        }),
        OpenLoss::Drops(drops) => OpenLoss::Drops(Drops {
            cause: drops.cause,
            count: old.lines(),
            denied: old.denied.unwrap_or(0),
            from: old.from.unwrap_or(drops.from),
            to: old.to.unwrap_or(drops.to),
            evidence: old.evidence.clone(),
        }),
    }
}
