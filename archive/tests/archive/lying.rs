//! A disk that returns other bytes than it was given: nothing of them is published.

use std::fs::OpenOptions;
use std::io::{Result, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use boundlane_archive::{ArchiveError, Archiver, Disk, DiskFile, Limits, OsDisk, Root, list};
use boundlane_record::tree::Edge;

use crate::damage::silence_decoder;
use crate::support::{SMALL, journal, new_root, numbered, temporaries, workload};

/// What becomes of an archive file that was synced.
#[derive(Debug, Clone, Copy)]
enum Lie {
    /// One bit of this byte.
    Flips(u64),
    /// The last byte is gone.
    Cuts,
    /// A byte more.
    Adds,
}

struct LyingDisk(Lie);

impl Disk for LyingDisk {
    fn create_dir(&self, path: &Path) -> Result<()> {
        OsDisk.create_dir(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        let inner = OsDisk.create(path)?;
        if !path.to_string_lossy().ends_with(".parquet.tmp") {
            return Ok(inner);
        }
        let (path, lie) = (path.to_owned(), self.0);
        Ok(Box::new(LyingFile { inner, path, lie }))
    }

    fn sync(&self, path: &Path) -> Result<()> {
        OsDisk.sync(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        OsDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        OsDisk.remove(path)
    }
}

struct LyingFile {
    inner: Box<dyn DiskFile>,
    path: PathBuf,
    lie: Lie,
}

impl Write for LyingFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

impl DiskFile for LyingFile {
    fn sync(&mut self) -> Result<()> {
        self.inner.sync()?;
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let length = file.metadata()?.len();
        match self.lie {
            Lie::Flips(at) => {
                let mut byte = [0];
                file.read_exact_at(&mut byte, at)?;
                byte[0] ^= 1 << (at % 8);
                file.write_all_at(&byte, at)
            }
            Lie::Cuts => file.set_len(length - 1),
            Lie::Adds => file.write_all_at(&[0], length),
        }
    }
}

fn write(root: &Root, disk: Arc<dyn Disk>, entries: &[Vec<u8>]) -> Option<ArchiveError> {
    // Of three row groups only the first is rebuilt: the others are caught by their bytes alone.
    let limits = Limits {
        rebuilt_groups_every: 16,
        ..SMALL
    };
    let archiver = Archiver::open_with(root.clone(), disk, limits).unwrap();
    let written = archiver.write(&journal(), &Edge::new(), numbered(0, entries));
    written.err()
}

#[test]
fn a_file_that_reads_back_as_other_bytes_is_not_published() {
    // For one flipped bit in any byte (every 211th, and each of the last 64), one byte less and one more.
    silence_decoder();
    let entries = workload(20);
    let (_directory, honest) = new_root();
    assert!(write(&honest, Arc::new(OsDisk), &entries).is_none());
    let length = list(&honest).files[0].bytes;
    let flips = (0..length).step_by(211).chain(length - 64..length);
    for lie in flips.map(Lie::Flips).chain([Lie::Cuts, Lie::Adds]) {
        let (_directory, root) = new_root();
        let refused = write(&root, Arc::new(LyingDisk(lie)), &entries);
        assert!(
            matches!(refused, Some(ArchiveError::ReadBack { .. })),
            "{lie:?}: {refused:?}"
        );
        assert_eq!(list(&root).files.len(), 0, "{lie:?}");
        assert_eq!(temporaries(&root), 0, "{lie:?}");
    }
}
