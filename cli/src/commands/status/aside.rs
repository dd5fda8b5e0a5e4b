//! Journals that were set aside, in numbers.

use boundlane_archive::{ArchiveFile, list};
use boundlane_record::Outcome as Counted;
use serde_json::{Value, json};

use crate::commands::recorded::older::{self, Older, Unreadable};
use crate::context::{Context, shown};
use crate::exit::Outcome;
use crate::journal;

/// One of them; `log` and `query` read it.
pub(super) struct Aside {
    pub(super) journal: String,
    path: String,
    pub(super) entries: u64,
    /// Entries that no archive file holds.
    pub(super) only_here: u64,
    records: u64,
    denied: u64,
}

/// All of them, and those that cannot be read.
pub(super) fn all(ctx: &Context) -> Outcome<(Vec<Aside>, Vec<Unreadable>)> {
    let directory = journal::state_dir(ctx)?.journals_dir();
    if !older::are_there(&directory) {
        return Ok((Vec::new(), Vec::new()));
    }
    let files = list(&journal::archive_root(ctx)?).files;
    let (found, unreadable) = older::all(&directory, &files);
    let asides = found.iter().map(|older| aside(older, &files));
    Ok((asides.collect(), unreadable))
}

fn aside(older: &Older, files: &[ArchiveFile]) -> Aside {
    let size = older.head.size.0;
    let held = files
        .iter()
        .filter(|file| file.name.journal.as_str() == older.head.journal)
        .map(|file| file.name.last.0.min(size))
        .max();
    let held = match older.parts_after {
        Some(after) => after.0,
        None => held.unwrap_or(0),
    };
    let tally = older.reader.totals().map(|totals| totals.tally);
    let tally = tally.unwrap_or_default();
    Aside {
        journal: older.head.journal.clone(),
        path: shown(&older.path),
        entries: size,
        only_here: size - held,
        records: tally.records(),
        denied: tally.of_outcome(Counted::Denied),
    }
}

impl Aside {
    pub(super) fn document(&self) -> Value {
        json!({
            "id": self.journal,
            "path": self.path,
            "entries": self.entries,
            "only_here": self.only_here,
            "records": self.records,
            "denied": self.denied,
        })
    }
}
