//! The whole local record: archived entries and the journal's, predecessor journals first.
//!
//! Read only. The archive is listed when it can hold something that the journal does not: numbers that
//! are pruned, or another journal. Of each journal the numbers that its file still holds are read there.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use boundlane_archive::{ArchiveFile, FileName, Listing, Root, VERSION_DIR};
use boundlane_record::filter::Scope;
use boundlane_record::{Kind, Micros, Row, canonical};
use boundlane_store::{Head, Reader, StateDir};

use super::entries::{Entries, Met, Visit};
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};

pub(crate) mod older;
mod part;
mod plan;

use part::Part;
pub(crate) use plan::Want;

/// Opens the journal of this machine's user, `None` when there is none yet.
///
/// # Errors
/// 3 when a newer program wrote it, 1 when it cannot be read.
pub(crate) fn open_journal(ctx: &Context) -> Outcome<Option<Reader>> {
    let dir = StateDir::at(ctx.state_dir()?.path.clone());
    Reader::open(&dir).map_err(|error| open_failure(&error))
}

/// The code for a journal that cannot be opened.
pub(crate) fn open_failure(error: &boundlane_store::OpenError) -> Failure {
    let exit = match error {
        boundlane_store::OpenError::NewerSchema(_) => Exit::NotReady,
        _ => Exit::Failed,
    };
    Failure::new(exit, error)
}

/// The code for a journal that cannot be read.
#[allow(
    clippy::needless_pass_by_value,
    reason = "used as `map_err(read_failure)`"
)]
pub(crate) fn read_failure(error: boundlane_store::ReadError) -> Failure {
    Failure::failed(error)
}

/// All that is recorded here, oldest journal first.
pub(crate) struct Recorded {
    parts: Vec<Part>,
    unreadable: Vec<(PathBuf, String)>,
    want: Want,
}

impl Recorded {
    /// Finds the journal, older journals and the archive. `None` when there is nothing at all.
    ///
    /// # Errors
    /// As [`open_journal`].
    pub(crate) fn open(ctx: &Context) -> Outcome<Option<Recorded>> {
        let dir = StateDir::at(ctx.state_dir()?.path.clone());
        let current = open_journal(ctx)?;
        let head = current
            .as_ref()
            .map(Reader::head)
            .transpose()
            .map_err(read_failure)?;
        let root = ctx.archive_root()?.path;
        let mut recorded = Recorded {
            parts: Vec::new(),
            unreadable: Vec::new(),
            want: Want::default(),
        };
        let has_older = older::are_there(&dir.journals_dir());
        if has_older || may_hold_more(&root, head.as_ref()) {
            let listing = boundlane_archive::list(&Root::at(root));
            // The entries of a history that has parted are not those of the files with the same numbers.
            let files = if has_older {
                listing.files.clone()
            } else {
                Vec::new()
            };
            recorded.add_archive(listing);
            recorded.add_older_journals(&dir.journals_dir(), &files);
        }
        if let (Some(reader), Some(head)) = (current, head) {
            recorded.add_journal(reader, head);
        }
        let is_nothing = recorded.parts.is_empty() && recorded.unreadable.is_empty();
        Ok((!is_nothing).then_some(recorded))
    }

    /// Reads no more than what can matter to `want`.
    pub(crate) fn narrow(&mut self, want: Want) {
        self.want = want;
    }

    /// The journal that is written now.
    pub(crate) fn journal(&self) -> Option<&Reader> {
        self.parts.last().and_then(Part::current)
    }

    /// How far the journal that is written now goes, and its id.
    pub(crate) fn head(&self) -> Option<&Head> {
        self.parts.last().and_then(Part::head)
    }

    /// Whether there are entries of other journals than the one that is written now.
    pub(crate) fn has_more_than_the_journal(&self) -> bool {
        self.parts.len() > 1 || self.parts.iter().any(Part::has_files)
    }

