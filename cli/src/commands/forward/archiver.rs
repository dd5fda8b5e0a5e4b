//! Archiving while sandboxes are followed: by a child that ends, so that the memory it takes goes back.

use std::process::{Child, Command};

use crate::archiving::child_command;
use crate::context::{Context, wall_clock};
use crate::exit::Outcome;
use crate::follow::shared::Shared;
use crate::follow::tell::About;

/// Entries after which the archive is written.
pub(crate) const ENTRIES: u64 = 100_000;
/// Of how many parts of a small queue one is archived at a time.
const QUEUE_PARTS: u64 = 4;

/// What is said of a child that failed.
const FAILED: &str = "archiving failed; entries stay in the journal, `boundlane archive` says why";

/// When to archive, and the child that does.
pub(crate) struct Archiver {
    command: Option<Command>,
    /// Entries that make it time.
    due: u64,
    child: Option<Child>,
    /// Entries committed when the last child began.
    archived: u64,
    day: i64,
}

impl Archiver {
    /// `is_off` leaves the archive alone.
    pub(crate) fn new(ctx: &Context, is_off: bool) -> Outcome<Archiver> {
        let limits = ctx.config.limits();
        Ok(Archiver {
            command: (!is_off).then(|| child_command(ctx)).transpose()?,
            due: ENTRIES.min(limits.queued_entries_max / QUEUE_PARTS),
            child: None,
            archived: 0,
            day: wall_clock().utc_day(),
        })
    }

    /// Begins a child when it is time: many entries wait, a sandbox has ended, or a day has.
    pub(crate) fn tick(&mut self, ended: &mut u64, shared: &Shared) {
        let (committed, teller) = (shared.writer.committed(), &shared.teller);
        if let Some(child) = &mut self.child {
            match child.try_wait() {
                Ok(None) => return,
                Ok(Some(status)) if status.success() => {
                    shared.board.archived(true);
                    teller.forget(&About::Archive);
                }
                _ => {
                    shared.board.archived(false);
                    teller.warn(About::Archive, FAILED);
                }
            }
            self.child = None;
        }
        let day = wall_clock().utc_day();
        let is_due = committed - self.archived >= self.due || *ended > 0 || day != self.day;
        if !is_due {
            return;
        }
        (*ended, self.archived, self.day) = (0, committed, day);
        if let Some(command) = &mut self.command {
            match command.spawn() {
                Ok(child) => self.child = Some(child),
                Err(error) => {
                    shared.board.archived(false);
                    teller.warn(About::Archive, &format!("cannot archive: {error}"));
                }
            }
        }
    }

    /// Archives what is left, and waits for it: nothing more is to come. A child that still writes is waited
    /// for by the next one, which takes the same lock.
    pub(crate) fn finish(mut self, ctx: &Context) {
        let Some(command) = &mut self.command else {
            return;
        };
        let is_written = command.status().is_ok_and(|status| status.success());
        if !is_written {
            ctx.warn(FAILED);
        }
    }
}
