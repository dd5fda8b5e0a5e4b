//! The same denial again and again, as one row with a count.
//!
//! Repeats of (process, host, rule, reason) within a minute of the first become part of it. Rows stay in
//! order, nothing is folded across a loss, and at most a bounded number of rows is held back.

use std::collections::{HashMap, VecDeque};

use boundlane_record::{Kind, Micros};

use crate::output::cell::Placed;

/// How long after the first a repeat is part of it.
const WITHIN_MICROS: i64 = 60_000_000;
/// Rows held back at most; beyond it the oldest is printed with the count so far.
const HELD_ROWS_MAX: usize = 4096;

/// A row and how often it came.
#[derive(Debug, Clone)]
pub(crate) struct Folded {
    /// The first of them.
    pub(crate) first: Placed<'static>,
    /// How many there are, the first included.
    pub(crate) count: u64,
}

type Key = [Option<String>; 5];

/// Folds a stream of rows.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    held: VecDeque<(Option<Key>, Folded)>,
    /// Where the open row of a key is, counted from the first row ever.
    open: HashMap<Key, u64>,
    released: u64,
}

impl Fold {
    /// Takes a row in and hands on, in order, those that nothing can be added to any more.
    pub(crate) fn push(&mut self, row: Placed<'static>) -> Vec<Folded> {
        let mut ready = Vec::new();
        let Some(key) = key(&row) else {
            ready = self.finish();
            ready.push(Folded {
                first: row,
                count: 1,
            });
            return ready;
        };
        let at = moment(&row);
        if let Some(open) = self.open.get(&key) {
            let place = usize::try_from(open - self.released).unwrap_or(usize::MAX);
            if let Some((_, folded)) = self.held.get_mut(place)
                && is_within(moment(&folded.first), at)
            {
                folded.count += 1;
                return ready;
            }
        }
        self.open
            .insert(key.clone(), self.released + self.held.len() as u64);
        self.held.push_back((
            Some(key),
            Folded {
                first: row,
                count: 1,
            },
        ));
        while self.can_release(at) {
            ready.extend(self.release());
        }
        ready
    }

    /// Hands on everything.
    pub(crate) fn finish(&mut self) -> Vec<Folded> {
        std::iter::from_fn(|| self.release()).collect()
    }

    fn can_release(&self, now: Option<Micros>) -> bool {
        let Some((_, folded)) = self.held.front() else {
            return false;
        };
        self.held.len() > HELD_ROWS_MAX || !is_within(moment(&folded.first), now)
    }

    fn release(&mut self) -> Option<Folded> {
        let (key, folded) = self.held.pop_front()?;
        if let Some(key) = key
            && self.open.get(&key) == Some(&self.released)
        {
            self.open.remove(&key);
        }
        self.released += 1;
        Some(folded)
    }
}

/// What has to be the same; `None` for a row that is never folded.
fn key(placed: &Placed<'_>) -> Option<Key> {
    let row = &placed.row;
    let is_plain = row.kind.as_deref() == Some(Kind::Decision.word()) && row.continuation.is_none();
    is_plain.then(|| {
        [
            &row.outcome,
            &row.process,
            &row.host,
            &row.rule,
            &row.reason,
        ]
        .map(|part| part.as_deref().map(str::to_owned))
    })
}

fn moment(placed: &Placed<'_>) -> Option<Micros> {
    placed.row.time.or(placed.row.observed)
}

/// Rows without a time fold with nothing.
fn is_within(first: Option<Micros>, later: Option<Micros>) -> bool {
    first
        .zip(later)
        .is_some_and(|(first, later)| (0..WITHIN_MICROS).contains(&later.0.saturating_sub(first.0)))
}

#[cfg(test)]
mod tests {
    use boundlane_record::Row;

    use super::*;
    use crate::commands::entries::fake::placed;

    fn denial(seq: u64, second: i64, host: &'static str) -> Placed<'static> {
        let row = Row {
            kind: Some("decision".into()),
            outcome: Some("denied".into()),
            host: Some(host.into()),
            time: Some(Micros(second * 1_000_000)),
            ..Row::default()
        };
        placed(seq, row)
    }

    fn gap(seq: u64) -> Placed<'static> {
        placed(
            seq,
            Row {
                kind: Some("gap".into()),
                ..Row::default()
            },
        )
    }

    fn folded(rows: Vec<Placed<'static>>) -> Vec<(u64, u64)> {
        let mut fold = Fold::default();
        let mut all: Vec<Folded> = rows.into_iter().flat_map(|row| fold.push(row)).collect();
        all.extend(fold.finish());
        all.iter()
            .map(|row| (row.first.seq.map_or(0, |seq| seq.0), row.count))
            .collect()
    }

    #[test]
    fn repeats_within_a_minute_are_rows() {
        let rows = vec![
            denial(1, 0, "a"),
            denial(2, 1, "b"),
            denial(3, 2, "a"),
            denial(4, 59, "a"),
            denial(5, 60, "a"),
            denial(6, 61, "b"),
        ];
        assert_eq!(folded(rows), [(1, 3), (2, 1), (5, 1), (6, 1)]);
    }

    /// A loss stays where it is: what came before it is not counted together with what came after.
    #[test]
    fn denials_are_folded_across_a_loss() {
        let rows = vec![denial(1, 0, "a"), gap(2), denial(3, 1, "a")];
        assert_eq!(folded(rows), [(1, 1), (2, 1), (3, 1)]);
    }

    #[test]
    fn a_row_without_a_time_or_from_the_past_is_folded() {
        let mut timeless = denial(2, 0, "a");
        timeless.row.time = None;
        let rows = vec![denial(1, 10, "a"), timeless, denial(3, 5, "a")];
        assert_eq!(folded(rows).iter().map(|(_, count)| count).sum::<u64>(), 3);
        assert_eq!(
            folded(vec![denial(1, 10, "a"), denial(2, 5, "a")]),
            [(1, 1), (2, 1)]
        );
    }

    /// However many different rows come within a minute, no more than the limit is held.
    #[test]
    fn memory_grows_with_a_burst() {
        let mut fold = Fold::default();
        for n in 0..3 * HELD_ROWS_MAX as u64 {
            let mut row = denial(n, 0, "a");
            row.row.reason = Some(n.to_string().into());
            fold.push(row);
        }
        assert_eq!(fold.held.len(), HELD_ROWS_MAX);
        assert_eq!(fold.open.len(), HELD_ROWS_MAX);
    }
}
