//! Health: one word and why. The same word everywhere that it is said: `status`, `/healthz`, the metrics.

use boundlane_record::Micros;
use boundlane_store::{LossTotal, Reader};

use super::forward::ARCHIVED_ENTRIES;
use super::recorded::read_failure;
use crate::context::{Context, Verbosity};
use crate::exit::Outcome;
use crate::forwarder::Forwarder;

pub(crate) mod queue;
mod read;
#[cfg(test)]
mod tests;

use queue::Queue;
pub(crate) use read::{Examined, Opened, Place, examine, facts, with};

/// A loss makes the machine `losing` for so long.
const LOSING_MICROS: i64 = 15 * 60 * 1_000_000;
/// A consumer that is this far behind makes it `degraded`.
const BEHIND_MICROS: i64 = 5 * 60 * 1_000_000;
/// The entries among which unparsed lines are counted.
const LOOKED_AT_ENTRIES: u64 = 10_000;
/// One unparsed line in so many is one too many.
const UNPARSED_ONE_IN: u64 = 100;

/// The word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Nothing is wrong.
    Healthy,
    /// Nothing is being lost, and something needs looking after.
    Degraded,
    /// Lines were lost just now.
    Losing,
}

impl Word {
    /// The best first.
    pub(crate) const ALL: [Word; 3] = [Word::Healthy, Word::Degraded, Word::Losing];

    /// As it is printed.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Word::Healthy => "healthy",
            Word::Degraded => "degraded",
            Word::Losing => "losing",
        }
    }
}

/// The word and the reasons for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Health {
    /// The worst that is true.
    pub(crate) word: Word,
    /// Why, the worst first.
    pub(crate) reasons: Vec<String>,
}

/// What health is decided by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Losses seen or still growing in the last 15 minutes.
    pub(crate) fresh_losses: Vec<LossTotal>,
    /// What waits for a consumer.
    pub(crate) queue: Queue,
    /// For how long the oldest of it waits, in microseconds.
    pub(crate) waiting_micros: i64,
    /// The archive should have it: its day ended 5 minutes ago, or another consumer is the last.
    pub(crate) is_past_its_day: bool,
    /// Lines among the last entries that became records.
    pub(crate) recent_records: u64,
    /// Of those, the ones that nobody could parse.
    pub(crate) recent_unparsed: u64,
    /// Whether the books balance.
    pub(crate) balanced: bool,
    /// Entries that were archived and that no file is named for.
    pub(crate) unheld: u64,
    /// What who follows says of itself.
    pub(crate) forwarder: Option<Forwarder>,
    /// Whether somebody follows, whatever it says.
    pub(crate) is_followed: bool,
    /// For how long the gateway could not be asked, in microseconds.
    pub(crate) trouble_micros: i64,
}

/// Decides.
pub(crate) fn decide(facts: &Facts) -> Health {
    let mut reasons: Vec<String> = facts.fresh_losses.iter().map(fresh).collect();
    let mut word = if reasons.is_empty() {
        Word::Healthy
    } else {
        Word::Losing
    };
    let mut degraded = of_journal(facts);
    if let Some(forwarder) = &facts.forwarder {
        degraded.append(&mut of_forwarder(forwarder, facts.trouble_micros));
    }
    if word == Word::Healthy && !degraded.is_empty() {
        word = Word::Degraded;
    }
    reasons.append(&mut degraded);
    if reasons.is_empty() {
        reasons.push("nothing was lost in the last 15 minutes".to_owned());
    }
    Health { word, reasons }
}

/// What is wrong with the journal and the archive.
fn of_journal(facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    if !facts.balanced {
        wrong.push("the books do not balance; run `boundlane fsck`".to_owned());
    }
    if facts.unheld > 0 {
        wrong.push(format!(
            "{} archived entries are in no file of the archive; run `boundlane fsck`",
            facts.unheld
        ));
    }
    if is_behind(facts) {
        let minutes = facts.waiting_micros / 60_000_000;
        wrong.push(format!(
            "{} entries wait for the archive, the oldest for {minutes} minutes; \
             run `boundlane archive`",
            facts.queue.entries
        ));
    }
    if facts.recent_unparsed * UNPARSED_ONE_IN > facts.recent_records {
        wrong.push(format!(
            "{} of the last {} lines could not be parsed; \
             `boundlane query \"SELECT cause, raw FROM entries WHERE kind = 'unparsed'\"`",
            facts.recent_unparsed, facts.recent_records
        ));
    }
    wrong
}

/// Who follows archives when many entries wait, and when a day ends: until then nothing is late. When
/// nobody follows, nobody archives.
fn is_behind(facts: &Facts) -> bool {
    let is_due =
        !facts.is_followed || facts.queue.entries >= ARCHIVED_ENTRIES || facts.is_past_its_day;
    is_due && facts.queue.entries > 0 && facts.waiting_micros > BEHIND_MICROS
}

/// What is wrong with following.
fn of_forwarder(forwarder: &Forwarder, trouble_micros: i64) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(trouble) = &forwarder.gateway.trouble {
        let what = match trouble.is_refusal {
            true => "the gateway does not let us in",
            false => "no gateway",
        };
        let minutes = trouble_micros / 60_000_000;
        wrong.push(format!(
            "{what} ({}, for {minutes} minutes); `boundlane doctor` says more",
            trouble.why
        ));
    }
    if forwarder.refused > 0 {
        wrong.push(format!(
            "the gateway does not let us read {} of the sandboxes; `boundlane doctor` says more",
            forwarder.refused
        ));
    }
    if let Some(listed) = forwarder.sandboxes
        && listed.selected == 0
        && listed.all > 0
    {
        wrong.push(format!(
            "following 0 of {} sandboxes; `boundlane forward --all` follows them",
            listed.all
        ));
    }
    if forwarder.archiving_failed {
        wrong.push("archiving failed; `boundlane archive` says why".to_owned());
    }
    wrong
}

/// The word for so many losses of a kind.
pub(crate) fn plural(kind: &str, losses: u64) -> &str {
    match (kind, losses) {
        ("gap", 1) => "gap",
        ("gap", _) => "gaps",
        ("drops", 1) => "drop",
        ("rejected", 1) => "rejection",
        ("rejected", _) => "rejections",
        (other, _) => other,
    }
}

fn fresh(loss: &LossTotal) -> String {
    let n = loss.losses;
    let kind = plural(&loss.kind, n);
    format!("{n} {kind} in the last 15 minutes ({})", loss.cause)
}

/// Says on standard error that lines are being lost, if they are; not with `-q`.
pub(crate) fn warn_if_losing(journal: Option<&Reader>, ctx: &Context) -> Outcome<()> {
    let Some(journal) = journal.filter(|_| ctx.verbosity > Verbosity::Quiet) else {
        return Ok(());
    };
    let since = Micros(ctx.now.0 - LOSING_MICROS);
    let fresh = journal.losses(Some(since)).map_err(read_failure)?;
    if let Some(worst) = fresh.first() {
        ctx.warn(&format!(
            "losing: {}; `boundlane status` says more",
            self::fresh(worst)
        ));
    }
    Ok(())
}
