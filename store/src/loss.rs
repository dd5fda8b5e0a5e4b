//! Losses that still grow: how they are added up before they get a number.

use boundlane_record::{Drops, Extent, Gap, Outcome};

/// The key for lines without an outcome.
const NO_OUTCOME: &str = "none";

/// What an item adds to the one open loss of its stream and cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenLoss {
    /// Lines that never reached us. A count is of this addition alone.
    Gap(Gap),
    /// Lines that we shed. Counts are of this addition alone.
    Drops(Drops),
}

impl OpenLoss {
    /// Lines of this loss in the books' `refused`.
    pub fn refused(&self) -> u64 {
        match self {
            OpenLoss::Gap(_) => 0,
            OpenLoss::Drops(drops) => drops.count,
        }
    }

    /// The `kind` and `cause` columns.
    pub(crate) fn words(&self) -> (&'static str, &'static str) {
        match self {
            OpenLoss::Gap(gap) => ("gap", gap.cause.word()),
            OpenLoss::Drops(drops) => ("drops", drops.cause.word()),
        }
    }

    /// This loss with `more` of the same kind and cause after it. What was said first about the near
    /// side stays, what was said last about the far side wins; the span holds both.
    pub(crate) fn grown(self, more: &OpenLoss) -> OpenLoss {
        match (self, more) {
            (OpenLoss::Gap(old), OpenLoss::Gap(new)) => OpenLoss::Gap(Gap {
                cause: old.cause,
                extent: sum(old.extent, new.extent),
                // The clock can have been set between the two.
                from: old
                    .from
                    .map(|from| new.from.map_or(from, |other| from.min(other))),
                to: new.to.map(|to| old.to.map_or(to, |other| to.max(other))),
                after_cursor: old.after_cursor,
                before_cursor: new.before_cursor.clone(),
                evidence: new.evidence.clone().or(old.evidence),
            }),
            (OpenLoss::Drops(old), OpenLoss::Drops(new)) => OpenLoss::Drops(Drops {
                cause: old.cause,
                count: old.count + new.count,
                denied: old.denied + new.denied,
                from: old.from.min(new.from),
                to: old.to.max(new.to),
                evidence: Outcomes::join(old.evidence.as_deref(), new.evidence.as_deref()),
            }),
            (old, _) => old,
        }
    }
}

/// Lines by outcome, as the evidence of drops states them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcomes([u64; Outcome::ALL.len() + 1]);

impl Outcomes {
    pub(crate) fn count(&mut self, outcome: Option<Outcome>) {
        self.0[outcome.map_or(Outcome::ALL.len(), |outcome| outcome as usize)] += 1;
    }

    /// `{"outcomes":{"denied":2,"none":1}}`: what is not zero.
    pub(crate) fn to_json(self) -> String {
        let words = Outcome::ALL.iter().map(|outcome| outcome.word());
        let counted = words.chain([NO_OUTCOME]).zip(self.0);
        let parts: Vec<String> = counted
            .filter(|(_, lines)| *lines > 0)
            .map(|(word, lines)| format!("\"{word}\":{lines}"))
            .collect();
        format!("{{\"outcomes\":{{{}}}}}", parts.join(","))
    }

    fn from_json(evidence: &str) -> Option<Outcomes> {
        let evidence: serde_json::Value = serde_json::from_str(evidence).ok()?;
        let counted = evidence.get("outcomes")?.as_object()?;
        let words = Outcome::ALL.iter().map(|outcome| outcome.word());
        let mut outcomes = Outcomes::default();
        for (lines, word) in outcomes.0.iter_mut().zip(words.chain([NO_OUTCOME])) {
            *lines = counted
                .get(word)
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0);
        }
        Some(outcomes)
    }

    /// The evidence of both together; what states no outcomes adds nothing.
    fn join(old: Option<&str>, new: Option<&str>) -> Option<String> {
        match (
            old.and_then(Outcomes::from_json),
            new.and_then(Outcomes::from_json),
        ) {
            (Some(mut sum), Some(more)) => {
                for (sum, more) in sum.0.iter_mut().zip(more.0) {
                    *sum += more;
                }
                Some(sum.to_json())
            }
            (Some(one), None) | (None, Some(one)) => Some(one.to_json()),
            (None, None) => None,
        }
    }
}

/// How many lines two holes next to each other stand for. Never more certain than either.
fn sum(a: Extent, b: Extent) -> Extent {
    use Extent::{AtLeast, AtMost, Exact, Unknown};
    match (a, b) {
        (Exact(a), Exact(b)) => Exact(a.saturating_add(b)),
        (Exact(a) | AtMost(a), Exact(b) | AtMost(b)) => AtMost(a.saturating_add(b)),
        (Exact(a) | AtLeast(a), Exact(b) | AtLeast(b)) => AtLeast(a.saturating_add(b)),
        (AtLeast(n), _) | (_, AtLeast(n)) => AtLeast(n),
        (Exact(n), Unknown) | (Unknown, Exact(n)) => AtLeast(n),
        (Unknown | AtMost(_), Unknown | AtMost(_)) => Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least and greatest number of lines that an extent allows.
    fn bounds(extent: Extent) -> (u64, u64) {
        match extent {
            Extent::Exact(n) => (n, n),
            Extent::AtLeast(n) => (n, u64::MAX),
            Extent::AtMost(n) => (0, n),
            Extent::Unknown => (0, u64::MAX),
        }
    }

    #[test]
    fn two_holes_joined_allow_every_number_that_the_two_allow() {
        let all = [
            Extent::Exact(3),
            Extent::AtLeast(4),
            Extent::AtMost(5),
            Extent::Unknown,
        ];
        for a in all {
            for b in all {
                let (least, most) = bounds(sum(a, b));
                assert!(
                    least <= bounds(a).0.saturating_add(bounds(b).0),
                    "{a:?} {b:?}"
                );
                assert!(
                    most >= bounds(a).1.saturating_add(bounds(b).1),
                    "{a:?} {b:?}"
                );
            }
        }
        assert_eq!(sum(Extent::Exact(2), Extent::Exact(3)), Extent::Exact(5));
        assert_eq!(sum(Extent::Unknown, Extent::Exact(3)), Extent::AtLeast(3));
    }
}
