//! `log`: what a sandbox reached, what was blocked and why.
//!
//! Reads the local record, takes no lock, writes nothing. Filters come first, then the count; losses and
//! session entries are rows that no filter hides.

use std::ops::ControlFlow;

use boundlane_record::coverage::Coverage;
use boundlane_record::filter::{Case, Filter, Glob, Scope, Window};

use super::entries::{Entries, Met};
use super::health;
use super::recorded::{Recorded, Want, read_failure};
use crate::args::{FilterArgs, Format, Limit, LogArgs};
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::follow::shared::Until;
use crate::output::cell::Placed;
use crate::output::out::Out;
use crate::time::{self, Utc, Zone};
use held::Held;
use listing::Listing;
use live::Asked;

mod closing;
mod fold;
mod folder;
mod follow;
mod held;
mod list;
mod listing;
mod live;
mod tail;
pub(crate) mod which;
mod words;

/// Shows the log of one sandbox.
pub(crate) fn run(args: &LogArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let zone: &dyn Zone = if args.output.utc {
        &Utc
    } else {
        ctx.zone.as_ref()
    };
    refuse_endless_document(args)?;
    if !args.output.utc {
        ctx.warn_of_zone();
    }
    let named = named(args)?;
    let window = window(&args.filters, ctx, zone)?;
    let follows = args.follow && !is_over(&window, ctx);
    if args.list {
        return list::run(args, ctx, zone, out);
    }
    // What cannot be asked is refused, also where there is nothing to ask.
    filter(&args.filters, None, window)?;
    let mut listing = Listing::new(args, ctx, zone, out)?;
    let until = if follows {
        Until::Told
    } else {
        Until::CaughtUp
    };
    if let Some(name) = named
        && Recorded::open(ctx)?.is_none()
        && let Asked::Living(live) = live::open(name, until, ctx)?
    {
        let shown = Shown::new(filter(&args.filters, Some(name.to_owned()), window)?);
        return held::unrecorded(live, shown, (args, follows), &mut listing, ctx, out);
    }
    let Some(mut record) = opened(follows, ctx)? else {
        return nothing(args, ctx, &mut listing, out);
    };
    let Some(sandbox) = which::sandbox(&mut record, named, ctx)? else {
        return nothing(args, ctx, &mut listing, out);
    };
    let filter = filter(&args.filters, Some(sandbox.name.clone()), window)?;
    record.narrow(Want {
        window,
        streams: sandbox.streams.clone(),
    });
    let mut shown = Shown::new(filter);
    let live = live::open(&sandbox.name, until, ctx)?;
    let (live, held) = match live {
        Asked::Living(live) if !follows => (Asked::Nothing, shown.held(live, ctx)),
        live => (live, Held::default()),
    };
    shown.history(
        &mut record,
        held.leaves(args.filters.last),
        &mut listing,
        out,
    )?;
    shown.show_held(held, args.filters.last, &mut listing, out)?;
    if follows {
        return held::goes_on(
            (live, &sandbox),
            &record,
            &mut shown,
            &mut listing,
            ctx,
            out,
        );
    }
    listing.finish(&shown.coverage.to_json(), out)?;
    out.flush_now()?;
    closing::notes(&shown, &sandbox, args, ctx);
    health::warn_if_losing(record.journal(), ctx)?;
    Ok(closing::exit(&shown.coverage, args.require_complete, ctx))
}

/// `--follow` has no end, and one document has.
fn refuse_endless_document(args: &LogArgs) -> Outcome<()> {
    if args.follow && args.output.format == Format::Json {
        let failure = Failure::usage("`-o json` is one document and `--follow` has no end");
        return Err(failure.advise("take `-o jsonl`"));
    }
    Ok(())
}

/// The record; while following, one that begins only now is waited for.
fn opened(follows: bool, ctx: &Context) -> Outcome<Option<Recorded>> {
    let record = Recorded::open(ctx)?;
    if record.is_none() && follows {
        ctx.note("nothing is recorded yet, waiting");
        return follow::first_record(ctx).map(Some);
    }
    Ok(record)
}

/// Whether the span has an end that is past: what comes later is not in it.
fn is_over(window: &Window, ctx: &Context) -> bool {
    let is_over = window.until.is_some_and(|until| until <= ctx.now);
    if is_over {
        ctx.note("the span ends before now: what is recorded is shown, and nothing is waited for");
    }
    is_over
}

/// The name given, one way or the other.
fn named(args: &LogArgs) -> Outcome<Option<&str>> {
    match (args.name.as_deref(), args.filters.sandbox.as_deref()) {
        (Some(a), Some(b)) if a != b => Err(Failure::usage(format_args!(
            "two sandboxes are named, `{a}` and `{b}`"
        ))),
        (a, b) => Ok(a.or(b)),
    }
}

/// `--since` and `--until`, told back as they were understood.
pub(super) fn window(args: &FilterArgs, ctx: &Context, zone: &dyn Zone) -> Outcome<Window> {
    let window = time::window(args.since.as_deref(), args.until.as_deref(), ctx.now, zone)
        .map_err(Failure::usage)?;
    if let Some(text) = time::described(&window) {
        ctx.note(&text);
    }
    Ok(window)
}

