//! What a scenario does, step by step.

use boundlane_record::{Micros, Seq};
use boundlane_store::{
    AppendError, Consumer, Item, Journal, Number, Prune, PruneTerms, StateDir, WhenFull,
};

use crate::feed::{Part, end_of_item, part, setup};

const DAY: i64 = 24 * 3600 * 1_000_000;
/// Between two steps: longer than drops wait for more.
const STEP_MICROS: i64 = 2_000_000;

/// One call of the journal, or a few of which one writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// One commit: each stream goes on to its line, or is counted out.
    Shed(&'static [(&'static str, u64)]),
    /// The same; without room nothing happens.
    Wait(&'static [(&'static str, u64)]),
    /// So much of a thousand is acknowledged.
    Acknowledge(Consumer, u64),
    Number,
    Prune,
    /// The `-wal` is moved into the file and begins anew.
    Checkpoint,
    Reopen,
}

impl Step {
    /// What crash points inside it are called.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Step::Shed(_) => "append",
            Step::Wait(_) => "append of a source that waits",
            Step::Acknowledge(..) => "acknowledge",
            Step::Number => "number_open_losses",
            Step::Prune => "prune",
            Step::Checkpoint => "checkpoint",
            Step::Reopen => "reopen",
        }
    }
}

/// Opens the journal and takes the steps from `from` on. `done` hears of each that was taken, the
/// opening being number `from`.
pub(crate) fn run(
    dir: &StateDir,
    steps: &[Step],
    from: usize,
    done: &mut dyn FnMut(usize),
) -> Result<(), String> {
    let mut journal = opened(dir)?;
    done(from);
    for (n, step) in steps.iter().enumerate().skip(from) {
        let at = i64::try_from(n + 1).unwrap() * STEP_MICROS;
        journal = take(dir, journal, *step, Micros(at))?;
        done(n + 1);
    }
    Ok(())
}

fn opened(dir: &StateDir) -> Result<Journal, String> {
    let opened = Journal::open(dir, &setup()).map_err(|error| error.to_string())?;
    assert_eq!(opened.1.began, None, "it goes on with the same journal");
    Ok(opened.0)
}

fn take(dir: &StateDir, mut journal: Journal, step: Step, at: Micros) -> Result<Journal, String> {
    match step {
        Step::Shed(goals) => lines(&mut journal, goals, WhenFull::Shed, at),
        Step::Wait(goals) => match lines(&mut journal, goals, WhenFull::Wait, at) {
            Err(AppendError::QueueFull { .. }) => Ok(()),
            done => done,
        },
        Step::Acknowledge(consumer, of_thousand) => {
            let size = journal.head().map_err(|error| error.to_string())?.size.0;
            let through = Seq(size * of_thousand / 1000);
            journal.acknowledge(consumer, through, at).map(drop)
        }
        Step::Number => journal.number_open_losses(Number::All, at).map(drop),
        Step::Prune => prune(&mut journal),
        Step::Checkpoint => checkpoint(dir),
        Step::Reopen => {
            drop(journal);
            return opened(dir);
        }
    }
    .map_err(|error| error.to_string())?;
    Ok(journal)
}

/// Goes on from the stored places.
fn lines(
    journal: &mut Journal,
    goals: &[(&str, u64)],
    when_full: WhenFull,
    at: Micros,
) -> Result<(), AppendError> {
    let mut parts: Vec<Part> = Vec::new();
    for (name, goal) in goals {
        let stream = journal.stream(name)?;
        let mut version = stream.as_ref().map(|stream| stream.version);
        let mut line = stream.map_or(0, |stream| stream.place.parse().unwrap());
        while line < *goal {
            let end = end_of_item(line, *goal);
            parts.push(part(name, line..end, version));
            version = Some(version.unwrap_or(0) + 1);
            line = end;
        }
    }
    let items: Vec<_> = parts
        .iter()
        .map(|part| Item {
            when_full,
            at,
            ..part.item()
        })
        .collect();
    journal.append(&items).map(drop)
}

fn prune(journal: &mut Journal) -> Result<(), AppendError> {
    let terms = PruneTerms {
        now: Micros(DAY),
        query_micros_max: 0,
        boot: None,
        receipted: None,
    };
    journal.prune(&terms).map(|_: Prune| ())
}

fn checkpoint(dir: &StateDir) -> Result<(), AppendError> {
    let db = rusqlite::Connection::open(dir.journal_path())?;
    let moved = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let busy = db.query_row("PRAGMA wal_checkpoint(RESTART)", [], moved)?;
    assert_eq!(busy, 0);
    Ok(())
}
