//! `log --list`: the sandboxes that were recorded.
//!
//! From the journal's own counters when it holds everything, else entry by entry.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use boundlane_record::coverage::Coverage;
use boundlane_record::filter::Scope;
use boundlane_record::{Kind, Micros, Outcome as Decided, Row, Seq, canonical};
use boundlane_store::{Found, Reader, Select};

use crate::args::LogArgs;
use crate::commands::entries::{Entries, Met};
use crate::commands::recorded::{Recorded, read_failure};
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::output::cell::Datum;
use crate::output::out::Out;
use crate::output::rows::{Absent, Rows};
use crate::text::clock::Clock;
use crate::time::Zone;

/// Entries after a stream's first among which its first record is looked for.
const FIRST_ENTRIES_LOOKED_AT: u64 = 64;

const COLUMNS: [&str; 8] = [
    "sandbox",
    "sandbox_id",
    "records",
    "denied",
    "losses",
    "first",
    "last",
    "sources",
];

/// One sandbox in numbers.
#[derive(Debug, Default)]
struct Sandbox {
    records: u64,
    denied: u64,
    losses: u64,
    first: Option<Micros>,
    last: Option<Micros>,
    sources: Vec<String>,
}

/// Lists the sandboxes, the newest first.
pub(super) fn run(args: &LogArgs, ctx: &Context, zone: &dyn Zone, out: &mut Out) -> Outcome {
    let names = COLUMNS.map(str::to_owned).to_vec();
    let clock = Clock::new(zone, ctx.now);
    let palette = ctx.stdout_palette;
    let mut rows = Rows::new(names, Absent::LeftOut, &args.output, palette, clock, out)?;
    let mut coverage = Coverage::default();
    let mut all = BTreeMap::new();
    if let Some(mut record) = Recorded::open(ctx)? {
        match record.journal() {
            Some(journal) if !record.has_more_than_the_journal() => {
                from_counters(journal, &mut all)?;
                record.heard(&Scope::default(), &mut |row| coverage.heard(row))?;
            }
            _ => from_entries(&mut record, ctx, &mut all, &mut coverage)?,
        }
    }
    if all.is_empty() {
        ctx.note("nothing is recorded yet");
    }
    for ((name, id), sandbox) in newest_first(all) {
        rows.row(sandbox.values(name, id), out)?;
    }
    rows.finish(&coverage.to_json(), out)?;
    Ok(Exit::Done)
}

/// Counts from the counters that the journal keeps of each stream.
fn from_counters(journal: &Reader, all: &mut All) -> Outcome<()> {
    for state in journal.streams().map_err(read_failure)? {
        if state.name.sandbox.is_none() && state.name.sandbox_id.is_none() {
            continue;
        }
        let key = (state.name.sandbox, state.name.sandbox_id);
        let sandbox = all.entry(key).or_default();
        sandbox.records += state.tally.records();
        sandbox.denied += state.tally.of_outcome(Decided::Denied);
        sandbox.losses += state.tally.losses();
        let last = state.last_time.or(state.last_observed);
        sandbox.last = sandbox.last.max(last);
        if let Some(first) = state.first {
            let first = first_moment(journal, first, &state.name.stream)?;
            sandbox.first = sandbox.first.into_iter().chain(first).min();
        }
        sandbox.add_source(&state.name.source);
    }
    Ok(())
}

/// When the first record of a stream happened; looks at the entries after its first, which is `attached`.
fn first_moment(journal: &Reader, first: Seq, stream: &str) -> Outcome<Option<Micros>> {
    let select = Select::all()
        .after(Seq(first.0 - 1))
        .through(Seq(first.0 + FIRST_ENTRIES_LOOKED_AT));
    let found = journal.each_entry(select, |found| {
        if let Found::Entry(_, bytes) = found
            && let Ok(row) = canonical::decode(bytes)
            && row.stream.as_deref() == Some(stream)
            && row
                .kind
                .as_deref()
                .and_then(Kind::from_word)
                .is_some_and(Kind::is_record)
        {
            return ControlFlow::Break(row.time.or(row.observed));
        }
        ControlFlow::Continue(())
    });
    Ok(found.map_err(read_failure)?.flatten())
}

