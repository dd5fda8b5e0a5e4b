//! What is written about following itself: that it began, went on, and how it ended.

use boundlane_gateway::{Generation, Identity, Sandbox};
use boundlane_ingest::watch::WatchFrom;
use boundlane_record::{Micros, Session, SessionKind};
use serde_json::{Value, json};

use crate::context::without_secrets;

/// A stream was attached.
pub(crate) fn attached(
    identity: &Identity,
    generation: Generation,
    sandbox: &Sandbox,
    from: &WatchFrom,
) -> Session {
    let labels: serde_json::Map<String, Value> = sandbox
        .labels
        .iter()
        .map(|(key, value)| (clean(key), Value::from(clean(value))))
        .collect();
    let evidence = json!({
        "gateway": {
            "name": identity.name.as_deref().map(clean),
            "endpoint": clean(&identity.endpoint),
            "version": identity.version.as_deref().map(clean),
            "certificate": identity.certificate_sha256,
            "auth": identity.authenticated,
            "verification_skipped": identity.verification_skipped,
        },
        "sandbox": {
            "created": sandbox.created.map(|created| created.0),
            "labels": labels,
            "phase": sandbox.phase,
            "policy_version": sandbox.policy_version,
        },
        "from": match from {
            WatchFrom::Tail(_) => "tail",
            WatchFrom::After(_) => "cursor",
        },
        "generation": match generation {
            Generation::Old => "old",
            Generation::New => "new",
        },
    });
    session(SessionKind::Attached, Some(&evidence))
}

/// The stream is whole up to `to`, though nothing was said. Of a clock that was set back since `from`, nothing
/// is known but `to`.
pub(crate) fn mark(from: Option<Micros>, to: Micros) -> Session {
    Session {
        from: from.map(|from| from.min(to)),
        to: Some(to),
        ..session(SessionKind::Mark, None)
    }
}

/// Following ended, for a reason of ours or the gateway's.
pub(crate) fn detached(why: &str) -> Session {
    session(SessionKind::Detached, Some(&json!({ "why": why })))
}

/// The gateway itself ended the stream: nothing more will come.
pub(crate) fn end(why: &str) -> Session {
    session(SessionKind::End, Some(&json!({ "why": why })))
}

fn session(what: SessionKind, evidence: Option<&Value>) -> Session {
    Session {
        what,
        from: None,
        to: None,
        count: None,
        evidence: evidence.map(Value::to_string),
    }
}

fn clean(text: &str) -> String {
    without_secrets(text).into_owned()
}
