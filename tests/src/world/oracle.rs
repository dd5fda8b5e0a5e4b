//! Compares a journal with the book of what was published. For every sandbox: each line is in the
//! journal once, or a gap holds it and has room for it; nothing is there that was not published; no gap
//! claims more than is missing; cursors ascend in each space.
//!
//! What is not owed, because no program could have known of it:
//! - lines that no buffer took;
//! - lines of a sandbox that was never attached, or only by a process that was killed before it could
//!   write, when the sandbox was deleted before the next one saw it;
//! - lines that were out of reach already when the sandbox was first attached: trimmed, or gone with a
//!   process;
//! - lines that another replica took than the one that was watched at that moment.

mod gaps;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use boundlane_record::Extent;

use super::lines::is_stored;
use super::testimony::{Heard, Testimony};
use crate::gateway::{Attachment, Book, Moment, Published, SandboxBook, TAIL_LINES_MAX};

/// What the oracle looks at.
#[derive(Debug, Clone, Copy)]
pub struct Case<'c> {
    /// What was published.
    pub book: &'c Book,
    /// What the journal says.
    pub testimony: &'c Testimony,
    /// When the forwarder was killed.
    pub kills: &'c [Moment],
    /// Whether lines that were left out can be read after later ones: their warning came late.
    pub reads_back: bool,
}

/// What it found.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// What is wrong; empty when the journal is right.
    pub faults: Vec<String>,
    /// Lines in the journal.
    pub stored: usize,
    /// Lines that gaps hold.
    pub covered: usize,
    /// Lines that are not owed.
    pub excused: usize,
}

/// Faults of one sandbox that are told; the first ones say what is wrong.
const FAULTS_MAX: usize = 8;
/// How long after a kill its connections may still look open to the gateway, in microseconds.
const KILL_IS_SEEN_WITHIN: Moment = 5_000_000;

/// Judges a journal.
pub fn judge(case: Case<'_>) -> Verdict {
    let mut verdict = Verdict {
        faults: case.testimony.oddities.clone(),
        ..Verdict::default()
    };
    for pages in &case.book.sandboxes {
        let judge = Judge {
            case,
            pages,
            heard: case.testimony.sandboxes.get(&pages.id),
        };
        judge.judge(&mut verdict);
    }
    for id in case.testimony.sandboxes.keys() {
        if case.book.sandbox(id).is_none() {
            verdict.faults.push(format!("sandbox {id} never was"));
        }
    }
    verdict
}

/// One sandbox.
struct Judge<'c> {
    case: Case<'c>,
    pages: &'c SandboxBook,
    heard: Option<&'c Heard>,
}

impl<'c> Judge<'c> {
    fn judge(&self, verdict: &mut Verdict) {
        let Some(heard) = self.heard else {
            let owed = self.pages.lines.iter().filter(|line| is_owed_at_all(line));
            let owed = owed.count();
            match self.could_not_be_seen() {
                true => verdict.excused += owed,
                false => verdict
                    .faults
                    .push(format!("{}: nothing in the journal", self.name())),
            }
            return;
        };
        let mut faults = Vec::new();
        let missing = self.missing(heard, &mut faults);
        self.ascends(heard, &mut faults);
        let (owed, excused): (Vec<_>, Vec<_>) = missing
            .into_iter()
            .partition(|line| self.is_owed(line, heard));
        gaps::hold(heard, &owed, &mut faults);
        self.claims(heard, &owed, &excused, &mut faults);
        verdict.stored += heard.records.len();
        verdict.excused += excused.len();
        verdict.covered += owed.len();
        let told = faults.len().min(FAULTS_MAX);
        let more = faults.len() - told;
        let said = faults.into_iter().take(told);
        verdict
            .faults
            .extend(said.map(|fault| format!("{}: {fault}", self.name())));
        if more > 0 {
            verdict
                .faults
                .push(format!("{}: and {more} more", self.name()));
        }
    }

    fn name(&self) -> String {
        format!("{} ({})", self.pages.name, self.pages.id)
    }

