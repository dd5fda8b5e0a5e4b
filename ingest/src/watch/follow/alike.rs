//! A tail laid over what is stored where lines that are alike stand together.
//!
//! How many there are of such lines is not always known: of those at the hand-off from tail to live, one may be
//! two. A sequence that lacks one fits nowhere any more, so where no exact fit is found each run of equal lines
//! is compared as one line.

use std::collections::VecDeque;

use boundlane_record::{Extent, Fingerprint, GapCause};

use super::Arrived;
use crate::place::{Align, AlignLine, Alignment, Fit};

/// Equal lines that stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    fingerprint: Fingerprint,
    lines: usize,
    timed: bool,
}

/// How `held` lies over `kept`, the last of the stream's `lines`, when only the order of different lines counts.
/// `None` when it does not either.
pub(super) fn lay(kept: &VecDeque<Fingerprint>, lines: u64, held: &[Arrived]) -> Option<Alignment> {
    let stored = runs(kept.iter().map(|print| (*print, false)));
    let new = runs(
        held.iter()
            .map(|arrived| (arrived.fingerprint, arrived.line.time.is_some())),
    );
    let before = lines.saturating_sub(kept.len() as u64);
    let prints = stored.iter().map(|run| run.fingerprint).collect();
    let mut align = Align::new(prints, before + stored.len() as u64);
    for run in &new {
        align.feed(AlignLine {
            fingerprint: run.fingerprint,
            bytes: 0,
            timed: run.timed,
            terminated: true,
        });
    }
    let found = align.finish(true);
    if !matches!(found.fit, Fit::One | Fit::Several) {
        return None;
    }
    let (older, rest) = new.split_at(found.older);
    let over = &rest[..found.repeats];
    let count = |runs: &[Run]| runs.iter().map(|run| run.lines).sum::<usize>();
    // Of the last run more may have come since.
    let since = match (over.last(), stored.last()) {
        (Some(over), Some(last)) if over.fingerprint == last.fingerprint => {
            over.lines.saturating_sub(last.lines)
        }
        _ => 0,
    };
    let repeats = count(over) - since;
    // Each run has a line that is stored; of the rest nobody knows.
    let alike = (repeats - over.len()) as u64;
    Some(Alignment {
        older: count(older),
        repeats,
        gap: Some((GapCause::Ambiguous, Extent::AtMost(alike))),
        ..found
    })
}

fn runs(lines: impl Iterator<Item = (Fingerprint, bool)>) -> Vec<Run> {
    let mut runs = Vec::<Run>::new();
    for (fingerprint, timed) in lines {
        match runs.last_mut() {
            Some(run) if run.fingerprint == fingerprint => {
                run.lines += 1;
                run.timed |= timed;
            }
            _ => runs.push(Run {
                fingerprint,
                lines: 1,
                timed,
            }),
        }
    }
    runs
}
