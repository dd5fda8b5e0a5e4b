//! Takes the prefix of the journal that no archive file holds yet into the local archive.

use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use boundlane_archive::{ArchiveError, Archived, Archiver, JournalId, Listing, WrittenFile, list};
use boundlane_record::{Seq, TreeSize};
use boundlane_store::{
    AppendError, Consumer, Found, Journal, Lock, LockError, LockName, Reader, Select,
};

use crate::commands::recorded::{open_journal, read_failure};
use crate::context::{Context, wall_clock};
use crate::exit::{Exit, Failure, Outcome};
use crate::journal;

/// The progress bar looks at the clock for each step: for each entry that would be a hundredth of the run.
const ENTRIES_A_STEP: u64 = 1024;

/// What an archive run did.
pub(crate) struct Report {
    /// Numbers archived now; 0 when all were archived already.
    pub(crate) entries: u64,
    /// Everything through this number is in the archive.
    pub(crate) through: Seq,
    /// The files of this run.
    pub(crate) files: Vec<WrittenFile>,
}

/// Archives everything that is committed now and that no file holds, reads it back, and acknowledges it.
/// The files are asked, not the acknowledgement: one that was deleted is written again while the journal
/// has its entries. The caller holds the lock.
pub(crate) fn archive_prefix(
    ctx: &Context,
    journal: &mut Journal,
    _held: &Lock,
) -> Outcome<Report> {
    let reader = open_journal(ctx)?
        .ok_or_else(|| Failure::failed("the journal is gone; run the same command again"))?;
    let head = reader.head().map_err(read_failure)?;
    let root = journal::archive_root(ctx)?;
    let missing = unheld(&list(&root), &head.journal, head.size);
    let mut report = Report {
        entries: 0,
        through: Seq(head.size.0),
        files: Vec::new(),
    };
    for (first, last) in missing {
        if first <= head.pruned {
            ctx.warn(&format!(
                "entries {first} to {} were archived and pruned, and are in no file of the archive any more",
                last.min(head.pruned)
            ));
        }
        let first = first.max(head.pruned.next());
        if first > last {
            continue;
        }
        let archived = write(ctx, &reader, Seq(first.0 - 1), last)?;
        report.entries += last.0 + 1 - first.0;
        report.files.extend(archived.files);
    }
    if head.size.0 > 0 {
        let through = Seq(head.size.0);
        journal
            .acknowledge(Consumer::Archiver, through, wall_clock())
            .map_err(unacknowledged)?;
    }
    Ok(report)
}

/// The ranges from 1 through `size` that no file of `journal` holds.
pub(crate) fn unheld(listing: &Listing, journal: &str, size: TreeSize) -> Vec<(Seq, Seq)> {
    let holdings = listing.holdings();
    let Some(holding) = holdings
        .iter()
        .find(|holding| holding.journal.as_str() == journal)
    else {
        return if size.0 == 0 {
            Vec::new()
        } else {
            vec![(Seq::FIRST, Seq(size.0))]
        };
    };
    let mut ranges = Vec::new();
    if holding.first > Seq::FIRST {
        ranges.push((Seq::FIRST, Seq(holding.first.0 - 1)));
    }
    ranges.extend(
        holding
            .missing
            .iter()
            .map(|range| (Seq(*range.start()), Seq(*range.end()))),
    );
    if holding.last.0 < size.0 {
        ranges.push((holding.last.next(), Seq(size.0)));
    }
    ranges
}

/// The command of a child that archives and ends, so that the memory it takes goes back.
pub(crate) fn child_command(ctx: &Context) -> Outcome<Command> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(format_args!("cannot tell which program this is: {error}"))
    })?;
    let mut command = Command::new(program);
    command
        .arg("--quiet")
        .arg("--state-dir")
        .arg(&ctx.state_dir()?.path);
    if let Some(path) = ctx.config.path.as_ref().filter(|_| ctx.config.found) {
        command.arg("--config").arg(path);
    }
    command
        .arg("archive")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    Ok(command)
}

/// Takes `archive.lock`, waiting for whoever has it: archiving always ends.
pub(crate) fn wait_for_lock(ctx: &Context) -> Outcome<Lock> {
    let dir = journal::state_dir(ctx)?;
    match Lock::take(&dir, LockName::Archive) {
        Err(LockError::HeldBy { pid, .. }) => {
            let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
            ctx.note(&format!("waiting for {who}, which is archiving"));
            Lock::wait(&dir, LockName::Archive).map_err(unlocked)
        }
        taken => taken.map_err(unlocked),
    }
}

fn write(ctx: &Context, reader: &Reader, after: Seq, through: Seq) -> Outcome<Archived> {
    let id = reader.head().map_err(read_failure)?.journal;
    let id =
        JournalId::parse(&id).ok_or_else(|| Failure::failed("the journal has no usable id"))?;
    let edge = reader
        .edge_at(after.tree_size())
        .map_err(read_failure)?
        .ok_or_else(|| {
            Failure::failed(
                "the journal does not know its tree at the archived size; run `boundlane fsck`",
            )
        })?;
    let archiver = Archiver::open(journal::archive_root(ctx)?).map_err(unarchived)?;
    let mut run = archiver.begin(&id, &edge).map_err(unarchived)?;
    let mut progress = ctx.progress_items("archiving", Some(through.0 - after.0));
    let select = Select::all().after(after).through(through);
    let stopped = reader.each_entry(select, |found| match found {
        Found::Entry(seq, entry) => match run.push(seq, entry) {
            Ok(()) => {
                if seq.0.is_multiple_of(ENTRIES_A_STEP) {
                    progress.at(seq.0 - after.0);
                }
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(unarchived(error)),
        },
        Found::Damaged(damage) => {
            ControlFlow::Break(damaged(damage.first, damage.last, damage.why))
        }
        Found::Pruned { first, last } => {
            ControlFlow::Break(damaged(first, last, "pruned before they were archived"))
        }
    });
    match stopped.map_err(read_failure)? {
        Some(failure) => Err(failure),
        None => run.finish().map_err(unarchived),
    }
}

fn damaged(first: Seq, last: Seq, why: &str) -> Failure {
    Failure::failed(format_args!(
        "entries {first} to {last} cannot be archived: {why}"
    ))
    .advise("run `boundlane fsck` to see what is readable; nothing was removed")
}

#[allow(clippy::needless_pass_by_value, reason = "used as `map_err(unlocked)`")]
fn unlocked(error: LockError) -> Failure {
    let exit = match &error {
        LockError::HeldBy { .. } => Exit::NotReady,
        LockError::Dir(_) => Exit::Failed,
    };
    Failure::new(exit, error)
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "used as `map_err(unarchived)`"
)]
fn unarchived(error: ArchiveError) -> Failure {
    Failure::failed(error)
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "used as `map_err(unacknowledged)`"
)]
fn unacknowledged(error: AppendError) -> Failure {
    Failure::failed(format_args!(
        "the archive is written, but the journal could not note it: {error}"
    ))
    .advise("run `boundlane archive`; what is archived is recognised")
}