/// Counts entry by entry: the archive has no counters of a sandbox.
fn from_entries(
    record: &mut Recorded,
    ctx: &Context,
    all: &mut All,
    coverage: &mut Coverage,
) -> Outcome<()> {
    let mut bar = ctx.progress_items("reading the record", None);
    let mut seen = 0;
    record.forward(&mut |met| {
        met.tell(coverage);
        if let Met::Entry(placed) = &met {
            count(all, &placed.row);
        }
        seen += 1;
        bar.at(seen);
        Ok(ControlFlow::Continue(()))
    })
}

/// A sandbox's name and id, as its rows say them.
type Names = (Option<String>, Option<String>);
type All = BTreeMap<Names, Sandbox>;

fn newest_first(all: All) -> Vec<(Names, Sandbox)> {
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|(a, x), (b, y)| y.last.cmp(&x.last).then_with(|| a.cmp(b)));
    all
}

fn count(all: &mut All, row: &Row<'_>) {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let key = (
        owned(row.sandbox.as_deref()),
        owned(row.sandbox_id.as_deref()),
    );
    if key == (None, None) {
        return;
    }
    let sandbox = all.entry(key).or_default();
    let kind = row.kind.as_deref().and_then(Kind::from_word);
    if kind.is_some_and(Kind::is_record) {
        sandbox.records += 1;
        let moment = row.time.or(row.observed);
        sandbox.first = sandbox.first.into_iter().chain(moment).min();
        sandbox.last = sandbox.last.max(moment);
    }
    sandbox.denied += u64::from(row.outcome.as_deref() == Some(Decided::Denied.word()));
    sandbox.losses += u64::from(kind.is_some_and(Kind::is_loss));
    if let Some(source) = row.source.as_deref() {
        sandbox.add_source(source);
    }
}

impl Sandbox {
    fn add_source(&mut self, source: &str) {
        if !self.sources.iter().any(|known| known == source) {
            self.sources.push(source.to_owned());
        }
    }

    fn values(&self, name: Option<String>, id: Option<String>) -> [Datum<'_>; 8] {
        let text = |text: Option<String>| text.map_or(Datum::Null, |text| Datum::Text(text.into()));
        let time = |at: Option<Micros>| at.map_or(Datum::Null, Datum::Time);
        [
            text(name),
            text(id),
            Datum::Integer(self.records.into()),
            Datum::Integer(self.denied.into()),
            Datum::Integer(self.losses.into()),
            time(self.first),
            time(self.last),
            Datum::Text(self.sources.join(" ").into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn row(sandbox: &'static str, kind: &'static str, at: i64) -> Row<'static> {
        Row {
            kind: Some(kind.into()),
            sandbox: Some(sandbox.into()),
            source: Some("import".into()),
            observed: Some(Micros(at)),
            ..Row::default()
        }
    }

    /// Records, denials and losses are counted apart, and entries about the journal are of no sandbox.
    #[test]
    fn a_loss_counts_as_a_record_or_a_sandbox_is_made_up() {
        let mut all = All::new();
        let denied = Row {
            outcome: Some("denied".into()),
            ..row("a", "decision", 5)
        };
        for row in [
            denied,
            row("a", "gap", 6),
            row("a", "session", 1),
            row("b", "event", 9),
        ] {
            count(&mut all, &row);
        }
        count(
            &mut all,
            &Row {
                kind: Some("session".into()),
                ..Row::default()
            },
        );
        let listed = newest_first(all);
        assert_eq!(listed.len(), 2);
        assert_eq!(listed[0].0.0.as_deref(), Some("b"));
        let a = &listed[1].1;
        assert_eq!((a.records, a.denied, a.losses), (1, 1, 1));
        assert_eq!((a.first, a.last), (Some(Micros(5)), Some(Micros(5))));
        assert_eq!(a.sources, ["import"]);
    }
}
