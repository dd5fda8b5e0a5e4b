//! Laying out a new journal file, and putting it in its place without a moment in which a crash
//! leaves something that is neither.
//!
//! A file is built as `journal.sqlite.building`, renamed to `journal.sqlite.next` when it is whole and
//! on the disk, and then to `journal.sqlite`. All of it happens alone, see [`crate::lock::Gate`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::db::beside;
use crate::files::{create_private, make_read_only, remove_if_there, rename, sync_dir, sync_file};
use crate::state_dir::StateDir;

/// Where the file is built.
pub(super) fn building_path(dir: &StateDir) -> PathBuf {
    beside(&dir.journal_path(), ".building")
}

fn next_path(dir: &StateDir) -> PathBuf {
    beside(&dir.journal_path(), ".next")
}

/// An empty file to build in; one that a crash left is taken away first.
pub(super) fn begin_building(dir: &StateDir) -> io::Result<PathBuf> {
    let path = building_path(dir);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        remove_if_there(&beside(&path, suffix))?;
    }
    create_private(&path)?;
    Ok(path)
}

/// Says that the built file is whole.
pub(super) fn end_building(dir: &StateDir) -> io::Result<()> {
    let path = building_path(dir);
    sync_file(&path)?;
    rename(&path, &next_path(dir))?;
    sync_dir(dir.path())
}

/// Puts the built file in the journal's place, which must be free.
pub(super) fn install(dir: &StateDir) -> io::Result<()> {
    let journal = dir.journal_path();
    // A `-wal` or `-journal` without its file would be read as the new file's.
    for suffix in ["-wal", "-shm", "-journal"] {
        let left = beside(&journal, suffix);
        if left.exists() {
            let kept = free_path(&dir.journals_dir(), &format!("left{suffix}"))?;
            rename(&left, &kept)?;
        }
    }
    rename(&next_path(dir), &journal)?;
    sync_dir(dir.path())
}

/// Ends what a crash interrupted: a built file whose place is free goes there; one whose predecessor is
/// still in place is taken away, since the predecessor will be judged again.
pub(super) fn resume(dir: &StateDir) -> io::Result<()> {
    if !next_path(dir).exists() {
        return Ok(());
    }
    if dir.journal_path().exists() {
        remove_if_there(&next_path(dir))
    } else {
        install(dir)
    }
}

/// Moves a journal without `-wal` among the older ones, read-only.
pub(super) fn set_aside(dir: &StateDir, id: &str) -> io::Result<PathBuf> {
    let kept = free_path(&dir.journals_dir(), &format!("{id}.sqlite"))?;
    make_read_only(&dir.journal_path())?;
    rename(&dir.journal_path(), &kept)?;
    sync_dir(&dir.journals_dir())?;
    sync_dir(dir.path())?;
    Ok(kept)
}

/// `name` in `dir`, which is made, or the first of `2-name`, `3-name`, ... that is free.
pub(super) fn free_path(dir: &Path, name: &str) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let names = std::iter::once(name.to_owned()).chain((2..).map(|n: u32| format!("{n}-{name}")));
    let mut free = names
        .map(|name| dir.join(name))
        .filter(|path| !path.exists());
    free.next().ok_or_else(|| io::Error::other("no free name"))
}