/// The filter that the options mean.
///
/// # Errors
/// 2 for a pattern that no host can fit.
pub(super) fn filter(
    args: &FilterArgs,
    sandbox: Option<String>,
    window: Window,
) -> Outcome<Filter> {
    args.host
        .iter()
        .try_for_each(|pattern| host_glob(pattern))?;
    let globs = |patterns: &[String], case| {
        patterns
            .iter()
            .map(|pattern| Glob::new(pattern, case))
            .collect()
    };
    Ok(Filter {
        scope: Scope {
            sandboxes: sandbox.into_iter().collect(),
            window,
            ..Scope::default()
        },
        deny: args.deny,
        hosts: globs(&args.host, Case::Insensitive),
        processes: globs(&args.process, Case::Sensitive),
        rules: globs(&args.rule, Case::Sensitive),
    })
}

/// Refuses what other programs read as a pattern and a host name cannot hold: it would match nothing.
fn host_glob(pattern: &str) -> Outcome<()> {
    let foreign = ['[', ']', '{', '}', '\\'];
    let Some((at, c)) = pattern
        .chars()
        .enumerate()
        .find(|(_, c)| foreign.contains(c))
    else {
        return Ok(());
    };
    Err(Failure::usage(format_args!(
        "`--host {pattern}`: `{c}` at character {} is in no host name",
        at + 1
    ))
    .advise("`*` stands for any run of characters and `?` for one; give `--host` twice for either; an IPv6 address has no brackets"))
}

/// No record, or none of any sandbox.
fn nothing(args: &LogArgs, ctx: &Context, listing: &mut Listing<'_>, out: &mut Out) -> Outcome {
    let coverage = Coverage::default();
    listing.finish(&coverage.to_json(), out)?;
    out.flush_now()?;
    ctx.note("nothing is recorded yet");
    ctx.note("  openshell logs my-agent | boundlane ingest --sandbox my-agent");
    Ok(closing::exit(&coverage, args.require_complete, ctx))
}

/// What was shown so far, and what it is worth.
pub(super) struct Shown {
    filter: Filter,
    coverage: Coverage,
    /// Rows that hold a received line.
    records: u64,
    /// Of those, the ones that may continue the record before.
    continuations: u64,
    /// Whether `-n` left older rows out.
    has_older: bool,
    /// The sources that testified.
    sources: Vec<String>,
}

impl Shown {
    fn new(filter: Filter) -> Shown {
        let coverage = Coverage::new(filter.scope.clone());
        Shown {
            filter,
            coverage,
            records: 0,
            continuations: 0,
            has_older: false,
            sources: Vec::new(),
        }
    }

    /// Prints what is recorded, or the last rows of it.
    fn history(
        &mut self,
        record: &mut Recorded,
        last: Limit,
        listing: &mut Listing<'_>,
        out: &mut Out,
    ) -> Outcome<()> {
        let scope = self.filter.scope.clone();
        record.heard(&scope, &mut |row| self.coverage.heard(row))?;
        match last {
            Limit::All => {
                record.forward(&mut |met| {
                    self.met(met, listing, out)?;
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            Limit::Last(count) => self.last(record, count, listing, out)?,
        }
        self.open_losses(record, listing, out)
    }

    fn last(
        &mut self,
        record: &mut dyn Entries,
        count: usize,
        listing: &mut Listing<'_>,
        out: &mut Out,
    ) -> Outcome<()> {
        let Shown {
            filter, coverage, ..
        } = self;
        let wanted = |placed: &Placed<'_>| filter.matches(&placed.row);
        let found = tail::tail(record, count, &wanted, &mut |met| met.tell(coverage))?;
        self.has_older = found.has_older;
        found
            .rows
            .into_iter()
            .try_for_each(|placed| self.print(placed, listing, out))
    }

    /// Losses that still grow have no number yet; they stand at the end.
    fn open_losses(
        &mut self,
        record: &Recorded,
        listing: &mut Listing<'_>,
        out: &mut Out,
    ) -> Outcome<()> {
        let (Some(reader), Some(head)) = (record.journal(), record.head()) else {
            return Ok(());
        };
        let open = reader.open_losses().map_err(read_failure)?;
        let streams = reader.streams().map_err(read_failure)?;
        for loss in &open {
            let Some(state) = streams.iter().find(|state| state.id == loss.stream) else {
                continue;
            };
            let row = loss.row(&state.name, loss.grown);
            let journal = head.journal.as_str().into();
            self.met(
                Met::Entry(Placed {
                    journal,
                    seq: None,
                    row,
                }),
                listing,
                out,
            )?;
        }
        Ok(())
    }

    /// Takes in one thing and prints it when it matches.
    fn met(&mut self, met: Met<'_>, listing: &mut Listing<'_>, out: &mut Out) -> Outcome<()> {
        met.tell(&mut self.coverage);
        match met.into_placed() {
            Some(placed) if self.filter.matches(&placed.row) => self.print(placed, listing, out),
            _ => Ok(()),
        }
    }

    fn print(
        &mut self,
        placed: Placed<'_>,
        listing: &mut Listing<'_>,
        out: &mut Out,
    ) -> Outcome<()> {
        let row = &placed.row;
        let is_record = row
            .kind
            .as_deref()
            .and_then(boundlane_record::Kind::from_word);
        if is_record.is_some_and(boundlane_record::Kind::is_record) {
            self.records += 1;
            self.continuations += u64::from(row.continuation == Some(true));
            if let Some(source) = row.source.as_deref()
                && !self.sources.iter().any(|known| known == source)
            {
                self.sources.push(source.to_owned());
            }
        }
        listing.entry(placed, out)
    }
}
