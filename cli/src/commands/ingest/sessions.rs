//! What a reading says about itself: that it began, how it ended, and where it could not be sure.

use boundlane_ingest::input::Compression;
use boundlane_record::{EntryBatch, Extent, Gap, GapCause, Micros, Session, SessionKind};

use super::doubt::MayRepeat;
use super::summary::Tallied;
use crate::context::without_secrets;

/// Reading began; `first` holds its first records.
pub(super) fn attached(
    name: &str,
    compression: Compression,
    first: &EntryBatch,
    doubt: Option<&MayRepeat>,
) -> Session {
    let records = first.metas().iter().filter(|meta| meta.kind.is_record());
    let mut evidence = serde_json::json!({
        "name": without_secrets(name),
        "compression": compression.word(),
        "first_time": records.filter_map(|meta| meta.time).map(|time| time.0).min(),
    });
    if let Some(doubt) = doubt {
        evidence["may_repeat"] = doubt.json();
    }
    session(SessionKind::Attached, None, &evidence)
}

/// Reading ended, this far into the input.
pub(super) fn detached(tallied: &Tallied, bytes: u64, why: &str) -> Session {
    let mut evidence = serde_json::json!({
        "bytes": bytes,
        "lines": tallied.books.lines_read,
        "last_time": tallied.last_time.map(|time| time.0),
        "why": why,
    });
    if tallied.nul_bytes > 0 {
        evidence["nul_bytes"] = tallied.nul_bytes.into();
    }
    if let Some(broken) = &tallied.broken {
        evidence["confirmed_bytes"] = broken.confirmed_bytes.into();
    }
    session(
        SessionKind::Detached,
        Some(tallied.books.records),
        &evidence,
    )
}

fn session(what: SessionKind, count: Option<u64>, evidence: &serde_json::Value) -> Session {
    Session {
        what,
        from: None,
        to: None,
        count,
        evidence: Some(evidence.to_string()),
    }
}

/// The gap before a line that is not the one that an alignment expected.
pub(super) fn refuted(observed: Micros) -> Gap {
    Gap {
        cause: GapCause::Ambiguous,
        extent: Extent::Unknown,
        from: None,
        to: Some(observed),
        after_cursor: None,
        before_cursor: None,
        evidence: Some(r#"{"fit":"refuted"}"#.to_owned()),
    }
}
