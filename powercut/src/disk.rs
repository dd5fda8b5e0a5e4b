//! The directories that are watched, and what each operation does to them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::platter::Platter;
use crate::rng::Rng;
use crate::vfs;

static WATCHED: Mutex<Vec<State>> = Mutex::new(Vec::new());

/// A file, by device and inode: it keeps its name's changes out.
pub(crate) type FileId = (u64, u64);

/// What a program does with a file or a name, other than through SQLite.
#[derive(Debug, Clone, Copy)]
pub enum Operation<'a> {
    /// A new, empty file.
    Create(&'a Path),
    /// A new file's whole content.
    Fill(&'a Path, &'a [u8]),
    /// Its content is made certain.
    SyncFile(&'a Path),
    /// The names in a directory are made certain.
    SyncDirectory(&'a Path),
    /// A name goes to a place that is free.
    Rename(&'a Path, &'a Path),
    /// A file gets another name.
    Link(&'a Path, &'a Path),
    /// A name goes.
    Remove(&'a Path),
    /// A change of rights, which no test here loses.
    Rights(&'a Path),
}

/// A watched directory; dropping it ends that.
#[derive(Debug)]
pub struct Disk {
    dir: PathBuf,
}

#[derive(Debug)]
pub(crate) struct State {
    dir: PathBuf,
    files: HashMap<FileId, Platter>,
    /// Changes of names that no sync has made certain, oldest first.
    names: Vec<Name>,
    log: Vec<String>,
    cut_at: usize,
    off: bool,
}

#[derive(Debug)]
enum Name {
    Made(PathBuf),
    Gone(PathBuf, Platter),
    Moved(PathBuf, PathBuf),
}

impl Name {
    fn is_in(&self, dir: &Path) -> bool {
        let within = |path: &Path| path.parent() == Some(dir);
        match self {
            Name::Made(path) | Name::Gone(path, _) => within(path),
            Name::Moved(from, to) => within(from) || within(to),
        }
    }
}

/// The power is off: the operation did not happen.
#[derive(Debug)]
pub(crate) struct Off;

impl From<Off> for io::Error {
    fn from(_: Off) -> io::Error {
        io::Error::other("the power is off")
    }
}

impl Disk {
    /// Watches `dir`, which exists, and everything below it.
    ///
    /// # Errors
    /// When the directory cannot be resolved, or SQLite does not take the shim.
    pub fn watch(dir: &Path) -> io::Result<Disk> {
        vfs::register()?;
        let dir = dir.canonicalize()?;
        watched().push(State {
            dir: dir.clone(),
            files: HashMap::new(),
            names: Vec::new(),
            log: Vec::new(),
            cut_at: usize::MAX,
            off: false,
        });
        Ok(Disk { dir })
    }

    /// Operations until now, the failed one included.
    pub fn operations(&self) -> usize {
        self.state(|state| state.log.len())
    }

    /// What they were: `write journal.sqlite-wal`.
    pub fn log(&self) -> Vec<String> {
        self.state(|state| state.log.clone())
    }

    /// The power goes at operation `n`, counted from 1.
    pub fn cut_at(&self, n: usize) {
        self.state(|state| state.cut_at = n);
    }

    /// Whether the power has gone.
    pub fn is_off(&self) -> bool {
        self.state(|state| state.off)
    }

    /// Takes from the real disk what a power cut now would, and turns the power on again. Every
    /// connection to a file of the directory must be closed.
    ///
    /// # Errors
    /// When the real disk refuses.
    pub fn lose(&self, seed: u64) -> io::Result<()> {
        self.state(|state| state.lose(&mut Rng::new(seed)))
    }

    fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        let mut watched = watched();
        let mine = watched.iter_mut().find(|state| state.dir == self.dir);
        look(mine.expect("a disk is watched until it is dropped"))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        watched().retain(|state| state.dir != self.dir);
    }
}

/// Announces what the caller does next with a file or a name: counted as SQLite's own operations are,
/// and refused from the cut on.
///
/// # Errors
/// The power is off: the caller must not do it.
pub fn before(operation: Operation<'_>) -> io::Result<()> {
    let path = match operation {
        Operation::Create(path)
        | Operation::Fill(path, _)
        | Operation::SyncFile(path)
        | Operation::SyncDirectory(path)
        | Operation::Rename(path, _)
        | Operation::Link(path, _)
        | Operation::Remove(path)
        | Operation::Rights(path) => path,
    };
    within(path, |state| state.announced(operation)).unwrap_or(Ok(()))
}

/// Runs `act` on the state that watches `path`, where one does.
pub(crate) fn within<T>(path: &Path, act: impl FnOnce(&mut State) -> T) -> Option<T> {
    let mut watched = watched();
    let state = watched
        .iter_mut()
        .find(|state| path.starts_with(&state.dir));
    state.map(act)
}

/// A test that failed while it held the lock has left nothing that another test uses.
fn watched() -> MutexGuard<'static, Vec<State>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn id(path: &Path) -> io::Result<FileId> {
    let of = fs::metadata(path)?;
    Ok((of.dev(), of.ino()))
}

impl State {
    /// Counts an operation, or says that it does not happen.
    fn count(&mut self, what: &str, path: &Path) -> Result<(), Off> {
        self.powered()?;
        let path = path.strip_prefix(&self.dir).unwrap_or(path);
        self.log.push(format!("{what} {}", path.display()));
        self.off = self.log.len() >= self.cut_at;
        self.powered()
    }

    pub(crate) fn powered(&self) -> Result<(), Off> {
        if self.off { Err(Off) } else { Ok(()) }
    }

    /// The file that was opened at `path`, just made or there before.
    pub(crate) fn opened(&mut self, path: &Path, made: bool) -> io::Result<FileId> {
        let id = id(path)?;
        if made {
            self.names.push(Name::Made(path.to_owned()));
            self.files.insert(id, Platter::default());
        } else if let Entry::Vacant(unseen) = self.files.entry(id) {
            unseen.insert(Platter::holding(fs::read(path)?));
        }
        Ok(id)
    }

    pub(crate) fn creating(&mut self, path: &Path) -> Result<(), Off> {
        self.count("create", path)
    }

    /// The write that is under way when the power goes may have happened, in part.
    pub(crate) fn write(
        &mut self,
        file: FileId,
        path: &Path,
        at: usize,
        bytes: &[u8],
    ) -> Result<(), Off> {
        self.powered()?;
        self.files.entry(file).or_default().write(at, bytes);
        self.count("write", path)
    }

    pub(crate) fn truncate(&mut self, file: FileId, path: &Path, length: usize) -> Result<(), Off> {
        self.powered()?;
        self.files.entry(file).or_default().truncate(length);
        self.count("truncate", path)
    }

    pub(crate) fn sync(&mut self, file: FileId, path: &Path) -> Result<(), Off> {
        self.count("sync", path)?;
        self.files.entry(file).or_default().sync();
        Ok(())
    }

    pub(crate) fn delete(&mut self, path: &Path) -> io::Result<()> {
        self.count("delete", path)?;
        let id = id(path)?;
        let platter = match fs::metadata(path)?.nlink() {
            // The next file may get its number.
            1 => self.files.remove(&id),
            _ => self.files.get(&id).cloned(),
        };
        let platter = platter.map_or_else(|| fs::read(path).map(Platter::holding), Ok)?;
        self.names.push(Name::Gone(path.to_owned(), platter));
        Ok(())
    }

    /// Everything up to the last change in `dir` is certain: a file system's journal has an order.
    pub(crate) fn sync_names(&mut self, dir: &Path) {
        let last = self.names.iter().rposition(|name| name.is_in(dir));
        self.names.drain(..last.map_or(0, |last| last + 1));
    }

    fn announced(&mut self, operation: Operation<'_>) -> io::Result<()> {
        match operation {
            Operation::Create(path) => {
                self.creating(path)?;
                self.names.push(Name::Made(path.to_owned()));
            }
            Operation::Fill(path, bytes) => self.write(id(path)?, path, 0, bytes)?,
            Operation::SyncFile(path) => self.sync(id(path)?, path)?,
            Operation::SyncDirectory(path) => {
                self.count("sync", path)?;
                self.sync_names(path);
            }
            Operation::Rename(from, to) => {
                self.count("rename", from)?;
                self.names.push(Name::Moved(from.to_owned(), to.to_owned()));
            }
            Operation::Link(from, to) => {
                self.count("link", from)?;
                self.names.push(Name::Made(to.to_owned()));
            }
            Operation::Remove(path) => self.delete(path)?,
            Operation::Rights(path) => self.count("rights", path)?,
        }
        Ok(())
    }

    fn lose(&mut self, rng: &mut Rng) -> io::Result<()> {
        let kept = rng.below(self.names.len() + 1);
        for name in self.names.drain(..).skip(kept).rev() {
            match name {
                Name::Made(path) => fs::remove_file(path)?,
                Name::Gone(path, platter) => fs::write(path, platter.after_cut(rng))?,
                Name::Moved(from, to) => fs::rename(to, from)?,
            }
        }
        lose_contents(&self.dir, &self.files, rng)?;
        self.files.clear();
        self.log.clear();
        self.cut_at = usize::MAX;
        self.off = false;
        Ok(())
    }
}

fn lose_contents(dir: &Path, files: &HashMap<FileId, Platter>, rng: &mut Rng) -> io::Result<()> {
    let mut paths = fs::read_dir(dir)?
        .map(|file| file.map(|file| file.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            lose_contents(&path, files, rng)?;
        } else if path.as_os_str().as_encoded_bytes().ends_with(b"-shm") {
            fs::remove_file(path)?;
        } else if let Some(platter) = files.get(&id(&path)?) {
            let rights = fs::metadata(&path)?.permissions();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            fs::write(&path, platter.after_cut(rng))?;
            fs::set_permissions(&path, rights)?;
        }
    }
    Ok(())
}
