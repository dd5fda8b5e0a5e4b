//! What listings read from: entries in number order, and what stands where entries are missing.

use std::ops::ControlFlow;

use boundlane_record::coverage::Coverage;
use boundlane_record::{ExtentKind, GapCause, Kind, Row, Seq};

use crate::exit::Outcome;
use crate::output::cell::Placed;

/// What a reader meets.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all are entries, and none is kept"
)]
#[derive(Debug, Clone)]
pub(crate) enum Met<'e> {
    /// An entry.
    Entry(Placed<'e>),
    /// Numbers that nothing holds any more, or that cannot be read.
    Missing {
        /// Of this journal.
        journal: &'e str,
        /// The first of them.
        first: Seq,
        /// The last of them.
        last: Seq,
        /// What is wrong with them.
        why: &'e str,
    },
    /// A file that cannot be read, whatever it holds.
    Unreadable {
        /// Where it is.
        path: &'e str,
        /// What is wrong with it.
        why: &'e str,
    },
}

impl<'e> Met<'e> {
    /// What stands in a listing for it: the entry itself, or a gap where numbers are missing. A file that
    /// cannot be read has no place in the order; the coverage names it.
    pub(crate) fn into_placed(self) -> Option<Placed<'e>> {
        match self {
            Met::Entry(placed) => Some(placed),
            Met::Missing {
                journal,
                first,
                last,
                why,
            } => Some(Placed {
                journal: journal.into(),
                seq: None,
                row: missing_row(first, last, why),
            }),
            Met::Unreadable { .. } => None,
        }
    }

    /// Feeds the coverage of the answer.
    pub(crate) fn tell(&self, coverage: &mut Coverage) {
        match self {
            Met::Entry(placed) => coverage.see(&placed.journal, placed.seq, &placed.row),
            Met::Missing {
                journal,
                first,
                last,
                ..
            } => {
                coverage.missing_range(journal, *first, *last);
            }
            Met::Unreadable { path, why } => coverage.unreadable(path, why),
        }
    }
}

fn missing_row(first: Seq, last: Seq, why: &str) -> Row<'static> {
    let count = last.0.saturating_sub(first.0).saturating_add(1);
    Row {
        kind: Some(Kind::Gap.word().into()),
        cause: Some(GapCause::Damaged.word().into()),
        extent: Some(ExtentKind::Exact.word().into()),
        count: Some(i64::try_from(count).unwrap_or(i64::MAX)),
        reason: Some(format!("numbers {first} to {last}: {why}").into()),
        ..Row::default()
    }
}

/// Called with each thing met; says whether to go on.
pub(crate) type Visit<'v> = dyn FnMut(Met<'_>) -> Outcome<ControlFlow<()>> + 'v;

/// A record that can be read from either end.
pub(crate) trait Entries {
    /// Visits everything, predecessor journals first, in number order.
    fn forward(&mut self, visit: &mut Visit<'_>) -> Outcome<()>;

    /// Visits everything in pieces, the newest piece first; inside a piece in number order.
    /// `piece_end` is called after each piece and says whether an older one is wanted.
    fn backward(
        &mut self,
        visit: &mut Visit<'_>,
        piece_end: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Outcome<()>;
}

/// Entries of a test, in pieces.
#[cfg(test)]
pub(crate) mod fake {
    use super::{ControlFlow, Entries, Met, Outcome, Placed, Visit};
    use boundlane_record::{Row, Seq};

    /// Pieces of a record, oldest first.
    #[derive(Default)]
    pub(crate) struct Pieces(pub(crate) Vec<Vec<Met<'static>>>);

    impl Entries for Pieces {
        fn forward(&mut self, visit: &mut Visit<'_>) -> Outcome<()> {
            for met in self.0.iter().flatten() {
                if visit(met.clone())?.is_break() {
                    break;
                }
            }
            Ok(())
        }

        fn backward(
            &mut self,
            visit: &mut Visit<'_>,
            piece_end: &mut dyn FnMut() -> ControlFlow<()>,
        ) -> Outcome<()> {
            for piece in self.0.iter().rev() {
                for met in piece {
                    if visit(met.clone())?.is_break() {
                        return Ok(());
                    }
                }
                if piece_end().is_break() {
                    break;
                }
            }
            Ok(())
        }
    }

    /// An entry of journal `j`.
    pub(crate) fn entry(seq: u64, row: Row<'static>) -> Met<'static> {
        Met::Entry(placed(seq, row))
    }

    /// A row of journal `j`.
    pub(crate) fn placed(seq: u64, row: Row<'static>) -> Placed<'static> {
        Placed {
            journal: "j".into(),
            seq: Some(Seq(seq)),
            row,
        }
    }
}
