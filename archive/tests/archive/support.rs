//! What the tests share: an archive in a temporary directory, entries for it, a disk that fails.

use std::io::{Error, Result, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use boundlane_archive::{Disk, DiskFile, JournalId, Limits, Listing, OsDisk, Root, list};
use boundlane_record::Seq;
use boundlane_record::tree::{Edge, leaf_hash};

use crate::workload::Workload;

/// One day in microseconds.
pub(crate) const DAY: i64 = 86_400_000_000;

/// Small files and smaller row groups, so that few entries fill several.
pub(crate) const SMALL: Limits = Limits {
    file_entries_max: 20,
    file_bytes_max: 1 << 20,
    row_group_entries_max: 7,
    row_group_bytes_max: 1 << 16,
    rebuilt_groups_every: 2,
    workers_max: 2,
    zstd_level: 1,
};

pub(crate) fn journal() -> JournalId {
    JournalId::parse("0123456789abcdef0123456789abcdef").unwrap()
}

/// A root in a new directory, which lives as long as the first value.
pub(crate) fn new_root() -> (tempfile::TempDir, Root) {
    let directory = tempfile::tempdir().unwrap();
    let root = Root::at(directory.path().join("archive"));
    (directory, root)
}

/// `count` entries of the seeded workload.
pub(crate) fn workload(count: usize) -> Vec<Vec<u8>> {
    let mut workload = Workload::new(1);
    let entry = |_| {
        let mut bytes = Vec::new();
        workload.entry(&mut bytes);
        bytes
    };
    (0..count).map(entry).collect()
}

/// Entries received at these moments.
pub(crate) fn received(moments: &[i64]) -> Vec<Vec<u8>> {
    let entry = |(n, moment)| format!(r#"{{"kind":"event","observed":{moment},"raw":"{n}"}}"#);
    moments
        .iter()
        .enumerate()
        .map(entry)
        .map(String::into_bytes)
        .collect()
}

/// `entries` with their numbers after `size`.
pub(crate) fn numbered(size: u64, entries: &[Vec<u8>]) -> impl Iterator<Item = (Seq, &[u8])> {
    (size + 1..).map(Seq).zip(entries.iter().map(Vec::as_slice))
}

/// The right edge of the tree over `entries`.
pub(crate) fn edge_over(entries: &[Vec<u8>]) -> Edge {
    let mut edge = Edge::new();
    for entry in entries {
        edge.push(leaf_hash(entry));
    }
    edge
}

/// Every entry of every live file, in order.
pub(crate) fn read_all(listing: &Listing) -> Vec<(Seq, Vec<u8>)> {
    let mut all = Vec::new();
    for file in &listing.files {
        let open = file.open().unwrap();
        let mut entries = open.entries(Seq::FIRST);
        while let Some(entry) = entries.next() {
            let (seq, bytes) = entry.unwrap();
            all.push((seq, bytes.to_vec()));
        }
    }
    all
}

/// Asserts that the archive holds exactly `entries`, from number 1 on, and nothing unfinished.
pub(crate) fn assert_holds(root: &Root, entries: &[Vec<u8>]) {
    let listing = list(root);
    assert_eq!(listing.bad, []);
    let expected: Vec<_> = numbered(0, entries)
        .map(|(seq, entry)| (seq, entry.to_vec()))
        .collect();
    assert_eq!(read_all(&listing), expected);
    assert_eq!(temporaries(root), 0);
}

/// How many files are not whole yet.
pub(crate) fn temporaries(root: &Root) -> usize {
    std::fs::read_dir(root.temporaries()).map_or(0, Iterator::count)
}

/// A disk that fails its `n`th operation, and every later one when the process is to be dead by then.
pub(crate) struct FailingDisk {
    shared: Arc<Failing>,
}

struct Failing {
    left: AtomicUsize,
    dead_after: bool,
}

impl FailingDisk {
    /// Fails operation `n` (from 0); with `dead_after` all later ones, too.
    pub(crate) fn at(n: usize, dead_after: bool) -> FailingDisk {
        let left = AtomicUsize::new(n + 1);
        FailingDisk {
            shared: Arc::new(Failing { left, dead_after }),
        }
    }
}

impl Failing {
    fn step(&self) -> Result<()> {
        let subtract = |left: usize| left.checked_sub(1);
        let before = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, subtract);
        match before {
            Ok(1) => Err(Error::other("injected")),
            Err(_) if self.dead_after => Err(Error::other("dead")),
            _ => Ok(()),
        }
    }
}

impl Disk for FailingDisk {
    fn create_dir(&self, path: &Path) -> Result<()> {
        self.shared.step()?;
        OsDisk.create_dir(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        self.shared.step()?;
        let inner = OsDisk.create(path)?;
        let shared = Arc::clone(&self.shared);
        Ok(Box::new(FailingFile { inner, shared }))
    }

    fn sync(&self, path: &Path) -> Result<()> {
        self.shared.step()?;
        OsDisk.sync(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.shared.step()?;
        OsDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.shared.step()?;
        OsDisk.remove(path)
    }
}

struct FailingFile {
    inner: Box<dyn DiskFile>,
    shared: Arc<Failing>,
}

impl Write for FailingFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.shared.step()?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

impl DiskFile for FailingFile {
    fn sync(&mut self) -> Result<()> {
        self.shared.step()?;
        self.inner.sync()
    }
}
