//! `log --follow`: rows as other processes commit them.
//!
//! Goes on by number, so that history and what follows have neither a hole nor a row twice. The journal
//! is asked in short reads; each row is handed on at once.

use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use boundlane_record::{Micros, Seq};
use boundlane_store::{Found, Reader, Select, StateDir};

use super::Shown;
use super::listing::Listing;
use crate::commands::entries::Met;
use crate::commands::recorded::{Recorded, decode, open_failure, read_failure};
use crate::context::{Context, wall_clock};
use crate::exit::{Exit, Failure, Outcome};
use crate::output::cell::Placed;
use crate::output::out::Out;

/// Between two looks at the journal. A row is printed 50 ms after its commit at the latest.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Looks between two checks that the journal is still the same file.
const LOOKS_A_CHECK: u32 = 25;

/// Waits until there is a record.
pub(super) fn first_record(ctx: &Context) -> Outcome<Recorded> {
    loop {
        pause(LOOKS_A_CHECK);
        if let Some(record) = Recorded::open(ctx)? {
            return Ok(record);
        }
    }
}

/// Prints what is committed after the history, until Ctrl-C, until the sandbox has ended, or until the span
/// has.
pub(super) fn run(
    record: &Recorded,
    until: Option<Micros>,
    shown: &mut Shown,
    listing: &mut Listing<'_>,
    ctx: &Context,
    out: &mut Out,
) -> Outcome {
    let mut tail = Tail::after(record, ctx)?;
    loop {
        listing.settle(out)?;
        out.flush_now()?;
        if has_ended(shown) {
            ctx.note("the sandbox has ended");
            return Ok(Exit::Done);
        }
        while !tail.print(shown, listing, out)? {
            if until.is_some_and(|until| until <= wall_clock()) {
                ctx.note("the span has ended");
                return Ok(Exit::Done);
            }
            pause(1);
        }
    }
}

/// Waits before the next look.
#[allow(
    clippy::disallowed_methods,
    reason = "SQLite tells no other process of a commit: a reader has to look again"
)]
fn pause(looks: u32) {
    sleep(LOOK_EVERY * looks);
}

/// Whether every stream that was watched was ended by its source. What was imported can grow.
pub(super) fn has_ended(shown: &Shown) -> bool {
    let mut streams = shown.coverage.testimonies().peekable();
    streams.peek().is_some() && streams.all(|stream| stream.is_ended && !stream.is_import())
}

/// A place in the journal that is written now.
struct Tail {
    path: PathBuf,
    inode: Option<u64>,
    reader: Option<Reader>,
    journal: String,
    through: Seq,
    looks: u32,
}

impl Tail {
    /// The place after what `record` showed.
    fn after(record: &Recorded, ctx: &Context) -> Outcome<Tail> {
        let dir = StateDir::at(ctx.state_dir()?.path.clone());
        let mut tail = Tail {
            path: dir.journal_path(),
            inode: None,
            reader: None,
            journal: String::new(),
            through: Seq(0),
            looks: 0,
        };
        if let Some(head) = record.head() {
            tail.journal.clone_from(&head.journal);
            tail.through = Seq(head.size.0);
        }
        tail.reopen()?;
        Ok(tail)
    }

    /// Opens the journal file; another journal in its place is shown from its beginning.
    fn reopen(&mut self) -> Outcome<()> {
        self.inode = std::fs::metadata(&self.path).ok().map(|file| file.ino());
        self.reader = Reader::open_file(&self.path).map_err(|error| open_failure(&error))?;
        if let Some(reader) = &self.reader {
            let head = reader.head().map_err(read_failure)?;
            if head.journal != self.journal {
                self.journal = head.journal;
                self.through = Seq(0);
            }
        }
        Ok(())
    }

    /// Prints what is new; whether anything was.
    fn print(
        &mut self,
        shown: &mut Shown,
        listing: &mut Listing<'_>,
        out: &mut Out,
    ) -> Outcome<bool> {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS_A_CHECK) && self.was_replaced() {
            self.reopen()?;
        }
        let Some(reader) = &self.reader else {
            return Ok(false);
        };
        let size = Seq(reader.head().map_err(read_failure)?.size.0);
        if size <= self.through {
            return Ok(false);
        }
        let select = Select::all().after(self.through).through(size);
        let journal = self.journal.as_str();
        let failed = reader
            .each_entry(select, |found| {
                match print(found, journal, shown, listing, out) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(failure) => ControlFlow::Break(failure),
                }
            })
            .map_err(read_failure)?;
        self.through = size;
        failed.map_or(Ok(true), Err)
    }

    fn was_replaced(&self) -> bool {
        std::fs::metadata(&self.path).ok().map(|file| file.ino()) != self.inode
    }
}

fn print(
    found: Found<'_>,
    journal: &str,
    shown: &mut Shown,
    listing: &mut Listing<'_>,
    out: &mut Out,
) -> Result<(), Failure> {
    let met = match found {
        Found::Entry(seq, bytes) => {
            let row = decode(bytes);
            Met::Entry(Placed {
                journal: journal.into(),
                seq: Some(seq),
                row,
            })
        }
        Found::Damaged(damage) => Met::Missing {
            journal,
            first: damage.first,
            last: damage.last,
            why: damage.why,
        },
        Found::Pruned { first, last } => Met::Missing {
            journal,
            first,
            last,
            why: "pruned",
        },
    };
    shown.met(met, listing, out)
}
