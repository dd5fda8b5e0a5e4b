//! The state directory: where the journal, the key and the locks of one machine's user live.

mod filesystem;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::files;

/// The paths of one state directory. Making one touches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir(PathBuf);

/// Why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// SQLite's locks and shared memory cannot be trusted there.
    #[error(
        "`{}` is on a network file system ({kind}); choose a local directory with `--state-dir`",
        path.display()
    )]
    Network {
        /// The directory.
        path: PathBuf,
        /// What the kernel calls the file system.
        kind: String,
    },
    /// `digest.key` is not 32 bytes: marks and fingerprints made with it cannot be compared any more.
    #[error("`{}` is not a key of 32 bytes; move it aside to begin with a new one", path.display())]
    Key {
        /// The key's path.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("`{}` cannot be used: {source}; {}", path.display(), remedy(source.kind()))]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// What to do when the system refuses.
fn remedy(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind::{
        AlreadyExists, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    match kind {
        PermissionDenied | ReadOnlyFilesystem => {
            "let this user write there, or name another place with `--state-dir`"
        }
        NotADirectory | AlreadyExists => "move away what is there, or name another `--state-dir`",
        StorageFull | QuotaExceeded => "free some space and try again",
        _ => "check the disk and try again",
    }
}

impl StateDirError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> StateDirError {
        let path = path.to_owned();
        move |source| StateDirError::Io { path, source }
    }
}

impl StateDir {
    /// The state directory at `path`, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> StateDir {
        StateDir(path.into())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `journal.sqlite`.
    pub fn journal_path(&self) -> PathBuf {
        self.0.join("journal.sqlite")
    }

    /// `journals`: older journals, read-only.
    pub fn journals_dir(&self) -> PathBuf {
        self.0.join("journals")
    }

    /// `archive`: the root of the local archive.
    pub fn archive_dir(&self) -> PathBuf {
        self.0.join("archive")
    }

    /// `digest.key`: 32 random bytes.
    pub fn digest_key_path(&self) -> PathBuf {
        self.0.join("digest.key")
    }

    /// Whether the directory is there.
    pub fn exists(&self) -> bool {
        self.0.is_dir()
    }

    /// The kind of network file system that the directory lies on, `None` when it is a local one. For
    /// readers: the directory has to be there.
    ///
    /// # Errors
    /// [`StateDirError::Io`] when it cannot be asked.
    pub fn network(&self) -> Result<Option<String>, StateDirError> {
        filesystem::network(&self.0).map_err(StateDirError::io(&self.0))
    }

    /// Makes the directory, for its owner only, unless it is there.
    ///
    /// # Errors
    /// [`StateDirError::Network`] when it lies on a network file system, [`StateDirError::Io`] otherwise.
    pub fn create(&self) -> Result<(), StateDirError> {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0);
        made.map_err(StateDirError::io(&self.0))?;
        match self.network()? {
            Some(kind) => Err(StateDirError::Network {
                path: self.0.clone(),
                kind,
            }),
            None => Ok(()),
        }
    }

    /// The key of this directory's digests; a random one is written first when there is none. For writers.
    ///
    /// # Errors
    /// [`StateDirError::Key`] when the file is no key, [`StateDirError::Io`] otherwise.
    pub fn digest_key(&self) -> Result<[u8; 32], StateDirError> {
        match self.read_digest_key()? {
            Some(key) => Ok(key),
            None => self.create_digest_key(),
        }
    }

    /// The key of this directory's digests, `None` when there is none. For readers.
    ///
    /// # Errors
    /// As [`StateDir::digest_key`].
    pub fn read_digest_key(&self) -> Result<Option<[u8; 32]>, StateDirError> {
        let path = self.digest_key_path();
        let mut bytes = Vec::with_capacity(33);
        match File::open(&path) {
            Ok(file) => file.take(33).read_to_end(&mut bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error),
        }
        .map_err(StateDirError::io(&path))?;
        match bytes.try_into() {
            Ok(key) => Ok(Some(key)),
            Err(_) => Err(StateDirError::Key { path }),
        }
    }

    /// Writes a whole key beside its place and links it there: nobody sees half of one, and of two
    /// writers at once both go on with the first one's.
    fn create_digest_key(&self) -> Result<[u8; 32], StateDirError> {
        let path = self.digest_key_path();
        let suffix = hex(&random_bytes::<8>().map_err(StateDirError::io(&path))?);
        let draft = self.0.join(format!("digest.key.{suffix}"));
        let linked = write_key(&draft).and_then(|()| match files::link(&draft, &path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => files::sync_dir(&self.0),
        });
        let removed = files::remove(&draft);
        linked
            .and(removed)
            .map_err(StateDirError::io(&path))
            .and_then(|()| self.read_digest_key())
            .and_then(|key| key.ok_or(StateDirError::Key { path }))
    }
}

fn write_key(draft: &Path) -> io::Result<()> {
    files::write_private(draft, &random_bytes::<32>()?)
}

pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0u8; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_reader_makes_neither_directory_nor_key() {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path().join("state"));
        assert_eq!(dir.read_digest_key().unwrap(), None);
        assert!(!dir.exists());
    }

    #[test]
    fn directory_and_key_are_their_owners_alone_and_the_key_stays() {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path().join("a/state"));
        dir.create().unwrap();
        let key = dir.digest_key().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(dir.path()), 0o700);
        assert_eq!(mode(&dir.digest_key_path()), 0o600);
        assert_eq!(dir.digest_key().unwrap(), key);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_cut_key_is_refused_and_not_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path());
        fs::write(dir.digest_key_path(), [7; 31]).unwrap();
        assert!(matches!(dir.digest_key(), Err(StateDirError::Key { .. })));
        fs::write(dir.digest_key_path(), [7; 33]).unwrap();
        assert!(matches!(dir.digest_key(), Err(StateDirError::Key { .. })));
    }
}
