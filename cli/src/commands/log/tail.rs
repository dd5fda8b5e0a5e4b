//! The last rows that match, found from the end: filters first, then the count.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use boundlane_record::Kind;

use crate::commands::entries::{Entries, Met};
use crate::exit::Outcome;
use crate::output::cell::Placed;

/// The last rows, and whether there are older ones that match.
#[derive(Debug)]
pub(crate) struct Tail {
    /// In number order.
    pub(crate) rows: Vec<Placed<'static>>,
    /// Whether an older row matches too.
    pub(crate) has_older: bool,
}

/// Collects the last `count` rows that `wanted` accepts. Everything met on the way is shown to `see`
/// first. Memory is that of `count` rows and one more.
pub(crate) fn tail(
    entries: &mut dyn Entries,
    count: usize,
    wanted: &dyn Fn(&Placed<'_>) -> bool,
    see: &mut dyn FnMut(&Met<'_>),
) -> Outcome<Tail> {
    // One more than asked for tells whether there is an older one.
    let enough = count.saturating_add(1);
    let found = std::cell::RefCell::new(Found::default());
    entries.backward(
        &mut |met| {
            see(&met);
            let Some(placed) = met.into_placed() else {
                return Ok(ControlFlow::Continue(()));
            };
            if wanted(&placed) {
                found.borrow_mut().piece_row(placed.into_owned(), enough);
            }
            Ok(ControlFlow::Continue(()))
        },
        &mut || found.borrow_mut().piece_end(enough),
    )?;
    let Found {
        mut rows,
        mut counted,
        ..
    } = found.into_inner();
    let has_older = counted > count;
    while counted > count {
        counted -= usize::from(rows.pop_front().is_some_and(|row| counts(&row)));
    }
    Ok(Tail {
        rows: rows.into(),
        has_older,
    })
}

/// Session entries are shown between the rows that were asked for, and are none of them.
pub(super) fn counts(placed: &Placed<'_>) -> bool {
    placed.row.kind.as_deref() != Some(Kind::Session.word())
}

#[derive(Debug, Default)]
struct Found {
    rows: VecDeque<Placed<'static>>,
    /// Rows of `rows` that count.
    counted: usize,
    piece: VecDeque<Placed<'static>>,
    piece_counted: usize,
}

impl Found {
    fn piece_row(&mut self, row: Placed<'static>, enough: usize) {
        self.piece_counted += usize::from(counts(&row));
        self.piece.push_back(row);
        while self.counted + self.piece_counted > enough {
            let dropped = self.piece.pop_front();
            self.piece_counted -= usize::from(dropped.is_some_and(|row| counts(&row)));
        }
    }

    fn piece_end(&mut self, enough: usize) -> ControlFlow<()> {
        while let Some(row) = self.piece.pop_back() {
            self.rows.push_front(row);
        }
        self.counted += std::mem::take(&mut self.piece_counted);
        if self.counted >= enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use boundlane_record::Row;

    use super::*;
    use crate::commands::entries::fake::{Pieces, entry};

    fn record(sizes: &[u64]) -> Pieces {
        let mut next = 0;
        let piece = |size: &u64| {
            let rows = (0..*size).map(|_| {
                next += 1;
                let host = if next % 2 == 0 { "even" } else { "odd" };
                entry(
                    next,
                    Row {
                        host: Some(host.into()),
                        ..Row::default()
                    },
                )
            });
            rows.collect()
        };
        Pieces(sizes.iter().map(piece).collect())
    }

    fn numbers(count: usize, sizes: &[u64]) -> (Vec<u64>, bool, usize) {
        let mut seen = 0;
        let even = |placed: &Placed<'_>| placed.row.host.as_deref() == Some("even");
        let found = tail(&mut record(sizes), count, &even, &mut |_| seen += 1).unwrap();
        let rows = found
            .rows
            .iter()
            .map(|placed| placed.seq.unwrap().0)
            .collect();
        (rows, found.has_older, seen)
    }

    /// The count is of rows that match, in number order, and an older one is noticed.
    #[test]
    fn rows_are_counted_before_they_are_filtered() {
        assert_eq!(numbers(3, &[4, 4, 4]), (vec![8, 10, 12], true, 8));
        assert_eq!(
            numbers(6, &[4, 4, 4]),
            (vec![2, 4, 6, 8, 10, 12], false, 12)
        );
        assert_eq!(numbers(100, &[5]), (vec![2, 4], false, 5));
        assert_eq!(numbers(0, &[4]), (vec![], true, 4));
        assert_eq!(numbers(0, &[1]), (vec![], false, 1));
        assert_eq!(numbers(2, &[]), (vec![], false, 0));
    }

    /// Older pieces are not read once there are enough rows.
    #[test]
    fn the_whole_record_is_read_for_one_row() {
        assert_eq!(numbers(1, &[100, 100, 4]).2, 4);
    }
}
