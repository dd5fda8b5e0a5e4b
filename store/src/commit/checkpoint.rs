//! Moving a stream's checkpoint, with its marks and fingerprints.

use boundlane_record::Books;
use rusqlite::{OptionalExtension as _, params};

use super::Commit;
use crate::block::StreamId;
use crate::error::AppendError;
use crate::item::{FINGERPRINTS_MAX, Item};

const FINGERPRINT_BYTES: usize = 16;

impl Commit<'_> {
    /// The id of the item's stream, whose checkpoint must be the one that the item expects. A stream
    /// that the item begins gets a row.
    pub(super) fn checkpointed_stream(&self, item: &Item<'_>) -> Result<StreamId, AppendError> {
        let mut select = self
            .db
            .prepare_cached("SELECT id, version FROM streams WHERE stream = ?1")?;
        let found: Option<(i64, u64)> = select
            .query_row([&item.stream.stream], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match (found, item.expects) {
            (Some((id, version)), Some(expected)) if version == expected => Ok(StreamId(id)),
            (None, None) => self.begin_stream(item),
            _ => Err(AppendError::Conflict {
                stream: item.stream.stream.clone(),
            }),
        }
    }

    fn begin_stream(&self, item: &Item<'_>) -> Result<StreamId, AppendError> {
        let mut insert = self.db.prepare_cached(
            "INSERT INTO streams (stream, source, version, place, decode_state, policy_known, \
             entries, lines_read, records, ignored, repeats, refused) \
             VALUES (?1, ?2, 0, '', '', 0, 0, 0, 0, 0, 0, 0)",
        )?;
        let id = insert.insert(params![item.stream.stream, item.stream.source])?;
        Ok(StreamId(id))
    }

    /// Writes the checkpoint and adds `books` to the stream's. Returns its version.
    pub(super) fn move_checkpoint(
        &self,
        stream: StreamId,
        item: &Item<'_>,
        books: Books,
    ) -> Result<u64, AppendError> {
        self.change_marks(stream, item)?;
        self.add_fingerprints(stream, item)?;
        let (name, checkpoint) = (item.stream, item.checkpoint);
        let version = item.expects.unwrap_or(0) + 1;
        let mut update = self.db.prepare_cached(
            "UPDATE streams SET sandbox = ?2, sandbox_id = ?3, workspace = ?4, source = ?5, \
             version = ?6, place = ?7, decode_state = ?8, policy_version = ?9, policy_hash = ?10, \
             policy_known = ?11, lines_read = lines_read + ?12, records = records + ?13, \
             ignored = ignored + ?14, repeats = repeats + ?15, refused = refused + ?16 \
             WHERE id = ?1",
        )?;
        update.execute(params![
            stream.0,
            name.sandbox,
            name.sandbox_id,
            name.workspace,
            name.source,
            version,
            checkpoint.place,
            checkpoint.decode_state,
            checkpoint.policy.version,
            checkpoint.policy.hash,
            checkpoint.policy.known,
            books.lines_read,
            books.records,
            books.ignored,
            books.repeats,
            books.refused,
        ])?;
        Ok(version)
    }

    fn change_marks(&self, stream: StreamId, item: &Item<'_>) -> Result<(), AppendError> {
        let marks = &item.checkpoint.marks;
        if let Some(offset) = marks.drop_from_offset {
            self.db
                .prepare_cached("DELETE FROM marks WHERE stream = ?1 AND offset >= ?2")?
                .execute(params![stream.0, offset])?;
        }
        if marks.add.is_empty() {
            return Ok(());
        }
        let mut insert = self.db.prepare_cached(
            "INSERT OR REPLACE INTO marks (stream, offset, digest) VALUES (?1, ?2, ?3)",
        )?;
        for mark in &marks.add {
            insert.execute(params![stream.0, mark.offset, mark.digest])?;
        }
        Ok(())
    }

    /// One row of fingerprints a checkpoint; rows that lie wholly before the last lines kept go.
    fn add_fingerprints(&self, stream: StreamId, item: &Item<'_>) -> Result<(), AppendError> {
        let added = &item.checkpoint.fingerprints;
        if added.is_empty() {
            return Ok(());
        }
        let before: u64 = self
            .db
            .prepare_cached("SELECT coalesce(max(through), 0) FROM fingerprints WHERE stream = ?1")?
            .query_row([stream.0], |row| row.get(0))?;
        let through = before + added.len() as u64;
        let kept = &added[added.len().saturating_sub(FINGERPRINTS_MAX)..];
        let mut digests = Vec::with_capacity(kept.len() * FINGERPRINT_BYTES);
        kept.iter()
            .for_each(|fingerprint| digests.extend_from_slice(&fingerprint.0));
        self.db
            .prepare_cached(
                "INSERT INTO fingerprints (stream, through, digests) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![stream.0, through, digests])?;
        self.db
            .prepare_cached("DELETE FROM fingerprints WHERE stream = ?1 AND through <= ?2")?
            .execute(params![
                stream.0,
                through.saturating_sub(FINGERPRINTS_MAX as u64)
            ])?;
        Ok(())
    }
}
