//! Locks between processes. The kernel holds them, so a killed owner holds nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::state_dir::{StateDir, StateDirError};

/// Which lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockName {
    /// One process follows gateways for a state directory.
    Follow,
    /// One process writes or compacts its archive.
    Archive,
}

impl LockName {
    /// The lock's file in the state directory.
    pub const fn file_name(self) -> &'static str {
        match self {
            LockName::Follow => "follow.lock",
            LockName::Archive => "archive.lock",
        }
    }
}

/// A lock held until it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why a lock could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("`{name}` is held by {}", owner(*pid))]
    HeldBy {
        /// The lock's file name.
        name: &'static str,
        /// Who, as it wrote itself; `None` in the moment before it did.
        pid: Option<u32>,
    },
    /// The file system refused.
    #[error(transparent)]
    Dir(#[from] StateDirError),
}

fn owner(pid: Option<u32>) -> String {
    pid.map_or("another process".into(), |pid| format!("process {pid}"))
}

impl Lock {
    /// Takes the lock, or says who holds it. The directory must exist.
    ///
    /// # Errors
    /// [`LockError::HeldBy`] when it is taken, [`LockError::Dir`] when its file cannot be opened.
    pub fn take(dir: &StateDir, name: LockName) -> Result<Lock, LockError> {
        let path = dir.path().join(name.file_name());
        let mut file = open(&path).map_err(StateDirError::io(&path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(LockError::HeldBy {
                    name: name.file_name(),
                    pid: read_pid(&mut file),
                });
            }
            Err(errno) => return Err(StateDirError::io(&path)(errno.into()).into()),
        }
        write_pid(&mut file).map_err(StateDirError::io(&path))?;
        Ok(Lock { file })
    }

    /// Takes the lock, waiting for as long as another process has it.
    ///
    /// # Errors
    /// [`LockError::Dir`] when its file cannot be opened.
    pub fn wait(dir: &StateDir, name: LockName) -> Result<Lock, LockError> {
        let path = dir.path().join(name.file_name());
        let mut file = open(&path).map_err(StateDirError::io(&path))?;
        loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(StateDirError::io(&path)(errno.into()).into()),
            }
        }
        write_pid(&mut file).map_err(StateDirError::io(&path))?;
        Ok(Lock { file })
    }

    /// The process that wrote itself into the lock's file and is alive, without touching the lock.
    pub fn owner(dir: &StateDir, name: LockName) -> Option<u32> {
        let mut file = File::open(dir.path().join(name.file_name())).ok()?;
        let pid = read_pid(&mut file)?;
        let process = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
        match rustix::process::test_kill_process(process) {
            Err(rustix::io::Errno::SRCH) => None,
            _ => Some(pid),
        }
    }
}

impl Drop for Lock {
    /// Takes the name out, so that nobody is called owner of a lock that is free.
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        // A child on its way from `fork` to `exec` has a copy of the descriptor.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn open(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

/// Who else writes the journal of a directory: a lock on the directory itself, shared by writers,
/// exclusive while one opens, creates or replaces the journal.
#[derive(Debug)]
pub(crate) struct Gate {
    dir: File,
    alone: bool,
}

impl Gate {
    /// Goes in alone when nobody is there, else beside the others.
    pub(crate) fn enter(dir: &StateDir) -> io::Result<Gate> {
        let dir = File::open(dir.path())?;
        match flock(&dir, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Gate { dir, alone: true }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                wait_shared(&dir)?;
                Ok(Gate { dir, alone: false })
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether no other writer lives, and none comes in until [`Gate::share`].
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// Lets others in. In the moment between the two locks another writer may come first.
    pub(crate) fn share(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.alone) {
            wait_shared(&self.dir)?;
        }
        Ok(())
    }
}

impl Drop for Gate {
    /// Says so, instead of leaving it to the last descriptor: a child on its way from `fork` to `exec`
    /// has a copy.
    fn drop(&mut self) {
        let _ = flock(&self.dir, FlockOperation::Unlock);
    }
}

fn wait_shared(file: &File) -> io::Result<()> {
    let shared = || flock(file, FlockOperation::LockShared);
    Ok(rustix::io::retry_on_intr(shared)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_second_taker_is_told_the_owners_pid_and_gets_it_when_the_first_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path());
        let first = Lock::take(&dir, LockName::Follow).unwrap();
        match Lock::take(&dir, LockName::Follow) {
            Err(LockError::HeldBy { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        assert_eq!(
            Lock::owner(&dir, LockName::Follow),
            Some(std::process::id())
        );
        let _other_name = Lock::take(&dir, LockName::Archive).unwrap();
        drop(first);
        assert_eq!(Lock::owner(&dir, LockName::Follow), None);
        let _second = Lock::take(&dir, LockName::Follow).unwrap();
    }

    #[test]
    fn only_the_first_writer_is_alone() {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path());
        let mut first = Gate::enter(&dir).unwrap();
        assert!(first.is_alone());
        first.share().unwrap();
        let second = Gate::enter(&dir).unwrap();
        assert!(!second.is_alone());
        drop((first, second));
        assert!(Gate::enter(&dir).unwrap().is_alone());
    }
}
