//! Laying out a new journal file, and putting it in its place without a moment in which a crash
//! leaves something that is neither.
//!
//! A file is built as `journal.sqlite.building`, renamed to `journal.sqlite.next` when it is whole and
//! on the disk, and then to `journal.sqlite`. What was salvaged of a damaged journal is built before, as
//! `journal.sqlite.salvaged`. All of it happens alone, see [`crate::lock::Gate`].

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

/// Where what can be read of a damaged journal is gathered.
pub(super) fn salvaged_path(dir: &StateDir) -> PathBuf {
    beside(&dir.journal_path(), ".salvaged")
}

/// An empty file to build in; one that a crash left is taken away first.
pub(super) fn begin_building(dir: &StateDir) -> io::Result<PathBuf> {
    begin(building_path(dir))
}

/// The same for what is salvaged.
pub(super) fn begin_salvaging(dir: &StateDir) -> io::Result<PathBuf> {
    begin(salvaged_path(dir))
}

fn begin(path: PathBuf) -> io::Result<PathBuf> {
    remove_database(&path)?;
    create_private(&path)?;
    Ok(path)
}

fn remove_database(path: &Path) -> io::Result<()> {
    ["", "-wal", "-shm", "-journal"]
        .iter()
        .try_for_each(|suffix| remove_if_there(&beside(path, suffix)))
}

/// Takes away what was built and not put in its place.
pub(super) fn discard_built(dir: &StateDir) -> io::Result<()> {
    remove_if_there(&next_path(dir))?;
    remove_database(&salvaged_path(dir))
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
    if !next_path(dir).exists() || dir.journal_path().exists() {
        return discard_built(dir);
    }
    place_salvaged(dir)?;
    install(dir)
}

/// Puts what was salvaged among the older journals, read-only. `None` when there is nothing.
pub(super) fn place_salvaged(dir: &StateDir) -> io::Result<Option<PathBuf>> {
    let built = salvaged_path(dir);
    if !built.exists() {
        return Ok(None);
    }
    let id: String = crate::db::open_immutable(&built)
        .and_then(|db| db.query_row("SELECT id FROM journal", [], |row| row.get(0)))
        .map_err(io::Error::other)?;
    let kept = free_path(&dir.journals_dir(), &format!("{id}.sqlite"))?;
    make_read_only(&built)?;
    rename(&built, &kept)?;
    sync_dir(&dir.journals_dir())?;
    sync_dir(dir.path())?;
    Ok(Some(kept))
}

/// Moves a damaged journal among the older ones as it is, its `-wal` and `-shm` beside it. The file goes
/// first: without its `-wal` it would be taken for an older one.
pub(super) fn keep_damaged(dir: &StateDir, id: &str) -> io::Result<PathBuf> {
    let journal = dir.journal_path();
    let kept = free_path(&dir.journals_dir(), &format!("{id}.damaged"))?;
    for suffix in ["", "-wal", "-shm"] {
        let file = beside(&journal, suffix);
        if file.exists() {
            make_read_only(&file)?;
            rename(&file, &beside(&kept, suffix))?;
        }
    }
    sync_dir(&dir.journals_dir())?;
    sync_dir(dir.path())?;
    Ok(kept)
}

/// When damaged journals were moved aside, in microseconds.
pub(super) fn damaged_moments(dir: &StateDir) -> Vec<i64> {
    use std::os::unix::fs::MetadataExt as _;
    let files = fs::read_dir(dir.journals_dir()).into_iter().flatten();
    let damaged = files.flatten().filter(|file| {
        let name = file.path();
        name.extension()
            .is_some_and(|extension| extension == "damaged")
    });
    let moments = damaged.filter_map(|file| Some(file.metadata().ok()?.ctime() * 1_000_000));
    moments.collect()
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
