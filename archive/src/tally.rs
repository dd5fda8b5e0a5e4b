//! What a file holds, counted while its rows pass: spans, losses, kinds and outcomes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use boundlane_record::canonical::{NotCanonical, decode, visit};
use boundlane_record::{Column, Kind, Micros, Row, Value};

/// Distinct words counted by name in a footer; further ones are counted together under `…`.
const WORDS_MAX: usize = 64;
const OTHER_WORDS: &str = "…";

/// A closed span of moments; empty when nothing was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span(Option<(Micros, Micros)>);

impl Span {
    /// The span from `first` to `last`, both included.
    pub fn between(first: Micros, last: Micros) -> Span {
        Span((first <= last).then_some((first, last)))
    }

    /// The earliest moment.
    pub fn first(self) -> Option<Micros> {
        self.0.map(|(first, _)| first)
    }

    /// The latest moment.
    pub fn last(self) -> Option<Micros> {
        self.0.map(|(_, last)| last)
    }

    fn add(&mut self, moment: Option<Micros>) {
        let Some(moment) = moment else { return };
        let (first, last) = self.0.unwrap_or((moment, moment));
        self.0 = Some((first.min(moment), last.max(moment)));
    }

    fn join(&mut self, other: Span) {
        self.add(other.first());
        self.add(other.last());
    }
}

/// The losses of a file and the time that they can touch.
///
/// The span covers every loss in *both* times: observed (`from` to `to`) and, by its neighbours in
/// `evidence`, event time. An end that a loss does not state is unbounded. So a window outside of the span
/// is touched by no loss of the file, and the file need not be read for its losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// How many rows of kind `gap`, `drops` or `rejected`.
    pub rows: u64,
    /// No loss reaches before this; `None` with rows: unbounded.
    pub from: Option<Micros>,
    /// No loss reaches past this; `None` with rows: unbounded.
    pub to: Option<Micros>,
}

impl Losses {
    /// Whether some loss may touch the time from `since` (included) to `until` (excluded).
    pub fn may_touch(&self, since: Option<Micros>, until: Option<Micros>) -> bool {
        let ends_before = matches!((self.to, since), (Some(to), Some(since)) if to < since);
        let begins_after = matches!((self.from, until), (Some(from), Some(until)) if from >= until);
        self.rows > 0 && !ends_before && !begins_after
    }

    fn join(&mut self, other: Losses) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            *self = other;
            return;
        }
        self.rows += other.rows;
        self.from = self.from.zip(other.from).map(|(a, b)| a.min(b));
        self.to = self.to.zip(other.to).map(|(a, b)| a.max(b));
    }

    fn of(row: &Row<'_>) -> Losses {
        let neighbours = row.evidence.as_deref().map(neighbours).unwrap_or_default();
        Losses {
            rows: 1,
            from: row.from.zip(neighbours.0).map(|(a, b)| a.min(b)),
            to: row.to.zip(neighbours.1).map(|(a, b)| a.max(b)),
        }
    }
}

/// The event times before and after a loss, as its evidence states them.
fn neighbours(evidence: &str) -> (Option<Micros>, Option<Micros>) {
    let Ok(evidence) = serde_json::from_str::<serde_json::Value>(evidence) else {
        return (None, None);
    };
    let moment = |key| evidence.get(key)?.as_i64().map(Micros);
    (moment("after_time"), moment("before_time"))
}

/// Counts by word.
pub type Counts = BTreeMap<String, u64>;

/// What a run of entries holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many entries.
    pub rows: u64,
    /// Their event times, where they have one.
    pub time: Span,
    /// When they were received.
    pub observed: Span,
    /// The losses among them.
    pub losses: Losses,
    /// How many of each kind.
    pub kinds: Counts,
    /// How many of each outcome.
    pub outcomes: Counts,
}

