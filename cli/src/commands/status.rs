//! `status`: whether the record is whole, from counters that change in the transactions they describe.

use boundlane_record::Micros;
use boundlane_store::{Head, LossTotal, Reader, Totals};

use super::health::{self, Facts, Health, Word};
use super::recorded::{open_journal, read_failure};
use crate::args::StatusArgs;
use crate::context::{Context, shown};
use crate::exit::{Exit, Outcome};
use crate::output::out::Out;

pub(super) mod archive;
mod aside;
mod document;
mod screen;

use archive::{Disk, Stored};
use aside::Aside;

/// A day, in microseconds.
const DAY_MICROS: i64 = 86_400_000_000;

/// All that is shown.
struct Status {
    directory: String,
    health: Health,
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
    losses: Vec<LossTotal>,
    losses_of_a_day: Vec<LossTotal>,
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
        let journal = open_journal(ctx)?;
        let root = ctx.archive_root()?.path;
        let (health, journal) = match journal {
            None => (nothing_yet(archive::stored(&root).files), None),
            Some(reader) => {
                let totals = reader.totals().map_err(read_failure)?;
                let head = reader.head().map_err(read_failure)?;
                let facts = Facts {
                    unheld: archive::unheld(&root, &head.journal, &totals),
                    ..health::facts(&reader, &totals, ctx.now)?
                };
                let health = health::decide(&facts);
                (health, Some(JournalStatus::read(&reader, totals, ctx.now)?))
            }
        };
        let (set_aside, unreadable) = aside::all(ctx)?;
        let unreadable = unreadable
            .iter()
            .map(|(path, why)| format!("{}: {why}", shown(path)));
        Ok(Status {
            set_aside,
            unreadable: unreadable.collect(),
            directory: shown(directory),
            health,
            journal,
            archive: archive::stored(&root),
            disk: archive::disk(directory),
            now: ctx.now,
        })
    }
}

/// Nothing was ever recorded, or the journal was taken away from beside its archive.
fn nothing_yet(archive_files: u64) -> Health {
    if archive_files > 0 {
        return Health {
            word: Word::Degraded,
            reasons: vec![format!(
                "the journal is gone, and {archive_files} files of its archive are here; what it had beyond them is lost"
            )],
        };
    }
    let sound = Facts {
        balanced: true,
        ..Facts::default()
    };
    Health {
        reasons: vec!["nothing is recorded yet".to_owned()],
        ..health::decide(&sound)
    }
}

impl JournalStatus {
    fn read(reader: &Reader, totals: Totals, now: Micros) -> Outcome<JournalStatus> {
        let day = Micros(now.0 - DAY_MICROS);
        let streams = reader.streams().map_err(read_failure)?;
        Ok(JournalStatus {
            head: reader.head().map_err(read_failure)?,
            totals,
            losses: reader.losses(None).map_err(read_failure)?,
            losses_of_a_day: reader.losses(Some(day)).map_err(read_failure)?,
            streams: streams
                .into_iter()
                .map(|state| StreamStatus {
                    sandbox: state.name.sandbox.or(state.name.sandbox_id),
                    source: state.name.source,
                    stream: state.name.stream,
                    records: state.tally.records(),
                    denied: state.tally.of_outcome(boundlane_record::Outcome::Denied),
                    last: state.last_observed,
                    balanced: state.books.balance(),
                })
                .collect(),
        })
    }
}
