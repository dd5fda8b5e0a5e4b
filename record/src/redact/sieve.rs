//! The quick look at a text: may any of many literals be in it?
//!
//! An automaton of our own, because it has to answer no more than that: one state stands for "found" and
//! is never left, so no step asks anything. Four parts of the text are walked at a time, because each
//! step waits for memory; they overlap, so that a literal which ends in one and begins before it is whole
//! in another.

use std::collections::HashMap;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind, StartKind};

/// How much of a literal is looked for: its last bytes. More would cost more overlap and find hardly less.
const TAIL_BYTES: usize = 8;

/// How far a literal may reach back from what is looked at.
pub(super) const OVERLAP: usize = TAIL_BYTES - 1;

/// Kinds of bytes: each that is in a literal, upper and lower case alike, and all others.
const KINDS: usize = 64;

/// As many entries as a state's number and a kind can address, so that no step checks a bound.
const ENTRIES: usize = 1 << 16;

pub(super) struct Sieve {
    kinds: [u8; 256],
    /// The next state, for each state (a multiple of [`KINDS`]) and kind.
    next: Box<[u16; ENTRIES]>,
}

/// The state behind a literal, which is never left.
const FOUND: usize = 0;
/// The state at the start of a text.
const START: usize = KINDS;

impl Sieve {
    /// Lets texts through that hold any of `literals`, in any case, and few others.
    pub(super) fn new<'l>(literals: impl Iterator<Item = &'l str>) -> Sieve {
        let tails = literals.map(|literal| {
            let tail = literal.len().saturating_sub(TAIL_BYTES);
            literal.as_bytes()[tail..].to_ascii_lowercase()
        });
        let tails: Vec<Vec<u8>> = tails.collect();
        let automaton = DFA::builder()
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Unanchored)
            .prefilter(false)
            .build(&tails)
            .expect("L7: the built-in literals fit an automaton");
        let (kinds, examples) = kinds(&tails);
        Sieve {
            kinds,
            next: next(&automaton, &examples),
        }
    }

    /// Whether any literal may be in `text`.
    #[inline]
    pub(super) fn may_hold(&self, text: &[u8]) -> bool {
        if text.len() < 4 * OVERLAP {
            let walk = |state, &byte| self.step(state, byte);
            return text.iter().fold(START, walk) == FOUND;
        }
        let length = (text.len() + 3 * OVERLAP).div_ceil(4);
        let stride = length - OVERLAP;
        let part = |at: usize| &text[at..at + length];
        let (a, b) = (part(0), part(stride));
        let (c, d) = (part(2 * stride), part(text.len() - length));
        let [mut in_a, mut in_b, mut in_c, mut in_d] = [START; 4];
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            in_a = self.step(in_a, *a);
            in_b = self.step(in_b, *b);
            in_c = self.step(in_c, *c);
            in_d = self.step(in_d, *d);
        }
        [in_a, in_b, in_c, in_d].contains(&FOUND)
    }

    #[inline(always)]
    fn step(&self, state: usize, byte: u8) -> usize {
        let kind = usize::from(self.kinds[usize::from(byte)]);
        usize::from(self.next[(state | kind) % ENTRIES])
    }
}

/// The kind of each byte, and a byte of each kind.
fn kinds(literals: &[Vec<u8>]) -> ([u8; 256], Vec<u8>) {
    let mut kinds = [0u8; 256];
    // A byte that is in no literal, for none is more than ASCII.
    let mut examples = vec![u8::MAX];
    for &byte in literals.iter().flatten() {
        if kinds[usize::from(byte)] == 0 {
            let kind = u8::try_from(examples.len()).expect("L7: the literals have few bytes");
            kinds[usize::from(byte)] = kind;
            kinds[usize::from(byte.to_ascii_uppercase())] = kind;
            examples.push(byte);
        }
    }
    assert!(examples.len() <= KINDS, "L7: the literals have few bytes");
    (kinds, examples)
}

/// The steps between the states of `automaton` that are reached without a match.
fn next(automaton: &DFA, examples: &[u8]) -> Box<[u16; ENTRIES]> {
    let mut next = vec![0u16; ENTRIES];
    let start = automaton
        .start_state(Anchored::No)
        .expect("L7: the automaton has a start");
    let mut numbers: HashMap<StateID, usize> = HashMap::from([(start, START)]);
    let mut waiting = vec![start];
    while let Some(state) = waiting.pop() {
        let row = numbers[&state];
        for (kind, &byte) in examples.iter().enumerate() {
            let to = automaton.next_state(Anchored::No, state, byte);
            if automaton.is_match(to) {
                continue;
            }
            let states = numbers.len() + 1;
            let number = *numbers.entry(to).or_insert_with(|| {
                waiting.push(to);
                states * KINDS
            });
            next[row + kind] = u16::try_from(number).expect("L7: the literals have few states");
        }
    }
    next.into_boxed_slice()
        .try_into()
        .expect("L7: the table has its length")
}
