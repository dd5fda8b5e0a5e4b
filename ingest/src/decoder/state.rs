//! What reading a stream's next line depends on, and who its lines say they are from.

use boundlane_record::{PolicyInForce, StreamName};
use serde::{Deserialize, Serialize};

/// A checkpoint's decode state that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the checkpoint's decode state cannot be read: {0}")]
pub struct BadState(#[from] serde_json::Error);

/// What the next line depends on. Part of the checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecodeState {
    /// The policy that decisions are made under.
    pub policy: PolicyInForce,
    /// A line with a time prefix was read: a bare line may be the rest of a record.
    pub after_prefixed: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy_hash: Option<String>,
    policy_known: bool,
    after_prefixed: bool,
}

impl DecodeState {
    /// One JSON object: `policy_version`, `policy_hash`, `policy_known`, `after_prefixed`.
    pub fn to_json(&self) -> String {
        let stored = Stored {
            policy_version: self.policy.version.clone(),
            policy_hash: self.policy.hash.clone(),
            policy_known: self.policy.known,
            after_prefixed: self.after_prefixed,
        };
        // Strings and booleans always serialise.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads what [`DecodeState::to_json`] wrote; keys of a newer writer are passed over.
    ///
    /// # Errors
    /// [`BadState`] when it is anything else.
    pub fn from_json(text: &str) -> Result<DecodeState, BadState> {
        let stored: Stored = serde_json::from_str(text)?;
        let policy = PolicyInForce {
            version: stored.policy_version,
            hash: stored.policy_hash,
            known: stored.policy_known,
        };
        Ok(DecodeState {
            policy,
            after_prefixed: stored.after_prefixed,
        })
    }
}

/// The sandbox that a line says it is from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatedSandbox {
    /// Its id.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
}

impl StatedSandbox {
    /// Whether the line cannot be of `stream`: another id, or another name than the one given, which
    /// may be the id too.
    pub fn contradicts(&self, stream: &StreamName) -> bool {
        let other_id = match (&self.id, &stream.sandbox_id) {
            (Some(stated), Some(known)) => stated != known,
            _ => false,
        };
        let other_name = match (&self.name, &stream.sandbox) {
            (Some(stated), Some(given)) => stated != given && self.id.as_ref() != Some(given),
            _ => false,
        };
        other_id || other_name
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn state_reads_back_as_it_was_written() {
        let policy = PolicyInForce {
            version: None,
            hash: Some("ab".into()),
            known: true,
        };
        let state = DecodeState {
            policy,
            after_prefixed: true,
        };
        assert_eq!(
            state.to_json(),
            r#"{"policy_hash":"ab","policy_known":true,"after_prefixed":true}"#
        );
        assert_eq!(DecodeState::from_json(&state.to_json()).unwrap(), state);
        assert!(DecodeState::from_json("{}").is_err());
    }

    #[test]
    fn name_given_must_be_the_stated_name_or_id() {
        let stated = StatedSandbox {
            id: Some("id-1".into()),
            name: Some("demo".into()),
        };
        let stream = |name: &str, id: Option<&str>| StreamName {
            sandbox: Some(name.into()),
            sandbox_id: id.map(Into::into),
            ..StreamName::default()
        };
        assert!(!stated.contradicts(&stream("demo", None)));
        assert!(!stated.contradicts(&stream("id-1", Some("id-1"))));
        assert!(stated.contradicts(&stream("other", None)));
        assert!(stated.contradicts(&stream("demo", Some("id-2"))));
        assert!(!StatedSandbox::default().contradicts(&stream("other", None)));
    }
}
