//! What a journal that follows a damaged one takes over: checkpoints with their digests, losses that had no
//! number yet, bounds. Books begin anew; the lines of a loss that had no number come along with it.

use std::path::Path;

use boundlane_record::{Extent, Gap, GapCause, Micros, StreamName};
use rusqlite::Connection;

use crate::salvage::Salvage;

/// Streams that are named one by one when their checkpoints are lost; beyond, one gap is about all.
const NAMED_MAX: usize = 1000;

/// The columns of a checkpoint.
const CHECKPOINT: &str = "id, stream, sandbox, sandbox_id, workspace, source, version, place, \
     decode_state, policy_version, policy_hash, policy_known, last_time, last_observed";

/// Lays the salvaged file beside the new one.
pub(super) fn attach(db: &Connection, salvaged: &Path) -> rusqlite::Result<()> {
    let path = salvaged
        .to_str()
        .ok_or_else(|| rusqlite::Error::InvalidPath(salvaged.to_owned()))?;
    db.execute("ATTACH ?1 AS old", [path])?;
    Ok(())
}

/// Takes over what reading goes on from. Digests by another key compare with nothing and stay behind.
pub(super) fn checkpoints(db: &Connection) -> rusqlite::Result<()> {
    let refused = "coalesce((SELECT sum(lines) FROM old.open_losses AS o \
         WHERE o.stream = s.id AND o.kind = 'drops'), 0)";
    let is_same_key = "(SELECT key_hash FROM old.journal) = (SELECT key_hash FROM main.journal)";
    let is_known = "stream IN (SELECT id FROM main.streams)";
    db.execute_batch(&format!(
        "INSERT INTO main.streams ({CHECKPOINT}, entries, lines_read, records, ignored, repeats, refused)
           SELECT {CHECKPOINT}, 0, {refused}, 0, 0, 0, {refused} FROM old.streams AS s WHERE version > 0;
         INSERT INTO main.marks SELECT * FROM old.marks WHERE {is_known} AND {is_same_key};
         INSERT INTO main.fingerprints SELECT * FROM old.fingerprints WHERE {is_known} AND {is_same_key};
         INSERT INTO main.open_losses SELECT * FROM old.open_losses WHERE {is_known};
         INSERT OR REPLACE INTO main.limits SELECT * FROM old.limits;
         UPDATE main.journal SET
           lines_read = (SELECT coalesce(sum(lines_read), 0) FROM main.streams),
           refused = (SELECT coalesce(sum(refused), 0) FROM main.streams);"
    ))
}

/// Streams whose checkpoints are lost; one more than are named at most.
pub(super) fn lost(db: &Connection) -> rusqlite::Result<Vec<StreamName>> {
    db.prepare(
        "SELECT stream, sandbox, sandbox_id, workspace, source FROM old.streams WHERE version = 0 \
         ORDER BY id LIMIT ?1",
    )?
    .query_map([NAMED_MAX as u64 + 1], |row| {
        Ok(StreamName {
            stream: row.get(0)?,
            sandbox: row.get(1)?,
            sandbox_id: row.get(2)?,
            workspace: row.get(3)?,
            source: row.get(4)?,
        })
    })?
    .collect()
}

/// A gap for each stream whose checkpoint is lost: what came since its last entry is not known, and what
/// is read again may be here already.
pub(super) fn gaps(
    salvage: &Salvage,
    lost: Vec<StreamName>,
    now: Micros,
) -> Vec<(StreamName, Gap)> {
    let gap = |evidence: serde_json::Value| Gap {
        cause: GapCause::CheckpointLost,
        extent: Extent::Unknown,
        from: None,
        to: Some(now),
        after_cursor: None,
        before_cursor: None,
        evidence: Some(evidence.to_string()),
    };
    if salvage.streams_unknown || lost.len() > NAMED_MAX {
        let evidence = serde_json::json!({ "checkpoints_lost": salvage.checkpoints_lost });
        return vec![(StreamName::default(), gap(evidence))];
    }
    let named = lost.into_iter().map(|name| {
        let evidence = serde_json::json!({ "stream": name.stream });
        (name, gap(evidence))
    });
    named.collect()
}

/// What is missing, as evidence.
pub(super) fn state(salvage: &Salvage, evidence: &mut serde_json::Value) {
    let ranges = salvage
        .missing
        .iter()
        .map(|(first, last)| [first.0, last.0]);
    evidence["missing"] = ranges.collect::<Vec<_>>().into();
    evidence["missing_entries"] = salvage.missing_entries.into();
    if let Some(tail) = salvage.tail {
        evidence["tail"] = tail.into();
    }
    if salvage.contradicted > 0 {
        evidence["contradicted_subtrees"] = salvage.contradicted.into();
    }
    if salvage.open_losses_unknown {
        evidence["open_losses"] = "unknown".into();
    }
}
