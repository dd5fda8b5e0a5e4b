//! Compares what was published with what was stored.

use std::collections::BTreeMap;

use boundlane_record::{Extent, Gap, GapCause};

use super::gateway::Published;

/// What breaks the laws: nothing, when all is well.
pub(crate) fn check(published: &[Published], stored: &[u64], gaps: &[Gap]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut left: BTreeMap<u64, i64> = BTreeMap::new();
    stored
        .iter()
        .for_each(|id| *left.entry(*id).or_default() += 1);
    // Of lines that are the same, those that no gap spans are taken to be the stored ones.
    let mut by_need: Vec<Published> = published.to_vec();
    by_need.sort_by_key(|line| gaps.iter().any(|gap| spans(gap, line.at)));
    let mut missing = Vec::new();
    for line in by_need {
        match left.get_mut(&line.id) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push(line),
        }
    }
    missing.sort_by_key(|line| line.at);
    // Where identical lines make the place ambiguous, a line may be stored again: marked, by a gap.
    let is_marked = gaps.iter().any(|gap| gap.cause == GapCause::Ambiguous);
    for (id, count) in left.iter().filter(|(_, count)| **count > 0 && !is_marked) {
        faults.push(format!("line {id} is stored {count} times too often"));
    }
    let mut room: Vec<u64> = gaps
        .iter()
        .map(|gap| match gap.extent {
            Extent::Exact(n) | Extent::AtMost(n) => n,
            Extent::AtLeast(_) | Extent::Unknown => u64::MAX,
        })
        .collect();
    for line in &missing {
        let takes = |index: &usize| room[*index] > 0 && spans(&gaps[*index], line.at);
        // An endless one, or the one that ends first: later lines need the others.
        let taken = (0..gaps.len())
            .filter(takes)
            .min_by_key(|index| (room[*index] < u64::MAX, gaps[*index].to));
        match taken {
            Some(index) => {
                room[index] = room[index].saturating_sub(u64::from(room[index] < u64::MAX));
            }
            None => faults.push(format!(
                "line {} published at {} is lost without a gap",
                line.id, line.at
            )),
        }
    }
    for gap in gaps {
        let least = match gap.extent {
            Extent::Exact(n) | Extent::AtLeast(n) => n,
            Extent::AtMost(_) | Extent::Unknown => 0,
        };
        let there = missing.iter().filter(|line| spans(gap, line.at)).count() as u64;
        if there < least {
            faults.push(format!("{gap:?} claims {least}, {there} are missing"));
        }
    }
    if !faults.is_empty() {
        let short = |gap: &Gap| {
            let (from, to) = (gap.from.map(|from| from.0), gap.to.map(|to| to.0));
            format!("{:?} {:?} {from:?} to {to:?}", gap.cause, gap.extent)
        };
        faults.extend(gaps.iter().map(short));
    }
    faults
}

fn spans(gap: &Gap, at: i64) -> bool {
    gap.from.is_none_or(|from| from.0 <= at) && gap.to.is_none_or(|to| at <= to.0)
}
