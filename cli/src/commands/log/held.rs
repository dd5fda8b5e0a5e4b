//! What the gateway holds and nobody has recorded, as the newest rows of the log.

use super::Shown;
use super::listing::Listing;
use super::live::{self, Asked, Live};
use super::which::Sandbox;
use super::{closing, follow, tail};
use crate::args::{Limit, LogArgs};
use crate::commands::entries::Met;
use crate::commands::recorded::Recorded;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::output::cell::Placed;
use crate::output::out::Out;

/// Rows that the gateway holds and nobody has recorded, and how many of them match.
#[derive(Default)]
pub(super) struct Held {
    rows: Vec<Placed<'static>>,
    matching: usize,
}

impl Held {
    /// How many older rows are asked for besides these.
    pub(super) fn leaves(&self, last: Limit) -> Limit {
        match last {
            Limit::All => Limit::All,
            Limit::Last(count) => Limit::Last(count.saturating_sub(self.matching)),
        }
    }
}

/// What comes after the history: from the gateway when it lives there and nobody follows it, else from
/// the journal.
pub(super) fn goes_on(
    (asked, sandbox): (Asked, &Sandbox),
    record: &Recorded,
    shown: &mut Shown,
    listing: &mut Listing<'_>,
    ctx: &Context,
    out: &mut Out,
) -> Outcome {
    match asked {
        Asked::Living(live) => {
            live::follow(live, shown, listing, ctx, out)?;
            Ok(Exit::Done)
        }
        Asked::Unknown if shown.was_only_watched() => {
            listing.settle(out)?;
            out.flush_now()?;
            ctx.note(match follow::has_ended(shown) {
                true => "the sandbox has ended",
                false => "the sandbox has ended: it is gone, and what it said last may be missing",
            });
            Ok(Exit::Done)
        }
        Asked::Unknown | Asked::Nothing => {
            if let Some(unknown) = &sandbox.unknown {
                ctx.note(&format!("{unknown}; waiting for it"));
            }
            let until = shown.filter.scope.window.until;
            follow::run(record, until, shown, listing, ctx, out)
        }
    }
}

/// A sandbox of which nothing is recorded: what the gateway holds of it.
pub(super) fn unrecorded(
    live: Live,
    mut shown: Shown,
    (args, follows): (&LogArgs, bool),
    listing: &mut Listing<'_>,
    ctx: &Context,
    out: &mut Out,
) -> Outcome {
    ctx.note(
        "nothing of it is recorded: what the gateway holds is shown; `boundlane forward` records",
    );
    if follows {
        live::follow(live, &mut shown, listing, ctx, out)?;
        return Ok(Exit::Done);
    }
    let held = shown.held(live, ctx);
    shown.show_held(held, args.filters.last, listing, out)?;
    listing.finish(&shown.coverage.to_json(), out)?;
    out.flush_now()?;
    Ok(closing::exit(&shown.coverage, args.require_complete, ctx))
}

impl Shown {
    /// Whether there are testimonies, all of them by watching: an import can grow.
    fn was_only_watched(&self) -> bool {
        let mut streams = self.coverage.testimonies().peekable();
        streams.peek().is_some() && streams.all(|stream| !stream.is_import())
    }

    /// Reads what the gateway holds.
    pub(super) fn held(&self, mut live: Live, ctx: &Context) -> Held {
        let mut held = Held::default();
        while let Some(rows) = live.next() {
            held.rows.extend(rows);
        }
        if let Some(why) = live.unread() {
            ctx.warn(&format!("not all that the gateway holds is shown: {why}"));
        }
        held.matching = held.rows.iter().filter(|row| self.counts(row)).count();
        held
    }

    /// Whether it is one of the rows that are asked for.
    fn counts(&self, placed: &Placed<'_>) -> bool {
        tail::counts(placed) && self.filter.matches(&placed.row)
    }

    /// Prints it, or the last rows of it.
    pub(super) fn show_held(
        &mut self,
        held: Held,
        last: Limit,
        listing: &mut Listing<'_>,
        out: &mut Out,
    ) -> Outcome<()> {
        let mut left_out = match last {
            Limit::All => 0,
            Limit::Last(count) => held.matching.saturating_sub(count),
        };
        for placed in held.rows {
            if left_out > 0 {
                let counts = self.counts(&placed);
                left_out -= usize::from(counts);
                self.has_older |= counts;
                Met::Entry(placed).tell(&mut self.coverage);
                continue;
            }
            self.met(Met::Entry(placed), listing, out)?;
        }
        Ok(())
    }
}
