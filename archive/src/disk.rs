//! The narrow seam to the disk: everything that a run changes goes through it, so that tests can fail it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// What a run does to a disk.
pub trait Disk: Send + Sync {
    /// Creates one directory, mode 0700; its parent exists.
    fn create_dir(&self, path: &Path) -> Result<()>;
    /// Creates or empties a file, mode 0600.
    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>>;
    /// Makes a file or the names in a directory durable.
    fn sync(&self, path: &Path) -> Result<()>;
    /// Gives a file another name on the same file system.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<()>;
}

/// A file that is being written.
pub trait DiskFile: Write + Send {
    /// Makes everything written so far durable.
    fn sync(&mut self) -> Result<()>;
}

/// The operating system's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl Disk for OsDisk {
    fn create_dir(&self, path: &Path) -> Result<()> {
        DirBuilder::new().mode(0o700).create(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        Ok(Box::new(options.open(path)?))
    }

    fn sync(&self, path: &Path) -> Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        std::fs::remove_file(path)
    }
}

impl DiskFile for File {
    fn sync(&mut self) -> Result<()> {
        self.sync_all()
    }
}

/// Creates `path` and what is missing above it, each durable in its parent.
pub(crate) fn create_dirs(disk: &dyn Disk, path: &Path) -> Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_dirs(disk, parent)?;
    match disk.create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => {}
        created => created?,
    }
    disk.sync(parent)
}
