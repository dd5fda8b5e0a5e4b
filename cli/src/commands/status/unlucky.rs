//! Which sandboxes lost most, by how many losses their streams have.

use std::collections::BTreeMap;

use boundlane_store::{GrowingLoss, StreamState};

use crate::text::escape::visible;

/// So many are named.
const NAMED_MAX: usize = 3;

/// A sandbox that lost something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unlucky {
    pub(super) sandbox: String,
    /// Gaps, drops and rejections, those without a number too.
    pub(super) losses: u64,
}

/// The first few, the one with most losses first.
pub(super) fn of(streams: &[StreamState], open: &[GrowingLoss]) -> Vec<Unlucky> {
    let mut losses: BTreeMap<&str, u64> = BTreeMap::new();
    for state in streams {
        let growing = open.iter().filter(|loss| loss.stream == state.id).count();
        let name = &state.name;
        let named = name.sandbox.as_deref().or(name.sandbox_id.as_deref());
        *losses.entry(named.unwrap_or(&name.stream)).or_default() +=
            state.tally.losses() + growing as u64;
    }
    let mut most: Vec<(&str, u64)> = losses.into_iter().filter(|(_, n)| *n > 0).collect();
    most.sort_by_key(|(_, losses)| std::cmp::Reverse(*losses));
    most.truncate(NAMED_MAX);
    let unlucky = |(sandbox, losses): (&str, u64)| Unlucky {
        sandbox: sandbox.to_owned(),
        losses,
    };
    most.into_iter().map(unlucky).collect()
}

/// `agent-1 (3), agent-2 (1)`; nothing when nobody lost anything.
pub(super) fn words(most: &[Unlucky]) -> Option<String> {
    let one = |unlucky: &Unlucky| format!("{} ({})", visible(&unlucky.sandbox), unlucky.losses);
    let words: Vec<String> = most.iter().map(one).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_sandbox_reaches_the_terminal() {
        assert_eq!(words(&[]), None);
        let of = |sandbox: &str, losses| Unlucky {
            sandbox: sandbox.to_owned(),
            losses,
        };
        let words = words(&[of("a", 3), of("\u{1b}[2Jb", 1)]);
        let words = words.unwrap_or_default();
        assert!(words.starts_with("a (3), ") && words.ends_with("b (1)"));
        assert!(!words.contains('\u{1b}'), "{words}");
    }
}
