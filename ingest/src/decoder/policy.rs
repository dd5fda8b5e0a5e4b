//! Which policy a sandbox runs under, as its own lines say.

use std::borrow::Cow;

use boundlane_record::{Kind, Origin, PolicyInForce};

use super::Draft;
use crate::shorthand::{named_value, trailing_groups};

/// A version or hash longer than this is none, in bytes.
const POLICY_TEXT_BYTES_MAX: usize = 256;

const HASH_KEYS: [&str; 2] = ["hash", "policy_hash"];
const VERSION_KEYS: [&str; 2] = ["version", "policy_version"];

/// Follows a line of state LOADED that the sandbox itself spoke: with a hash the policy is known,
/// without one it is not, and neither where the line may be the forged rest of another record.
pub(super) fn follow(policy: &mut PolicyInForce, draft: &Draft<'_>, origin: &str, continued: bool) {
    let is_loaded = draft.kind == Kind::Event
        && draft.row.class_tag.as_deref() == Some("CONFIG")
        && draft
            .row
            .activity
            .as_deref()
            .is_some_and(|word| word.eq_ignore_ascii_case("LOADED"));
    if !is_loaded || origin != Origin::Sandbox.word() {
        return;
    }
    let hash = stated(draft, &HASH_KEYS).filter(|_| !continued);
    *policy = match hash {
        Some(hash) => PolicyInForce {
            version: stated(draft, &VERSION_KEYS),
            hash: Some(hash),
            known: true,
        },
        None => PolicyInForce::default(),
    };
}

/// A value from the line's named values, or from the groups that its message ends with.
fn stated(draft: &Draft<'_>, keys: &[&str]) -> Option<String> {
    let named = keys.iter().find_map(|key| draft.values.value(key));
    let message = draft.row.message.as_deref().unwrap_or_default();
    let in_message = || trailing_groups(message).find_map(|group| value_in(group, keys));
    named
        .or_else(in_message)
        .filter(|text| !text.is_empty() && text.len() <= POLICY_TEXT_BYTES_MAX)
        .map(str::to_owned)
}

fn value_in<'a>(group: &'a str, keys: &[&str]) -> Option<&'a str> {
    let pairs = group.split(' ').filter_map(named_value);
    pairs
        .into_iter()
        .find(|(key, _)| keys.contains(key))
        .map(|(_, value)| value)
}

/// Puts the policy in force on a decision.
pub(super) fn label<'a>(policy: &'a PolicyInForce, draft: &mut Draft<'a>) {
    if draft.kind != Kind::Decision {
        return;
    }
    draft.row.policy_known = Some(policy.known);
    if policy.known {
        draft.row.policy_version = policy.version.as_deref().map(Cow::Borrowed);
        draft.row.policy_hash = policy.hash.as_deref().map(Cow::Borrowed);
    }
}
