//! The one pass that every text pays: is there anything in it that a shape could begin with?
//!
//! A case-insensitive automaton over the literals below. A text without any of them holds no secret
//! that the matchers could recognise, and is left alone: no allocation, about half a nanosecond a byte
//! in the [`Sieve`], which lets few other texts through.

use aho_corasick::automaton::{Automaton, OverlappingState, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, Input, MatchKind, StartKind};

use super::assign::KeyClass;
use super::shapes::FORMS;
use super::sieve::{OVERLAP, Sieve};
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
    sieve: Sieve,
    automaton: DFA,
    triggers: Vec<Trigger>,
}

impl Prefilter {
    pub(super) fn new() -> Prefilter {
        let (literals, triggers): (Vec<String>, Vec<Trigger>) = literals().into_iter().unzip();
        let sieve = Sieve::new(literals.iter().map(String::as_str).chain([FLAG_IN_PART]));
        let automaton = DFA::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(literals)
            .expect("L7: the built-in literals fit an automaton");
        Prefilter {
            sieve,
            automaton,
            triggers,
        }
    }

    /// Whether any trigger is in `text`.
    pub(super) fn is_triggered(&self, text: &[u8]) -> bool {
        begins_with_flag(text) || self.sieve.may_hold(text) && self.any(text)
    }

    /// Whether no trigger is in `text`, nor in any part of it by itself that begins behind a blank, a quote,
    /// `:`, `,`, `[` or `=`. May say no for a text that has none.
    /// Its first `from` bytes are known to have none by themselves.
    pub(super) fn is_clear_from(&self, text: &[u8], from: usize) -> bool {
        // A trigger that ends behind them may begin in them.
        let unknown = text.get(from.saturating_sub(OVERLAP)..).unwrap_or(text);
        !begins_with_flag(text) && !self.sieve.may_hold(unknown)
    }

    fn any(&self, text: &[u8]) -> bool {
        let start = self.automaton.start_state(Anchored::No);
        start.map_or(true, |start| self.walk(start, text))
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

/// `-u` where a part of a text may begin that is looked at by itself: behind a key's `=`. Behind all other
/// delimiters it is a literal anyway.
const FLAG_IN_PART: &str = "=-u";

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
    use proptest::prelude::*;

    use super::*;
    use crate::redact::{FieldKind, PREFILTER, Redactor, scan};

    /// What literals are made of, so that whole ones and half ones come up, and delimiters.
    const PIECES: [&str; 24] = [
        "-u",
        "-U",
        "tok",
        "en",
        "=",
        " ",
        ":",
        "[",
        "a",
        "root:x",
        "1",
        "sess",
        "ion",
        "Basic",
        "sk-",
        "ant-",
        "/t/",
        "git",
        "\"",
        "://",
        "[policy:- engine:opa]",
        "AKIA",
        "0123456789ABCDEF",
        "é",
    ];

    fn found(text: &str, kind: FieldKind) -> bool {
        !scan::settled(&Redactor::default(), text.as_bytes(), kind).is_empty()
    }

    proptest! {
        /// For all lines that are clear, the full look finds nothing, in no part and whatever the part is.
        #[test]
        fn clear_line_holds_nothing(pieces in proptest::collection::vec(0..PIECES.len(), 0..24)) {
            let line: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
            let prefilter = &PREFILTER;
            let is_clear = prefilter.is_clear_from(line.as_bytes(), 0);
            let delimiters = [' ', '"', ':', '[', '='];
            let starts = line.match_indices(delimiters).map(|(at, _)| at + 1);
            for start in starts.chain([0]).filter(|_| is_clear) {
                for end in (start..=line.len()).filter(|&end| line.is_char_boundary(end)) {
                    for kind in [FieldKind::Text, FieldKind::Url, FieldKind::Command] {
                        prop_assert!(!found(&line[start..end], kind), "{line}: {start}..{end}");
                    }
                }
            }
        }

        /// For all lines and each of their heads that is clear, to look only behind it finds the same.
        #[test]
        fn clear_head_may_be_passed_over(pieces in proptest::collection::vec(0..PIECES.len(), 0..12)) {
            let line: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
            let is_clear_from = |text: &str, from| PREFILTER.is_clear_from(text.as_bytes(), from);
            let heads = (0..=line.len()).filter(|&at| line.is_char_boundary(at));
            for from in heads.filter(|&at| is_clear_from(&line[..at], 0)) {
                prop_assert_eq!(is_clear_from(&line, from), is_clear_from(&line, 0), "{}", from);
            }
        }

        /// For all texts, the sieve lets through what the automaton finds.
        #[test]
        fn trigger_passes_the_sieve(pieces in proptest::collection::vec(0..PIECES.len(), 0..24)) {
            let text: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
            let prefilter = &PREFILTER;
            let is_there = prefilter.any(text.as_bytes());
            prop_assert!(!is_there || prefilter.sieve.may_hold(text.as_bytes()), "{text}");
        }
    }

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
