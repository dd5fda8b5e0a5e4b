//! Health: one word and why. The same word everywhere that it is said.

use std::cell::Cell;

use boundlane_record::{Kind, Micros, Seq};
use boundlane_store::{LossTotal, Reader, Select, Totals};

use super::recorded::read_failure;
use crate::context::Context;
use crate::exit::Outcome;

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
    /// Entries that wait for a consumer.
    pub(crate) queued: u64,
    /// For how long the oldest of them waits, in microseconds.
    pub(crate) waiting_micros: i64,
    /// Lines among the last entries that became records.
    pub(crate) recent_records: u64,
    /// Of those, the ones that nobody could parse.
    pub(crate) recent_unparsed: u64,
    /// Whether the books balance.
    pub(crate) balanced: bool,
    /// Entries that were archived and that no file is named for.
    pub(crate) unheld: u64,
}

/// Decides.
pub(crate) fn decide(facts: &Facts) -> Health {
    let mut reasons: Vec<String> = facts.fresh_losses.iter().map(fresh).collect();
    let mut word = if reasons.is_empty() {
        Word::Healthy
    } else {
        Word::Losing
    };
    let mut degraded = Vec::new();
    if !facts.balanced {
        degraded.push("the books do not balance; run `boundlane fsck`".to_owned());
    }
    if facts.unheld > 0 {
        degraded.push(format!(
            "{} archived entries are in no file of the archive; run `boundlane fsck`",
            facts.unheld
        ));
    }
    if facts.queued > 0 && facts.waiting_micros > BEHIND_MICROS {
        let minutes = facts.waiting_micros / 60_000_000;
        degraded.push(format!(
            "{} entries wait for the archive, the oldest for {minutes} minutes; \
             run `boundlane archive`",
            facts.queued
        ));
    }
    if facts.recent_unparsed * UNPARSED_ONE_IN > facts.recent_records {
        degraded.push(format!(
            "{} of the last {} lines could not be parsed; \
             `boundlane query \"SELECT cause, raw FROM entries WHERE kind = 'unparsed'\"`",
            facts.recent_unparsed, facts.recent_records
        ));
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

/// Reads the facts.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) fn facts(journal: &Reader, totals: &Totals, now: Micros) -> Outcome<Facts> {
    let fresh = journal
        .losses(Some(Micros(now.0 - LOSING_MICROS)))
        .map_err(read_failure)?;
    let (recent_records, recent_unparsed) = recent(journal, totals)?;
    Ok(Facts {
        fresh_losses: fresh,
        queued: totals.queued,
        waiting_micros: totals
            .oldest_queued
            .map_or(0, |oldest| now.0.saturating_sub(oldest.0)),
        recent_records,
        recent_unparsed,
        balanced: totals.books.balance(),
        unheld: 0,
    })
}

/// Counts the last entries by their blocks' headers alone.
fn recent(journal: &Reader, totals: &Totals) -> Outcome<(u64, u64)> {
    let counts = Cell::new((0, 0));
    let after = Seq(totals.size.0.saturating_sub(LOOKED_AT_ENTRIES));
    let select = Select::all().after(after).only(|header| {
        let (records, unparsed) = counts.get();
        let more = header.tally.of_kind(Kind::Unparsed);
        counts.set((records + header.tally.records(), unparsed + more));
        false
    });
    for piece in journal.blocks(select).map_err(read_failure)? {
        piece.map_err(read_failure)?;
    }
    Ok(counts.get())
}

/// Says on standard error that lines are being lost, if they are.
pub(crate) fn warn_if_losing(journal: Option<&Reader>, ctx: &Context) -> Outcome<()> {
    let Some(journal) = journal else {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Facts {
        Facts {
            balanced: true,
            recent_records: 10_000,
            ..Facts::default()
        }
    }

    fn word(facts: &Facts) -> (&'static str, usize) {
        let health = decide(facts);
        (health.word.word(), health.reasons.len())
    }

    #[test]
    fn a_worse_fact_is_hidden_by_a_better_word() {
        assert_eq!(word(&sound()), ("healthy", 1));
        assert_eq!(
            word(&Facts {
                balanced: false,
                ..sound()
            }),
            ("degraded", 1)
        );
        let behind = Facts {
            queued: 1,
            waiting_micros: BEHIND_MICROS + 1,
            ..sound()
        };
        assert_eq!(word(&behind), ("degraded", 1));
        assert_eq!(
            word(&Facts {
                waiting_micros: BEHIND_MICROS,
                ..behind.clone()
            }),
            ("healthy", 1)
        );
        assert_eq!(
            word(&Facts {
                recent_unparsed: 101,
                ..sound()
            }),
            ("degraded", 1)
        );
        assert_eq!(
            word(&Facts {
                recent_unparsed: 100,
                ..sound()
            }),
            ("healthy", 1)
        );
        let loss = LossTotal {
            kind: "gap".into(),
            losses: 1,
            ..LossTotal::default()
        };
        let losing = Facts {
            fresh_losses: vec![loss],
            balanced: false,
            ..behind
        };
        assert_eq!(word(&losing), ("losing", 3));
    }
}
