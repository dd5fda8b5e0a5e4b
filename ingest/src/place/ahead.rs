//! Lines of an aligned input that are known before they are read.

use boundlane_record::Fingerprint;

use super::Place;

/// How many lines after the place an alignment has spoken of; stored with the place, so that a run
/// which was killed among them goes on as it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AheadLines {
    /// First: lines older than all that is stored, to be stored.
    pub older: u64,
    /// Then: lines that are stored.
    pub repeats: u64,
    /// Then: as many as the last lines of the chain, if they are the same.
    pub expected: u64,
}

/// What one line is to what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Older than all that is stored: store it. It gets no fingerprint in the chain.
    Older,
    /// Stored already.
    Repeat,
    /// After all that is stored: judge it by the pending line of the place, if there is one, and store
    /// it.
    New,
    /// New, and the first one that is not what the alignment expected: before it lies a gap,
    /// [`Ambiguous`](boundlane_record::GapCause::Ambiguous) and of unknown extent.
    Refuted,
}

/// Judges the lines after a place one by one. The default one calls every line new.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ahead {
    older: u64,
    repeats: u64,
    /// Reversed: the next one is the last.
    expected: Vec<Fingerprint>,
}

impl Ahead {
    pub(super) fn new(older: usize, repeats: usize, expected: &[Fingerprint]) -> Ahead {
        let expected = expected.iter().rev().copied().collect();
        Ahead {
            older: older as u64,
            repeats: repeats as u64,
            expected,
        }
    }

    /// Goes on with what a place holds; `fingerprints` are the kept ones of its chain, oldest first.
    pub fn resume(lines: AheadLines, fingerprints: &[Fingerprint]) -> Ahead {
        let expected = usize::try_from(lines.expected).unwrap_or(usize::MAX);
        let from = fingerprints.len().saturating_sub(expected);
        let expected = fingerprints[from..].iter().rev().copied().collect();
        Ahead {
            older: lines.older,
            repeats: lines.repeats,
            expected,
        }
    }

    /// For an earlier input of a chain that goes on: the lines that other inputs have brought since are
    /// what has to come next. `None` when `fingerprints` do not reach back so far.
    pub fn rejoin(earlier: &Place, chain: &Place, fingerprints: &[Fingerprint]) -> Option<Ahead> {
        let ahead = earlier.ahead;
        if ahead.older > 0 {
            return None;
        }
        let stood_at = earlier
            .lines
            .checked_sub(ahead.repeats.checked_add(ahead.expected)?)?;
        let since = usize::try_from(chain.lines.checked_sub(stood_at)?).ok()?;
        let from = fingerprints.len().checked_sub(since)?;
        Some(Ahead::new(0, 0, &fingerprints[from..]))
    }

    /// What the next line is. One without a newline stays before the place, so it is still ahead.
    pub fn next(&mut self, line: Fingerprint, terminated: bool) -> Part {
        let used = u64::from(terminated);
        if self.older > 0 {
            self.older -= used;
            return Part::Older;
        }
        if self.repeats > 0 {
            self.repeats -= used;
            return Part::Repeat;
        }
        match self.expected.last() {
            None => Part::New,
            Some(expected) if *expected == line => {
                self.expected
                    .truncate(self.expected.len() - usize::from(terminated));
                Part::Repeat
            }
            // Cut: it may yet become the expected line.
            Some(_) if !terminated => Part::New,
            Some(_) => {
                self.expected.clear();
                Part::Refuted
            }
        }
    }

    /// What is left of it, for the place.
    pub fn lines(&self) -> AheadLines {
        AheadLines {
            older: self.older,
            repeats: self.repeats,
            expected: self.expected.len() as u64,
        }
    }
}
