//! Disk space that is kept for the day on which there is none left.
//!
//! A file beside the journal takes it up. When the disk is full it is taken away: then there is room to
//! state losses, to acknowledge and to prune, while records are refused.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use crate::state_dir::StateDir;

/// Bytes that are kept.
pub const RESERVE_BYTES: u64 = 8 * 1024 * 1024;
/// So much has to be free before they are kept again: one more write must not take them at once.
const FREE_BYTES_MIN: u64 = 3 * RESERVE_BYTES;

impl StateDir {
    /// Takes up the space, unless it is taken already. Whether it is kept now.
    ///
    /// # Errors
    /// When the file system says something else than that there is too little.
    pub fn keep_reserve(&self) -> io::Result<bool> {
        let path = self.reserve_path();
        if fs::metadata(&path).is_ok_and(|kept| kept.len() == RESERVE_BYTES) {
            return Ok(true);
        }
        let disk = statvfs(self.path())?;
        if disk.f_bavail.saturating_mul(disk.f_frsize) < FREE_BYTES_MIN {
            return Ok(false);
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let kept = match fallocate(&file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::INVAL) => fill(&file),
            kept => kept.map_err(io::Error::from),
        };
        match kept.and_then(|()| file.sync_all()) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.release_reserve()?;
                match error.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Ok(false),
                    _ => Err(error),
                }
            }
        }
    }

    /// Gives the space back. Whether there was any.
    ///
    /// # Errors
    /// When the file is there and cannot be taken away.
    pub fn release_reserve(&self) -> io::Result<bool> {
        match fs::remove_file(self.reserve_path()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the space is kept.
    pub fn has_reserve(&self) -> bool {
        self.reserve_path().exists()
    }

    fn reserve_path(&self) -> std::path::PathBuf {
        self.path().join("reserve")
    }
}

/// Where a file system cannot set space aside, it is written.
fn fill(mut file: &fs::File) -> io::Result<()> {
    use std::io::Write as _;
    let chunk = [0; 8 * 1024];
    for _ in 0..RESERVE_BYTES / chunk.len() as u64 {
        file.write_all(&chunk)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_reserve_is_a_hole_or_stays_for_ever() {
        use std::os::unix::fs::MetadataExt as _;
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path());
        assert!(dir.keep_reserve().unwrap());
        let kept = fs::metadata(dir.reserve_path()).unwrap();
        assert!(kept.blocks() * 512 >= RESERVE_BYTES, "it takes up space");
        assert_eq!(kept.mode() & 0o777, 0o600);
        assert!(dir.keep_reserve().unwrap(), "again is harmless");
        assert!(dir.release_reserve().unwrap());
        assert!(!dir.release_reserve().unwrap());
        assert!(!dir.has_reserve());
    }
}
