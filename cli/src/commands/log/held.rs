//! What the gateway holds and nobody has recorded, as the newest rows of the log.

use super::Shown;
use super::listing::Listing;
use super::live::Live;
use super::tail;
use crate::args::Limit;
use crate::commands::entries::Met;
use crate::context::Context;
use crate::exit::Outcome;
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

impl Shown {
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
