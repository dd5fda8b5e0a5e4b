//! One loss as coverage keeps it, and sums of them that never claim more than their parts.

use crate::column::Row;
use crate::number::{Micros, Seq};
use crate::vocabulary::{DropCause, Extent, GapCause, Kind};

/// A gap, drops or a rejection that touches the scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// [`Kind::Gap`], [`Kind::Drops`] or [`Kind::Rejected`].
    pub kind: Kind,
    /// A [`GapCause`] or [`DropCause`] word, `rejected`, or `other` for a word of a newer writer.
    pub cause: &'static str,
    /// How many lines.
    pub extent: Extent,
    /// How many of them were denials, where that is known.
    pub denied: Option<u64>,
    /// The last moment the stream was known to be whole.
    pub from: Option<Micros>,
    /// The moment it was attached again.
    pub to: Option<Micros>,
    /// The sandbox's name, or else its id.
    pub sandbox: Option<String>,
    /// The source.
    pub source: Option<String>,
    /// The journal that states it.
    pub journal: String,
    /// Its number there; absent while the loss still grows.
    pub seq: Option<Seq>,
}

impl Loss {
    pub(super) fn of(kind: Kind, journal: &str, seq: Option<Seq>, row: &Row<'_>) -> Loss {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Loss {
            kind,
            cause: known_cause(kind, row.cause.as_deref()),
            extent: extent(kind, row),
            denied: row.denied.and_then(|n| u64::try_from(n).ok()),
            from: row.from,
            to: row.to,
            sandbox: owned(row.sandbox.as_deref().or(row.sandbox_id.as_deref())),
            source: owned(row.source.as_deref()),
            journal: journal.to_owned(),
            seq,
        }
    }
}

/// One of few words, whatever a file says: totals by cause stay bounded.
fn known_cause(kind: Kind, cause: Option<&str>) -> &'static str {
    let word = match kind {
        Kind::Gap => cause.and_then(GapCause::from_word).map(GapCause::word),
        Kind::Drops => cause.and_then(DropCause::from_word).map(DropCause::word),
        _ => Some(Kind::Rejected.word()),
    };
    word.unwrap_or("other")
}

/// A rejection is of one entry unless it says otherwise.
fn extent(kind: Kind, row: &Row<'_>) -> Extent {
    match (kind, row.extent.as_deref(), row.count) {
        (Kind::Rejected, None, None) => Extent::Exact(1),
        (_, extent, count) => Extent::from_columns(extent, count),
    }
}

/// How many lines a number of losses stand for: a range, because some of them are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// How many losses.
    pub losses: u64,
    /// Lines, at least.
    pub least: u64,
    /// Lines, at most; `None` when nothing bounds them.
    pub most: Option<u64>,
    /// Denials among them, at least.
    pub denied_least: u64,
}

impl Default for Total {
    fn default() -> Total {
        Total {
            losses: 0,
            least: 0,
            most: Some(0),
            denied_least: 0,
        }
    }
}

impl Total {
    pub(super) fn add(&mut self, loss: &Loss) {
        let (least, most) = match loss.extent {
            Extent::Exact(n) => (n, Some(n)),
            Extent::AtLeast(n) => (n, None),
            Extent::AtMost(n) => (0, Some(n)),
            Extent::Unknown => (0, None),
        };
        self.join(&Total {
            losses: 1,
            least,
            most,
            denied_least: loss.denied.unwrap_or(0),
        });
    }

    pub(super) fn join(&mut self, other: &Total) {
        self.losses += other.losses;
        self.least = self.least.saturating_add(other.least);
        self.most = self.most.zip(other.most).map(|(a, b)| a.saturating_add(b));
        self.denied_least = self.denied_least.saturating_add(other.denied_least);
    }

    /// `12`, `at least 12`, `at most 12`, `3 to 12` or `an unknown number of`.
    pub fn words(&self) -> String {
        match (self.least, self.most) {
            (least, Some(most)) if least == most => most.to_string(),
            (0, Some(most)) => Extent::AtMost(most).to_string(),
            (least, Some(most)) => format!("{least} to {most}"),
            (0, None) => Extent::Unknown.to_string(),
            (least, None) => Extent::AtLeast(least).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_no_more_certain_than_its_least_certain_part() {
        let sum = |extents: &[Extent]| {
            let mut total = Total::default();
            for &extent in extents {
                total.add(&Loss {
                    extent,
                    ..Loss::of(Kind::Gap, "j", None, &Row::default())
                });
            }
            total.words()
        };
        use Extent::{AtLeast, AtMost, Exact, Unknown};
        assert_eq!(sum(&[Exact(3), Exact(4)]), "7");
        assert_eq!(sum(&[Exact(3), AtLeast(4)]), "at least 7");
        assert_eq!(sum(&[AtMost(3), AtMost(4)]), "at most 7");
        assert_eq!(sum(&[Exact(3), AtMost(4)]), "3 to 7");
        assert_eq!(sum(&[AtMost(4), AtLeast(2)]), "at least 2");
        assert_eq!(sum(&[Unknown]), "an unknown number of");
        assert_eq!(sum(&[Unknown, Exact(1)]), "at least 1");
        assert_eq!(sum(&[Exact(u64::MAX), Exact(1)]), u64::MAX.to_string());
    }

    #[test]
    fn a_cause_of_a_newer_writer_is_counted_and_names_nothing_new() {
        assert_eq!(known_cause(Kind::Gap, Some("solar_flare")), "other");
        assert_eq!(known_cause(Kind::Gap, None), "other");
        assert_eq!(known_cause(Kind::Drops, Some("disk_full")), "disk_full");
        assert_eq!(known_cause(Kind::Rejected, Some("too large")), "rejected");
    }
}
