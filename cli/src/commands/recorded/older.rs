//! Journals that were set aside, and which of their entries nothing else holds.
//!
//! After a fork two histories have the same id and the same numbers: the archive's, and that of the file
//! that was set aside. Both happened here; neither is left out.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use boundlane_archive::ArchiveFile;
use boundlane_record::{Seq, TreeSize};
use boundlane_store::{Found, Head, Reader, Select};

/// A journal that was set aside.
pub(crate) struct Older {
    pub(crate) reader: Reader,
    pub(crate) head: Head,
    /// The last number up to which its history is also the archive's, or that of an earlier file of the
    /// same journal, where the two part. `None` when nothing contradicts it.
    pub(crate) parts_after: Option<Seq>,
    pub(crate) path: PathBuf,
}

/// A journal file that cannot be read, and why.
pub(crate) type Unreadable = (PathBuf, String);

/// Whether journals were set aside in `directory`.
pub(crate) fn are_there(directory: &Path) -> bool {
    !paths(directory).is_empty()
}

/// The journals in `directory`, beside an archive that holds `files`.
pub(crate) fn all(directory: &Path, files: &[ArchiveFile]) -> (Vec<Older>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::<Older>::new(), Vec::new());
    for path in paths(directory) {
        match open(&path) {
            Ok(Some((reader, head))) => {
                let archived = files
                    .iter()
                    .filter(|file| file.name.journal.as_str() == head.journal);
                let parted = parted(&reader, &head, archived);
                let twin = found
                    .iter()
                    .find(|older| older.head.journal == head.journal);
                let parts_after =
                    parted.or_else(|| twin.map(|twin| shared(&twin.reader, &reader, &head)));
                found.push(Older {
                    reader,
                    head,
                    parts_after,
                    path,
                });
            }
            Ok(None) => {}
            Err(why) => unreadable.push((path, why)),
        }
    }
    (found, unreadable)
}

fn paths(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "sqlite")
    });
    paths.sort();
    paths
}

fn open(path: &Path) -> Result<Option<(Reader, Head)>, String> {
    let opened = Reader::open_file(path).map_err(|error| error.to_string())?;
    let with_head = |reader: Reader| {
        let head = reader.head().map_err(|error| error.to_string())?;
        Ok((reader, head))
    };
    opened.map(with_head).transpose()
}

/// Where the journal and the archive's files of it part, if they do.
fn parted<'f>(
    reader: &Reader,
    head: &Head,
    files: impl Iterator<Item = &'f ArchiveFile>,
) -> Option<Seq> {
    for file in files {
        let end = file.footer.head();
        let ours = reader.root_at(end.size).ok().flatten();
        if ours != Some(end.root) {
            return parted_within(reader, head, file);
        }
    }
    None
}

/// The last number of `file` whose entry, and all before it, are the journal's too; `None` when all are that
/// the journal has.
fn parted_within(reader: &Reader, head: &Head, file: &ArchiveFile) -> Option<Seq> {
    let before = Seq(file.name.first.0 - 1);
    let Ok(open) = file.open() else {
        return Some(before);
    };
    let mut archived = open.entries(file.name.first);
    let mut same = before;
    let last = Seq(file.name.last.0.min(head.size.0));
    let select = Select::all().after(before).through(last);
    let differs = reader.each_entry(select, |found| {
        let Found::Entry(seq, ours) = found else {
            return ControlFlow::Continue(());
        };
        loop {
            match archived.next() {
                Some(Ok((at, _))) if at < seq => {}
                Some(Ok((at, theirs))) if at == seq && theirs == ours => break,
                _ => return ControlFlow::Break(()),
            }
        }
        same = seq;
        ControlFlow::Continue(())
    });
    match differs {
        Ok(None) => None,
        Ok(Some(())) | Err(_) => Some(same),
    }
}

/// The greatest size at which two files of one journal have the same tree.
fn shared(twin: &Reader, reader: &Reader, head: &Head) -> Seq {
    let root = |reader: &Reader, size| reader.root_at(TreeSize(size)).ok().flatten();
    let (mut same, mut other) = (0, head.size.0 + 1);
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        let theirs = root(twin, middle);
        match theirs.is_some() && theirs == root(reader, middle) {
            true => same = middle,
            false => other = middle,
        }
    }
    Seq(same)
}