    /// The newest moment known of each stream of `scope`, as rows with nothing but labels.
    pub(crate) fn heard(&self, scope: &Scope, hear: &mut dyn FnMut(&Row<'_>)) -> Outcome<()> {
        let Some(reader) = self.journal() else {
            return Ok(());
        };
        for state in reader.streams().map_err(read_failure)? {
            let mut row = Row {
                observed: state.last_observed,
                ..Row::default()
            };
            state.name.label(&mut row);
            if scope.is_about(&row, false) {
                hear(&row);
            }
        }
        Ok(())
    }

    fn add_archive(&mut self, listing: Listing) {
        for bad in listing.bad {
            self.unreadable.push((bad.path, bad.why));
        }
        for file in listing.files {
            let journal = file.name.journal.as_str();
            match self.parts.iter_mut().find(|part| part.journal == journal) {
                Some(part) => part.add_file(file),
                None => self.parts.push(Part::of_file(file)),
            }
        }
        self.parts.sort_by_key(|part| part.began);
    }

    fn add_older_journals(&mut self, directory: &Path, files: &[ArchiveFile]) {
        let (older, unreadable) = older::all(directory, files);
        self.unreadable.extend(unreadable);
        for older in older {
            match older.parts_after {
                Some(after) => self
                    .parts
                    .push(Part::apart(older.reader, older.head, after)),
                None => self.add_journal(older.reader, older.head),
            }
        }
        self.parts.sort_by_key(|part| part.began);
    }

    /// The journal that is added last stays last.
    fn add_journal(&mut self, reader: Reader, head: Head) {
        let known = self
            .parts
            .iter()
            .position(|part| part.journal == head.journal && !part.is_apart());
        let part = match known {
            Some(at) => self.parts.remove(at),
            None => Part::of_journal(&reader, &head),
        };
        self.parts.push(part.with_reader(reader, head));
    }
}

impl Entries for Recorded {
    fn forward(&mut self, visit: &mut Visit<'_>) -> Outcome<()> {
        if self.tell_unreadable(visit)?.is_break() {
            return Ok(());
        }
        for part in &self.parts {
            if part.forward(&self.want, visit)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn backward(
        &mut self,
        visit: &mut Visit<'_>,
        piece_end: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Outcome<()> {
        if self.tell_unreadable(visit)?.is_break() {
            return Ok(());
        }
        for part in self.parts.iter().rev() {
            if part.backward(&self.want, visit, piece_end)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Recorded {
    fn tell_unreadable(&self, visit: &mut Visit<'_>) -> Outcome<ControlFlow<()>> {
        for (path, why) in &self.unreadable {
            let path = path.to_string_lossy();
            if visit(Met::Unreadable { path: &path, why })?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Whether the archive can hold what the journal does not. Looks at names only: an archive has
/// thousands of files, and reading their footers takes longer than most listings.
fn may_hold_more(root: &Path, journal: Option<&Head>) -> bool {
    let Some(head) = journal else {
        return root.exists();
    };
    head.pruned.0 > 0 || !is_only_of(root, &head.journal)
}

/// Whether every file of the table is named as one of `journal`. What cannot be told counts as no.
fn is_only_of(root: &Path, journal: &str) -> bool {
    let Ok(days) = std::fs::read_dir(root.join(VERSION_DIR)) else {
        return !root.exists();
    };
    days.flatten().filter(|day| day.path().is_dir()).all(|day| {
        let Ok(files) = std::fs::read_dir(day.path()) else {
            return false;
        };
        files.flatten().all(|file| {
            let name = file.file_name();
            let Some(name) = name.to_str() else {
                return false;
            };
            match FileName::parse(name) {
                Some(name) => name.journal.as_str() == journal,
                None => !name.ends_with(".parquet"),
            }
        })
    })
}

/// The row of an entry; one that no reader of this version can decode is shown as what it is.
pub(crate) fn decode(bytes: &[u8]) -> Row<'_> {
    canonical::decode(bytes).unwrap_or_else(|_| Row {
        kind: Some(Kind::Unparsed.word().into()),
        cause: Some("not_canonical".into()),
        raw: Some(String::from_utf8_lossy(bytes)),
        ..Row::default()
    })
}

/// Before everything, for journals whose beginning is not known.
const BEGINNING: Micros = Micros(i64::MIN);