    /// The published lines that the journal has not. Of lines that are alike, those with a cursor that it
    /// has not, or any that no gap holds last.
    fn missing(&self, heard: &Heard, faults: &mut Vec<String>) -> Vec<&'c Published> {
        let mut stored: HashMap<&str, Vec<&str>> = HashMap::new();
        for record in &heard.records {
            let cursors = stored.entry(record.raw.as_str()).or_default();
            cursors.push(&record.cursor);
        }
        let mut published: BTreeMap<String, Vec<&Published>> = BTreeMap::new();
        for line in self.pages.lines.iter().filter(|line| is_owed_at_all(line)) {
            published
                .entry(line.line.cli_text())
                .or_default()
                .push(line);
        }
        let mut missing = Vec::new();
        for (text, mut lines) in published {
            let cursors = stored.remove(text.as_str()).unwrap_or_default();
            if cursors.len() > lines.len() {
                faults.push(format!(
                    "{} times in the journal, published {} times: {text}",
                    cursors.len(),
                    lines.len()
                ));
                continue;
            }
            lines.sort_by_key(|line| {
                let has_cursor = line.cursor.as_deref().is_some_and(|c| cursors.contains(&c));
                let is_held = heard.gaps.iter().any(|gap| gap.holds(line));
                (!has_cursor, is_held)
            });
            missing.extend_from_slice(&lines[cursors.len()..]);
        }
        for text in stored.keys() {
            faults.push(format!("never published: {text}"));
        }
        missing.sort_by_key(|line| line.at);
        missing
    }

    /// Cursors ascend in each space, and where there is one buffer, lines come as they were published.
    fn ascends(&self, heard: &Heard, faults: &mut Vec<String>) {
        if self.case.reads_back {
            return;
        }
        let mut newest: HashMap<&str, &str> = HashMap::new();
        for record in heard
            .records
            .iter()
            .filter(|record| record.cursor.len() == 60)
        {
            let space = &record.cursor[..39];
            let before = newest.insert(space, &record.cursor);
            if before.is_some_and(|before| before >= record.cursor.as_str()) {
                faults.push(format!("not after the one before it: {}", record.cursor));
            }
        }
        if self.pages.lines.iter().any(|line| line.replica > 0) {
            return;
        }
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, line) in self.pages.lines.iter().enumerate() {
            // Of lines that are alike, the last: they stand next to each other.
            places.insert(line.line.cli_text(), place);
        }
        let mut last = 0;
        for record in &heard.records {
            let place = places.get(&record.raw).copied().unwrap_or(last);
            if place < last {
                faults.push(format!("after a later line: {}", record.raw));
            }
            last = place;
        }
    }

    /// No gap says more than is missing. Lines that are passed over count too: the gateway counts them.
    fn claims(
        &self,
        heard: &Heard,
        owed: &[&Published],
        excused: &[&Published],
        faults: &mut Vec<String>,
    ) {
        for gap in &heard.gaps {
            let (Extent::Exact(claimed) | Extent::AtLeast(claimed)) = gap.extent else {
                continue;
            };
            let passed_over = self
                .pages
                .lines
                .iter()
                .filter(|line| !is_stored(&line.line));
            let missing = owed.iter().chain(excused).copied();
            let held = missing.chain(passed_over).filter(|line| gap.holds(line));
            let held = held.count() as u64;
            if held < claimed {
                faults.push(format!(
                    "claims more than the {held} that it holds: {gap:?}"
                ));
            }
        }
    }

    fn attachments(&self) -> impl Iterator<Item = &'c Attachment> {
        let book = self.case.book;
        book.attachments
            .iter()
            .filter(|one| one.sandbox_id == self.pages.id)
    }

    /// Whether nobody who lived to write ever saw the sandbox.
    fn could_not_be_seen(&self) -> bool {
        let is_killed = |one: &Attachment| {
            let end = one.to.unwrap_or(Moment::MAX);
            let kills = self.case.kills.iter();
            kills
                .copied()
                .any(|kill| one.from <= kill && end <= kill + KILL_IS_SEEN_WITHIN)
        };
        self.pages.deleted.is_some() && self.attachments().all(is_killed)
    }

    fn is_owed(&self, line: &Published, heard: &Heard) -> bool {
        !self.was_out_of_reach(line, heard)
            && !self.was_elsewhere(line)
            && !is_said_to_all(line, heard)
    }

    /// Whether the line was gone before the journal's first word of the sandbox.
    fn was_out_of_reach(&self, line: &Published, heard: &Heard) -> bool {
        let Some(first) = heard.first.filter(|first| line.at < *first) else {
            return false;
        };
        let between = |at: Moment| line.at < at && at < first;
        let later = self.pages.lines.iter().filter(|other| {
            other.is_accepted() && other.replica == line.replica && between(other.at)
        });
        self.case.book.restarts.iter().copied().any(between) || later.count() >= TAIL_LINES_MAX
    }

    /// Whether the line was taken by a replica that nobody asked: others were watched when it came, or
    /// before it and next after it.
    fn was_elsewhere(&self, line: &Published) -> bool {
        let is_there = |one: &Attachment| one.replica == line.replica;
        let then = |one: &&Attachment| one.from <= line.at && one.to.is_none_or(|to| line.at <= to);
        let mut watched = self.attachments().filter(then).peekable();
        if watched.peek().is_some() {
            return watched.all(|one| !is_there(one));
        }
        let before = self.attachments().filter(|one| one.from <= line.at);
        let after = self.attachments().filter(|one| one.from > line.at);
        let before = before.max_by_key(|one| one.from);
        let after = after.min_by_key(|one| one.from);
        before.is_some_and(|one| !is_there(one)) && after.is_none_or(|one| !is_there(one))
    }
}

/// The last word of a sandbox is given to every replica, which no supervisor does: once is enough.
fn is_said_to_all(line: &Published, heard: &Heard) -> bool {
    let text = line.line.cli_text();
    text.contains(" last(1) ") && heard.records.iter().any(|record| record.raw == text)
}

/// Whether a buffer took the line and a follower stores it.
fn is_owed_at_all(line: &Published) -> bool {
    line.is_accepted() && is_stored(&line.line)
}
