//! Standard input without a known prefix: a tail of a log, laid over the last lines that are stored.
//!
//! Lines are compared as a sequence of keyed fingerprints, never by their times. A shift *fits* when
//! all lines that lie over each other are equal. What a fit says of the first `window` lines of the
//! input, when the chain holds `chain` lines of which the last `stored` have fingerprints:
//!
//! ```text
//! chain     |------- chain - stored -------|------- stored -------|
//! input                        [ before ][ overlap ][ ... new lines
//! ```
//!
//! - the overlap is stored: those lines are repeats;
//! - lines before the overlap (the input begins before the fingerprints) precede stored lines in the
//!   same log. The chain has `chain - stored` lines there, so the last that many of them are repeats
//!   too; any before those are *older* than all that is stored, and are to be stored;
//! - lines after it are new, or, where the input ends inside of what is stored, those stored there.
//!
//! So a fit calls the input lines `older .. older + repeats` stored. One fit proves continuity. Of
//! several the longest overlap is taken (of equal ones the one that calls the fewest lines repeats).
//! If another fit was the true one, the lines that were wrongly called repeats are lost: those that the
//! taken fit calls stored and the other does not. `k` is the most lines that any other fit would lose
//! in this way, and the gap is `at_most k`; for two fits at the end of the stored lines that is the
//! longer overlap less the shorter. When the input goes on after the window, lines that a fit expects
//! there count as called stored. With `k` = 0 all fits agree on what is stored and there is no gap.
//!
//! A weak fit (fewer than [`FIT_LINES_MIN`] lines when so many are stored, or no line with a time) may be
//! chance, so that the input need not follow at all: it is taken, and the gap is of unknown extent.

use boundlane_record::{Extent, Fingerprint, GapCause};

use super::Ahead;
use super::fits::{Overlap, overlaps};

/// Lines of a chain whose fingerprints are kept, and lines of a new input that are looked at.
pub const LINES_KEPT_MAX: usize = 4096;

/// Bytes of a new input that are looked at; the line that crosses the limit is the last one.
pub const ALIGN_BYTES_MAX: usize = 8 << 20;

/// A shorter fit proves nothing, unless all stored lines are in it.
pub const FIT_LINES_MIN: usize = 8;

/// One line of the new input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlignLine {
    /// Of the line as it came.
    pub fingerprint: Fingerprint,
    /// What of it is in memory, with its newline.
    pub bytes: usize,
    /// Whether the line itself carries a time.
    pub timed: bool,
    /// Whether it had a newline.
    pub terminated: bool,
}

/// How the input lies to the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// There is nothing to compare: nothing is stored, or the input is empty.
    Nothing,
    /// No shift fits.
    None,
    /// One, and it proves continuity.
    One,
    /// Several; the longest overlap was taken.
    Several,
    /// The longest overlap is too short, or of lines without times.
    Weak,
}

impl Fit {
    /// The word in the evidence.
    pub fn word(self) -> &'static str {
        match self {
            Fit::Nothing => "nothing",
            Fit::None => "none",
            Fit::One => "one",
            Fit::Several => "several",
            Fit::Weak => "weak",
        }
    }
}

/// Which lines of the input are stored already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// How the input lies to the chain.
    pub fit: Fit,
    /// Leading lines that precede all that is stored: store them.
    pub older: usize,
    /// Lines after those that are stored already.
    pub repeats: usize,
    /// What cannot be told. [`Fit::None`] is a gap between the chain and the input, which begins a new
    /// chain; others lie before the first line that is stored.
    pub gap: Option<(GapCause, Extent)>,
    /// The same as a judge of each line. It also knows which lines have to follow when the window ends
    /// inside of what is stored: not when the input ended there too and several fits are possible.
    pub ahead: Ahead,
    /// How it was found: one JSON object.
    pub evidence: String,
}

/// Collects the first lines of an input and aligns them.
#[derive(Debug)]
pub struct Align {
    stored: Vec<Fingerprint>,
    chain_lines: u64,
    new: Vec<Fingerprint>,
    timed: Vec<bool>,
    bytes: usize,
}

impl Align {
    /// `stored` are the last fingerprints of the newest chain, oldest first, at most
    /// [`LINES_KEPT_MAX`]; `chain_lines` is how many lines that chain has in all:
    /// [`lines`](super::Place::lines) and [`older_lines`](super::Place::older_lines) of its place.
    pub fn new(mut stored: Vec<Fingerprint>, chain_lines: u64) -> Align {
        stored.drain(..stored.len().saturating_sub(LINES_KEPT_MAX));
        let chain_lines = chain_lines.max(stored.len() as u64);
        Align {
            stored,
            chain_lines,
            new: Vec::new(),
            timed: Vec::new(),
            bytes: 0,
        }
    }

    /// Whether the window is full. Hold lines and feed them until it is, or the input ends.
    pub fn is_full(&self) -> bool {
        self.new.len() >= LINES_KEPT_MAX || self.bytes >= ALIGN_BYTES_MAX
    }

