//! What the crate does with files and names, other than through SQLite. In its own tests each call is
//! one at which the power can go.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

#[cfg(test)]
use boundlane_powercut::{Operation, before};

/// A new file that only its owner can read.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    #[cfg(test)]
    before(Operation::Create(path))?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// A new file with this content, on the disk.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    #[cfg(test)]
    before(Operation::Fill(path, content))?;
    file.write_all(content)?;
    #[cfg(test)]
    before(Operation::SyncFile(path))?;
    file.sync_all()
}

/// Makes a file's content survive a power cut.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    before(Operation::SyncFile(path))?;
    File::open(path)?.sync_all()
}

/// Makes names in `dir` survive a power cut.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    #[cfg(test)]
    before(Operation::SyncDirectory(dir))?;
    File::open(dir)?.sync_all()
}

/// Gives a file another name, which must be free.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(test)]
    before(Operation::Rename(from, to))?;
    fs::rename(from, to)
}

/// Gives a file a second name.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(test)]
    before(Operation::Link(from, to))?;
    fs::hard_link(from, to)
}

/// Takes a name away.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    before(Operation::Remove(path))?;
    fs::remove_file(path)
}

/// The same, where it is there.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => remove(path),
    }
}

/// Nobody writes it any more.
pub(crate) fn make_read_only(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    before(Operation::Rights(path))?;
    fs::set_permissions(path, Permissions::from_mode(0o400))
}