impl Tally {
    /// Counts one entry from its canonical bytes, and gives each of its values to `each` on the way, and
    /// what its reader does not know back.
    pub(crate) fn add<'e>(
        &mut self,
        entry: &'e [u8],
        mut each: impl FnMut(Column, Value<'_>),
    ) -> Result<Cow<'e, str>, NotCanonical> {
        let mut is_loss = false;
        let rest = visit(entry, |column, value| {
            match (column, value) {
                (Column::kind, Value::Text(word)) => {
                    count(&mut self.kinds, word, 1);
                    is_loss = Kind::from_word(word).is_some_and(Kind::is_loss);
                }
                (Column::outcome, Value::Text(word)) => count(&mut self.outcomes, word, 1),
                (Column::time, Value::Time(moment)) => self.time.add(Some(moment)),
                (Column::observed, Value::Time(moment)) => self.observed.add(Some(moment)),
                _ => {}
            }
            each(column, value);
        })?;
        self.rows += 1;
        if is_loss {
            self.losses.join(Losses::of(&decode(entry)?));
        }
        Ok(rest)
    }

    pub(crate) fn join(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.time.join(other.time);
        self.observed.join(other.observed);
        self.losses.join(other.losses);
        for (word, n) in &other.kinds {
            count(&mut self.kinds, word, *n);
        }
        for (word, n) in &other.outcomes {
            count(&mut self.outcomes, word, *n);
        }
    }
}

fn count(counts: &mut Counts, word: &str, n: u64) {
    if let Some(known) = counts.get_mut(word) {
        *known += n;
        return;
    }
    let word = if counts.len() < WORDS_MAX {
        word
    } else {
        OTHER_WORDS
    };
    *counts.entry(word.to_owned()).or_default() += n;
}

#[cfg(test)]
mod tests {
    use boundlane_record::canonical::encode;

    use super::*;

    fn gap(from: Option<i64>, to: Option<i64>, evidence: Option<&str>) -> Row<'_> {
        Row {
            kind: Some("gap".into()),
            from: from.map(Micros),
            to: to.map(Micros),
            evidence: evidence.map(Into::into),
            ..Row::default()
        }
    }

    fn add(tally: &mut Tally, row: &Row<'_>) {
        let mut entry = Vec::new();
        encode(row, &mut entry);
        assert_eq!(tally.add(&entry, |_, _| ()), Ok("".into()));
    }

    fn losses(rows: &[Row<'_>]) -> Losses {
        let mut tally = Tally::default();
        rows.iter().for_each(|row| add(&mut tally, row));
        tally.losses
    }

    #[test]
    fn a_loss_without_an_end_is_unbounded_however_many_others_have_one() {
        let whole = Some(r#"{"after_time":5,"before_time":90}"#);
        let bounded = gap(Some(10), Some(20), whole);
        let found = losses(std::slice::from_ref(&bounded));
        assert_eq!(
            found,
            Losses {
                rows: 1,
                from: Some(Micros(5)),
                to: Some(Micros(90))
            }
        );
        let open = gap(Some(10), None, whole);
        assert_eq!(losses(&[bounded.clone(), open.clone()]).to, None);
        assert_eq!(losses(&[open, bounded]).to, None);
    }

    #[test]
    fn a_loss_whose_neighbours_are_unknown_may_touch_any_window() {
        for evidence in [
            None,
            Some("{}"),
            Some("not json"),
            Some(r#"{"after_time":"x"}"#),
        ] {
            let found = losses(&[gap(Some(10), Some(20), evidence)]);
            assert!(found.may_touch(Some(Micros(1000)), None), "{evidence:?}");
            assert!(found.may_touch(None, Some(Micros(1))), "{evidence:?}");
        }
    }

    #[test]
    fn windows_are_closed_at_the_start_and_open_at_the_end() {
        let found = Losses {
            rows: 1,
            from: Some(Micros(10)),
            to: Some(Micros(20)),
        };
        assert!(found.may_touch(Some(Micros(20)), None));
        assert!(!found.may_touch(Some(Micros(21)), None));
        assert!(!found.may_touch(None, Some(Micros(10))));
        assert!(found.may_touch(None, Some(Micros(11))));
        assert!(!Losses::default().may_touch(None, None));
    }

    #[test]
    fn words_without_end_do_not_grow_a_footer_without_end() {
        let mut tally = Tally::default();
        for n in 0..1000 {
            let kind = Some(format!("kind-{n}").into());
            add(
                &mut tally,
                &Row {
                    kind,
                    ..Row::default()
                },
            );
        }
        assert_eq!(tally.kinds.len(), WORDS_MAX + 1);
        assert_eq!(tally.kinds.values().sum::<u64>(), 1000);
    }
}
