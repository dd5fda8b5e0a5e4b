//! Entries counted by kind and outcome.

use boundlane_record::{EntryMeta, Kind, Outcome};

const OUTCOMES: usize = Outcome::ALL.len() + 1;
const CELLS: usize = Kind::ALL.len() * OUTCOMES;

/// How many entries there are of each kind and outcome.
#[derive(Clone, PartialEq, Eq)]
pub struct Tally([u64; CELLS]);

impl Default for Tally {
    fn default() -> Tally {
        Tally([0; CELLS])
    }
}

impl Tally {
    /// Counts one entry.
    pub fn count(&mut self, meta: &EntryMeta) {
        self.add(meta.kind, meta.outcome, 1);
    }

    /// Counts `entries` more of this kind and outcome.
    pub fn add(&mut self, kind: Kind, outcome: Option<Outcome>, entries: u64) {
        self.0[cell(kind, outcome)] += entries;
    }

    /// Entries of this kind and outcome.
    pub fn of(&self, kind: Kind, outcome: Option<Outcome>) -> u64 {
        self.0[cell(kind, outcome)]
    }

    /// Entries of this kind, whatever their outcome.
    pub fn of_kind(&self, kind: Kind) -> u64 {
        let start = kind as usize * OUTCOMES;
        self.0[start..start + OUTCOMES].iter().sum()
    }

    /// Entries with this outcome, whatever their kind.
    pub fn of_outcome(&self, outcome: Outcome) -> u64 {
        Kind::ALL
            .iter()
            .map(|kind| self.of(*kind, Some(outcome)))
            .sum()
    }

    /// Entries that hold one received line.
    pub fn records(&self) -> u64 {
        self.sum(Kind::is_record)
    }

    /// Entries that state a loss.
    pub fn losses(&self) -> u64 {
        self.sum(Kind::is_loss)
    }

    /// All entries.
    pub fn entries(&self) -> u64 {
        self.0.iter().sum()
    }

    fn sum(&self, wanted: impl Fn(Kind) -> bool) -> u64 {
        let kinds = Kind::ALL.iter().filter(|kind| wanted(**kind));
        kinds.map(|kind| self.of_kind(*kind)).sum()
    }

    /// What is not zero.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, Option<Outcome>, u64)> {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, entries)| **entries > 0)
            .map(|(at, entries)| {
                let outcome = Outcome::ALL.get(at % OUTCOMES).copied();
                (Kind::ALL[at / OUTCOMES], outcome, *entries)
            })
    }

    /// The spelling in a block's row: `kind:outcome:entries`, space-separated.
    pub(crate) fn write_to(&self, text: &mut String) {
        use std::fmt::Write as _;
        text.clear();
        for (kind, outcome, entries) in self.iter() {
            let space = if text.is_empty() { "" } else { " " };
            let outcome = outcome.map_or("", Outcome::word);
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{space}{}:{outcome}:{entries}", kind.word());
        }
    }

    /// Reads that spelling back; `None` when it is none. Words of a newer writer are left out.
    pub(crate) fn from_text(text: &str) -> Option<Tally> {
        let mut tally = Tally::default();
        for part in text.split_ascii_whitespace() {
            let (kind, rest) = part.split_once(':')?;
            let (outcome, entries) = rest.split_once(':')?;
            tally.add_words(kind, outcome, entries.parse().ok()?);
        }
        Some(tally)
    }

    /// Counts by the words of a row; those of a newer writer are left out.
    pub(crate) fn add_words(&mut self, kind: &str, outcome: &str, entries: u64) {
        let Some(kind) = Kind::from_word(kind) else {
            return;
        };
        match (outcome, Outcome::from_word(outcome)) {
            ("", _) => self.add(kind, None, entries),
            (_, Some(outcome)) => self.add(kind, Some(outcome), entries),
            _ => {}
        }
    }
}

fn cell(kind: Kind, outcome: Option<Outcome>) -> usize {
    kind as usize * OUTCOMES + outcome.map_or(OUTCOMES - 1, |outcome| outcome as usize)
}

impl std::ops::AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, more: &Tally) {
        for (sum, entries) in self.0.iter_mut().zip(more.0) {
            *sum += entries;
        }
    }
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_read_back_from_its_text_counts_the_same() {
        let mut tally = Tally::default();
        tally.add(Kind::Decision, Some(Outcome::Denied), 3);
        tally.add(Kind::Decision, None, 2);
        tally.add(Kind::Rejected, Some(Outcome::Other), 1);
        let mut text = String::new();
        tally.write_to(&mut text);
        assert_eq!(text, "decision:denied:3 decision::2 rejected:other:1");
        assert_eq!(Tally::from_text(&text), Some(tally));
        assert_eq!(Tally::from_text("decision:denied"), None);
    }

    #[test]
    fn a_word_of_a_newer_writer_is_not_counted_as_a_known_one() {
        let tally = Tally::from_text("vision::4 decision:maybe:2 gap::1");
        assert_eq!(tally.as_ref().map(Tally::entries), Some(1));
        assert_eq!(tally.map(|tally| tally.losses()), Some(1));
    }
}