    /// Takes the next line of the input; not when the window is full. A last line without newline is
    /// not compared, since where it is stored it may be longer; unless there is no other.
    pub fn feed(&mut self, line: AlignLine) {
        self.bytes = self.bytes.saturating_add(line.bytes);
        if line.terminated || self.new.is_empty() {
            self.new.push(line.fingerprint);
            self.timed.push(line.timed);
        }
    }

    /// The alignment of the lines that were fed; `ended` says whether they are all of the input.
    pub fn finish(self, ended: bool) -> Alignment {
        if self.stored.is_empty() || self.new.is_empty() {
            return self.alignment(Fit::Nothing, None, &[], ended);
        }
        let fits = overlaps(&self.stored, &self.new);
        // The first of equal ones has the greatest shift, which calls the fewest lines repeats.
        let longest = fits
            .iter()
            .rev()
            .max_by_key(|overlap| overlap.lines)
            .copied();
        let Some(taken) = longest else {
            return self.alignment(Fit::None, None, &[], ended);
        };
        let fit = match fits.len() {
            _ if self.is_weak(taken) => Fit::Weak,
            1 => Fit::One,
            _ => Fit::Several,
        };
        self.alignment(fit, Some(taken), &fits, ended)
    }

    fn is_weak(&self, overlap: Overlap) -> bool {
        let enough = FIT_LINES_MIN.min(self.stored.len());
        let laid = &self.timed[overlap.first..overlap.first + overlap.lines];
        overlap.lines < enough || !laid.contains(&true)
    }

    /// The new lines that a fit calls stored.
    fn stored_by(&self, overlap: Overlap) -> std::ops::Range<usize> {
        let before = self.chain_lines - self.stored.len() as u64;
        let before = usize::try_from(before).unwrap_or(usize::MAX);
        overlap.first.saturating_sub(before)..overlap.first + overlap.lines
    }

    /// The same, with the lines after the window that it would call stored too.
    fn stored_in_all_by(&self, overlap: Overlap, ended: bool) -> std::ops::Range<usize> {
        let stored = self.stored_by(overlap);
        let after = if ended { 0 } else { self.beyond(overlap).len() };
        stored.start..stored.end + after
    }

    fn alignment(
        &self,
        fit: Fit,
        taken: Option<Overlap>,
        fits: &[Overlap],
        ended: bool,
    ) -> Alignment {
        let stored = taken.map_or(0..0, |overlap| self.stored_by(overlap));
        let all = taken.map_or(0..0, |overlap| self.stored_in_all_by(overlap, ended));
        let lost = |fit: &Overlap| lines_only_in(&all, &self.stored_in_all_by(*fit, ended));
        let lost_max = fits.iter().map(lost).max().unwrap_or(0);
        let expected = match taken {
            Some(overlap) if !ended || fit == Fit::One => self.beyond(overlap),
            _ => &[],
        };
        Alignment {
            fit,
            older: stored.start,
            repeats: stored.len(),
            gap: gap(fit, lost_max),
            ahead: Ahead::new(stored.start, stored.len(), expected),
            evidence: self.evidence(fit, taken, fits, lost_max),
        }
    }

    /// The stored lines after the overlap.
    fn beyond(&self, overlap: Overlap) -> &[Fingerprint] {
        let reached = overlap.lines.saturating_add_signed(overlap.shift.max(0));
        self.stored.get(reached..).unwrap_or_default()
    }

    fn evidence(&self, fit: Fit, taken: Option<Overlap>, fits: &[Overlap], lost: usize) -> String {
        let shortest = fits.iter().map(|overlap| overlap.lines).min();
        serde_json::json!({
            "fit": fit.word(),
            "fits": fits.len(),
            "chain_lines": self.chain_lines,
            "stored_lines": self.stored.len(),
            "input_lines": self.new.len(),
            "overlap_lines": taken.map(|overlap| overlap.lines),
            "shortest_lines": shortest,
            "begins_before_lines": taken.map(|overlap| overlap.first),
            "lost_lines_max": lost,
        })
        .to_string()
    }
}

fn gap(fit: Fit, lost_max: usize) -> Option<(GapCause, Extent)> {
    let lost_max = Extent::AtMost(lost_max as u64);
    match fit {
        Fit::Several if lost_max != Extent::AtMost(0) => Some((GapCause::Ambiguous, lost_max)),
        Fit::Nothing | Fit::One | Fit::Several => None,
        Fit::None => Some((GapCause::HistoryUnavailable, Extent::Unknown)),
        Fit::Weak => Some((GapCause::Ambiguous, Extent::Unknown)),
    }
}

/// How many lines of `range` are not in `other`.
fn lines_only_in(range: &std::ops::Range<usize>, other: &std::ops::Range<usize>) -> usize {
    let shared = range
        .end
        .min(other.end)
        .saturating_sub(range.start.max(other.start));
    range.len() - shared
}
