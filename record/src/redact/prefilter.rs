//! The one pass that every text pays: is there anything in it that a shape could begin with?
//!
//! A case-insensitive automaton over the literals below. A text without any of them holds no secret
//! that the matchers could recognise, and is left alone: no allocation, about a nanosecond a byte.

use aho_corasick::automaton::{Automaton, OverlappingState, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, Input, MatchKind, StartKind};

use super::assign::KeyClass;
use super::shapes::FORMS;
use super::url::Place;

/// What the place of a trigger has to be looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A word that makes a key's value secret.
    Key(KeyClass),
    /// `Bearer`, `Basic`.
    Scheme,
    /// `-u`, `--user`; the flag begins so many bytes after the trigger.
    UserFlag(usize),
    /// A character or a path that means something in a URL.
    Url(Place),
    /// A token form, by its place in [`FORMS`].
    Form(usize),
    /// `eyJ`.
    Jwt,
    /// The first line of a PEM block.
    Pem,
    /// A digit, a colon and what a Telegram bot's token goes on with.
    Telegram,
    /// `%` or `\`: the text may say something else when it is decoded.
    Escape,
    /// A tool that takes a password in its own way.
    Tool,
    /// A JSON key that matters in JSON alone.
    JsonKey,
}

/// The words of keys whose values are secret; law L7's list with its usual spellings, and near relatives.
pub(super) const KEY_WORDS: [&str; 21] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "access key",
    "access_key",
    "access-key",
    "accesskey",
    "account_key",
    "accountkey",
    "private key",
    "private_key",
    "private-key",
    "privatekey",
    "credential",
    "signature",
    "session",
];

/// The ends of header names whose whole value is secret.
pub(super) const HEADER_WORDS: [&str; 2] = ["authorization", "cookie"];

/// `-u` only counts after one of these, or a path such as `x86_64-unknown` would be looked at.
const BEFORE_FLAG: [char; 8] = [' ', '\t', '\n', '"', '\'', ':', ',', '['];

pub(super) struct Prefilter {
    automaton: DFA,
    triggers: Vec<Trigger>,
}

impl Prefilter {
    pub(super) fn new() -> Prefilter {
        let (literals, triggers): (Vec<String>, Vec<Trigger>) = literals().into_iter().unzip();
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(literals)
            .expect("L7: the built-in literals fit an automaton");
        Prefilter {
            automaton,
            triggers,
        }
    }

    /// Whether any trigger is in `text`.
    pub(super) fn is_triggered(&self, text: &[u8]) -> bool {
        self.any(text) || begins_with_flag(text)
    }

    /// Four parts at a time: the automaton waits for memory, so four walks cost little more than one.
    /// The parts overlap, so that a literal which ends in one and begins before it is whole in another.
    fn any(&self, text: &[u8]) -> bool {
        let Ok(start) = self.automaton.start_state(Anchored::No) else {
            return true;
        };
        let overlap = self.automaton.max_pattern_len() - 1;
        if text.len() < 4 * overlap {
            return self.walk(start, text);
        }
        let length = (text.len() + 3 * overlap).div_ceil(4);
        let part = |at: usize| &text[at..at + length];
        let stride = length - overlap;
        let (a, b, c, d) = (
            part(0),
            part(stride),
            part(2 * stride),
            part(text.len() - length),
        );
        let mut states = [start; 4];
        a.iter().zip(b).zip(c).zip(d).any(|(((&a, &b), &c), &d)| {
            states = self.step(states, [a, b, c, d]);
            states.iter().any(|&state| self.automaton.is_special(state))
        })
    }

    #[inline]
    fn step(&self, states: [StateID; 4], bytes: [u8; 4]) -> [StateID; 4] {
        let [a, b, c, d] = states;
        let [in_a, in_b, in_c, in_d] = bytes;
        let next = |state, byte| self.automaton.next_state(Anchored::No, state, byte);
        [next(a, in_a), next(b, in_b), next(c, in_c), next(d, in_d)]
    }

    /// Whether a trigger ends in `text`, coming from `state`.
    fn walk(&self, mut state: StateID, text: &[u8]) -> bool {
        text.iter().any(|&byte| {
            state = self.automaton.next_state(Anchored::No, state, byte);
            self.automaton.is_special(state)
        })
    }

    /// Calls `each` with every trigger, by where it ends.
    pub(super) fn each(&self, text: &[u8], mut each: impl FnMut(Trigger, usize, usize)) {
        if begins_with_flag(text) {
            each(Trigger::UserFlag(0), 0, 2);
        }
        let mut state = OverlappingState::start();
        let input = Input::new(text);
        while self
            .automaton
            .try_find_overlapping(&input, &mut state)
            .is_ok()
        {
            let Some(found) = state.get_match() else {
                return;
            };
            let trigger = self.triggers[found.pattern().as_usize()];
            each(trigger, found.start(), found.end());
        }
    }
}

impl std::fmt::Debug for Prefilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Prefilter({} literals)", self.triggers.len())
    }
}

fn begins_with_flag(text: &[u8]) -> bool {
    matches!(text, [b'-', b'u' | b'U', ..])
}

fn literals() -> Vec<(String, Trigger)> {
    let mut all = Vec::new();
    let mut add = |literal: &str, trigger| all.push((literal.to_owned(), trigger));
    for word in KEY_WORDS {
        add(word, Trigger::Key(KeyClass::Value));
    }
    for word in HEADER_WORDS {
        add(word, Trigger::Key(KeyClass::Header));
    }
    for word in ["bearer", "basic"] {
        add(word, Trigger::Scheme);
    }
    for before in BEFORE_FLAG {
        add(&format!("{before}-u"), Trigger::UserFlag(1));
    }
    for flag in ["--user", "--proxy-user"] {
        add(flag, Trigger::UserFlag(0));
    }
    for (literal, place) in Place::TRIGGERS {
        add(literal, Trigger::Url(place));
    }
    for (index, form) in FORMS.iter().enumerate() {
        add(form.prefix, Trigger::Form(index));
    }
    for digit in 0..=9 {
        for next in ('a'..='z').chain(['_', '-']) {
            add(&format!("{digit}:{next}"), Trigger::Telegram);
        }
    }
    add("eyj", Trigger::Jwt);
    add("-----begin", Trigger::Pem);
    add("%", Trigger::Escape);
    add("\\", Trigger::Escape);
    for (tool, ..) in super::command::TOOLS {
        add(tool, Trigger::Tool);
    }
    for key in super::json::WHOLE_KEYS {
        add(&format!("\"{key}\""), Trigger::JsonKey);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_at_a_seam_is_missed() {
        // Proves that every literal is seen at every place of texts of every length around the parts,
        // and that the same texts without it are left alone.
        let prefilter = Prefilter::new();
        for length in [0, 1, 13, 51, 52, 53, 54, 55, 56, 57, 90, 257] {
            assert!(
                !prefilter.is_triggered("z".repeat(length).as_bytes()),
                "{length}"
            );
            for (literal, _) in literals() {
                for before in 0..=length {
                    let text =
                        "z".repeat(before) + &literal.to_uppercase() + &"z".repeat(length - before);
                    assert!(
                        prefilter.is_triggered(text.as_bytes()),
                        "{literal} in {text}"
                    );
                }
            }
        }
    }
}
