//! `status`: whether the record is whole, from counters that change in the transactions they describe.

use boundlane_record::Micros;
use boundlane_store::{Head, LossTotal, StreamState, Totals};

use super::health::queue::Queue;
use super::health::{self, Health, Opened, Place, Word};
use super::recorded::read_failure;
use crate::args::StatusArgs;
use crate::context::{Context, shown};
use crate::exit::{Exit, Outcome};
use crate::forwarder::file::Found;
use crate::output::out::Out;

pub(super) mod archive;
mod aside;
mod document;
mod following;
mod screen;
mod unlucky;

use archive::{Disk, Stored};
use aside::Aside;
use unlucky::Unlucky;

/// A day, in microseconds.
const DAY_MICROS: i64 = 86_400_000_000;

/// All that is shown.
struct Status {
    directory: String,
    health: Health,
    following: Found,
    journal: Option<JournalStatus>,
    /// Journals that were set aside, and the paths of those that cannot be read.
    set_aside: Vec<Aside>,
    unreadable: Vec<String>,
    archive: Stored,
    disk: Disk,
    now: Micros,
}

/// The journal in numbers.
struct JournalStatus {
    head: Head,
    totals: Totals,
    queue: Queue,
    losses: Vec<LossTotal>,
    losses_of_a_day: Vec<LossTotal>,
    unlucky: Vec<Unlucky>,
    streams: Vec<StreamStatus>,
}

/// One stream in numbers.
struct StreamStatus {
    sandbox: Option<String>,
    source: String,
    stream: String,
    records: u64,
    denied: u64,
    last: Option<Micros>,
    balanced: bool,
}

/// Shows the health, the books and what they are made of.
pub(crate) fn run(args: &StatusArgs, ctx: &Context, out: &mut Out) -> Outcome {
    ctx.warn_of_zone();
    let status = Status::read(ctx)?;
    if args.json {
        out.line(&document::document(&status).to_string())?;
    } else {
        screen::print(&status, ctx, out)?;
    }
    let is_well = status.health.word == Word::Healthy;
    Ok(if args.check && !is_well {
        Exit::Failed
    } else {
        Exit::Done
    })
}

impl Status {
    fn read(ctx: &Context) -> Outcome<Status> {
        let directory = &ctx.state_dir()?.path;
        let examined = health::examine(&Place::of(ctx)?, ctx.now)?;
        let journal = examined.journal.map(|journal| {
            let queue = examined.facts.queue;
            JournalStatus::read(journal, queue, ctx.now)
        });
        let (set_aside, unreadable) = aside::all(ctx)?;
        let unreadable = unreadable
            .iter()
            .map(|(path, why)| format!("{}: {why}", shown(path)));
        Ok(Status {
            set_aside,
            unreadable: unreadable.collect(),
            directory: shown(directory),
            health: examined.health,
            following: examined.following,
            journal: journal.transpose()?,
            archive: examined.archive,
            disk: archive::disk(directory),
            now: ctx.now,
        })
    }
}

impl JournalStatus {
    fn read(journal: Opened, queue: Queue, now: Micros) -> Outcome<JournalStatus> {
        let reader = &journal.reader;
        let day = Micros(now.0 - DAY_MICROS);
        let streams = reader.streams().map_err(read_failure)?;
        let open = reader.open_losses().map_err(read_failure)?;
        Ok(JournalStatus {
            losses: reader.losses(None).map_err(read_failure)?,
            losses_of_a_day: reader.losses(Some(day)).map_err(read_failure)?,
            unlucky: unlucky::of(&streams, &open),
            streams: streams.into_iter().map(StreamStatus::of).collect(),
            head: journal.head,
            totals: journal.totals,
            queue,
        })
    }
}

impl StreamStatus {
    fn of(state: StreamState) -> StreamStatus {
        StreamStatus {
            sandbox: state.name.sandbox.or(state.name.sandbox_id),
            source: state.name.source,
            stream: state.name.stream,
            records: state.tally.records(),
            denied: state.tally.of_outcome(boundlane_record::Outcome::Denied),
            last: state.last_observed,
            balanced: state.books.balance(),
        }
    }
}
