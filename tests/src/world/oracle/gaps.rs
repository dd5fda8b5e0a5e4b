//! Which gap holds a missing line, and whether it has room for it.

use boundlane_record::Extent;

use crate::gateway::Published;
use crate::world::testimony::{Gap, Heard};

impl Gap {
    /// Whether the line lies in this gap: by the moment of its publication, or between the gap's cursors,
    /// or between the times of its neighbours. A line that waited in a queue is read later than it was
    /// published, and so is the line after which it is missing; only the neighbours show that.
    pub(super) fn holds(&self, line: &Published) -> bool {
        self.holds_moment(line) || self.holds_cursor(line) || self.holds_time(line)
    }

    fn holds_moment(&self, line: &Published) -> bool {
        self.from.is_none_or(|from| from <= line.at) && self.to.is_none_or(|to| line.at <= to)
    }

    fn holds_cursor(&self, line: &Published) -> bool {
        let (Some(cursor), Some(after)) = (&line.cursor, &self.after_cursor) else {
            return false;
        };
        let is_before = match &self.before_cursor {
            Some(before) if same_space(before, cursor) => cursor < before,
            // The other side is another space: everything after the near side is inside.
            Some(_) => true,
            None => self.to.is_none_or(|to| line.at <= to),
        };
        same_space(after, cursor) && after < cursor && is_before
    }

    fn holds_time(&self, line: &Published) -> bool {
        let (Some(after), Some(ms)) = (self.after_time, line.line.time_ms) else {
            return false;
        };
        // Times are whole milliseconds: neighbours can be of the same one.
        let time = ms * 1000;
        let before = self.before_time.or(self.to);
        after <= time && before.is_none_or(|before| time <= before)
    }

    /// How many lines it may stand for, none when there is no bound.
    fn room(&self) -> Option<u64> {
        match self.extent {
            Extent::Exact(n) | Extent::AtMost(n) => Some(n),
            Extent::AtLeast(_) | Extent::Unknown => None,
        }
    }
}

/// Cursors of one space share what stands before the number.
fn same_space(a: &str, b: &str) -> bool {
    matches!((a.get(..39), b.get(..39)), (Some(a), Some(b)) if a == b)
}

/// Finds a gap for each of `missing`, which are in the order of publication. Gaps without a bound take
/// whatever they hold; of the others, the one that ends first is filled first, which finds room for all
/// whenever there is.
pub(super) fn hold(heard: &Heard, missing: &[&Published], faults: &mut Vec<String>) {
    let mut rooms: Vec<Option<u64>> = heard.gaps.iter().map(Gap::room).collect();
    for line in missing {
        let holding = || (0..heard.gaps.len()).filter(|n| heard.gaps[*n].holds(line));
        if holding().any(|n| rooms[n].is_none()) {
            continue;
        }
        let end = |n: &usize| heard.gaps[*n].to.unwrap_or(i64::MAX);
        let free = holding().filter(|n| rooms[*n] > Some(0)).min_by_key(end);
        if let Some(n) = free {
            rooms[n] = rooms[n].map(|room| room - 1);
            continue;
        }
        let why = match holding().next() {
            Some(n) => format!("no room in {:?}", heard.gaps[n]),
            None => format!("no gap holds it; gaps: {:?}", heard.gaps),
        };
        let text = line.line.cli_text();
        faults.push(format!("missing, published {}: {text}; {why}", line.at));
    }
}
