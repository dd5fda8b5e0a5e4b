//! What the archive and the disk hold, from names and lengths alone.

use std::path::Path;

use boundlane_archive::{FileName, VERSION_DIR};
use boundlane_record::Micros;
use boundlane_store::{Consumer, Totals};

/// The local archive in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Files of the table.
    pub(crate) files: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// When the newest was written.
    pub(crate) newest: Option<Micros>,
}

/// Entries of `journal` that the archiver has acknowledged and that no file is named for. By names alone:
/// whether the files can be read is for `fsck`.
pub(crate) fn unheld(root: &Path, journal: &str, totals: &Totals) -> u64 {
    let word = Consumer::Archiver.word();
    let acknowledged = totals.acks.iter().find(|ack| ack.consumer == word);
    let through = acknowledged.map_or(0, |ack| ack.through.0);
    let mut ranges: Vec<(u64, u64)> = names(root)
        .filter(|name| name.journal.as_str() == journal)
        .map(|name| (name.first.0, name.last.0))
        .collect();
    ranges.sort_unstable();
    let (mut held, mut reached) = (0, 0);
    for (first, last) in ranges {
        let last = last.min(through);
        held += last.saturating_sub(reached.max(first - 1));
        reached = reached.max(last);
    }
    through - held
}

/// The names of the table's files.
fn names(root: &Path) -> impl Iterator<Item = FileName> {
    let days = std::fs::read_dir(root.join(VERSION_DIR))
        .into_iter()
        .flatten()
        .flatten();
    let files = days.flat_map(|day| {
        std::fs::read_dir(day.path())
            .into_iter()
            .flatten()
            .flatten()
    });
    files.filter_map(|file| FileName::parse(file.file_name().to_str()?))
}

/// Sums up the table under `root`. What cannot be listed is not counted.
pub(crate) fn stored(root: &Path) -> Stored {
    let mut stored = Stored::default();
    let days = std::fs::read_dir(root.join(VERSION_DIR))
        .into_iter()
        .flatten()
        .flatten();
    for file in days.flat_map(|day| {
        std::fs::read_dir(day.path())
            .into_iter()
            .flatten()
            .flatten()
    }) {
        let is_ours = file
            .file_name()
            .to_str()
            .is_some_and(|name| FileName::parse(name).is_some());
        let Ok(metadata) = file.metadata() else {
            continue;
        };
        if is_ours {
            stored.files += 1;
            stored.bytes += metadata.len();
            let written = metadata.modified().ok().and_then(micros);
            stored.newest = stored.newest.max(written);
        }
    }
    stored
}

fn micros(time: std::time::SystemTime) -> Option<Micros> {
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok().map(Micros)
}

/// The state directory's disk, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Disk {
    /// The journal's file with SQLite's own beside it.
    pub(crate) journal: u64,
    /// Of those, the write-ahead log.
    pub(crate) wal: u64,
    /// What is left for this user; `None` when it cannot be told.
    pub(crate) free: Option<u64>,
}

/// Measures.
pub(crate) fn disk(directory: &Path) -> Disk {
    let length = |name: &str| {
        std::fs::metadata(directory.join(name))
            .map(|file| file.len())
            .unwrap_or_default()
    };
    let journal = ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"];
    let free = rustix::fs::statvfs(directory).ok();
    Disk {
        journal: journal.iter().map(|name| length(name)).sum(),
        wal: length("journal.sqlite-wal"),
        free: free.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)),
    }
}

/// `12.3 MiB`.
pub(crate) fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut tenths = u128::from(bytes) * 10;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    if unit == 0 {
        return format!("{bytes} bytes");
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use boundlane_archive::JournalId;
    use boundlane_record::Seq;

    use super::*;

    #[test]
    fn a_size_is_told_wrong() {
        assert_eq!(in_words(0), "0 bytes");
        assert_eq!(in_words(1023), "1023 bytes");
        assert_eq!(in_words(1024), "1.0 KiB");
        assert_eq!(in_words(1_572_864), "1.5 MiB");
        assert_eq!(in_words(u64::MAX), "16777215.9 TiB");
    }

    /// Files of the table are counted, others are not, and a missing archive is an empty one.
    #[test]
    fn a_foreign_file_is_counted() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(stored(&root.path().join("none")), Stored::default());
        let day = root.path().join(VERSION_DIR).join("date=2026-04-01");
        std::fs::create_dir_all(&day).unwrap();
        let name = FileName {
            journal: JournalId::parse("0123456789abcdef0123456789abcdef").unwrap(),
            first: Seq(1),
            last: Seq(9),
        };
        std::fs::write(day.join(name.to_string()), "12345").unwrap();
        std::fs::write(day.join("other.parquet"), "12345").unwrap();
        let stored = stored(root.path());
        assert_eq!((stored.files, stored.bytes), (1, 5));
        assert!(stored.newest.is_some());
    }
}
