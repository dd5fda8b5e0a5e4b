//! All ways in which two sequences of lines overlap, in time that grows with their length.

use boundlane_record::Fingerprint;

/// One way to lay the new lines over the stored ones: line `i` is stored line `i + shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overlap {
    /// Negative when the new lines begin before the stored ones.
    pub(super) shift: isize,
    /// How many lines lie over each other.
    pub(super) lines: usize,
    /// The first new line that does.
    pub(super) first: usize,
}

/// Every shift at which all lines that lie over each other are equal, and at least one does, the
/// greatest shift first.
pub(super) fn overlaps(stored: &[Fingerprint], new: &[Fingerprint]) -> Vec<Overlap> {
    let inside = common_prefixes(new, stored);
    let from_start = inside
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(shift, common)| {
            let lines = new.len().min(stored.len() - shift);
            let shift = isize::try_from(shift).ok()?;
            (lines > 0 && *common >= lines).then_some(Overlap {
                shift,
                lines,
                first: 0,
            })
        });
    let before = common_prefixes(stored, new);
    let from_before = before
        .iter()
        .enumerate()
        .skip(1)
        .filter_map(|(first, common)| {
            let lines = stored.len().min(new.len() - first);
            let shift = -isize::try_from(first).ok()?;
            (lines > 0 && *common >= lines).then_some(Overlap {
                shift,
                lines,
                first,
            })
        });
    from_start.chain(from_before).collect()
}

/// For each position in `text`, how many lines from there on are the first ones of `pattern`: the Z
/// function of the pattern, a wall and the text.
fn common_prefixes(pattern: &[Fingerprint], text: &[Fingerprint]) -> Vec<usize> {
    let walled: Vec<Option<Fingerprint>> = pattern
        .iter()
        .copied()
        .map(Some)
        .chain([None])
        .chain(text.iter().copied().map(Some))
        .collect();
    let mut z = vec![0usize; walled.len()];
    // The stretch that reaches furthest among those known to repeat the start.
    let (mut from, mut until) = (0, 0);
    for at in 1..walled.len() {
        let mut length = if at < until {
            z[at - from].min(until - at)
        } else {
            0
        };
        while at + length < walled.len() && walled[at + length] == walled[length] {
            length += 1;
        }
        if at + length > until {
            (from, until) = (at, at + length);
        }
        z[at] = length;
    }
    z.split_off(pattern.len() + 1)
}
