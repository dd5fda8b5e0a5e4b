//! Files that are broken, cut, foreign, misplaced or superseded: named, never fatal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boundlane_archive::{ArchiveError, Archiver, Limits, OpenFile, OsDisk, Root, list};
use boundlane_record::Seq;
use boundlane_record::tree::Edge;

use crate::support::{SMALL, journal, new_root, numbered, read_all, workload};

fn write(root: &Root, entries: &[Vec<u8>]) -> Vec<PathBuf> {
    let archiver = Archiver::open_with(root.clone(), Arc::new(OsDisk), SMALL).unwrap();
    let archived = archiver
        .write(&journal(), &Edge::new(), numbered(0, entries))
        .unwrap();
    archived.files.into_iter().map(|file| file.path).collect()
}

fn why(root: &Root) -> Vec<String> {
    list(root).bad.into_iter().map(|bad| bad.why).collect()
}

#[test]
fn a_cut_file_is_named_and_the_rest_is_read() {
    // B138: cut at every length from nothing to one byte short, the other files still answer.
    let (_directory, root) = new_root();
    let paths = write(&root, &workload(60));
    let whole = std::fs::read(&paths[1]).unwrap();
    let step = (whole.len() / 40).max(1);
    for length in (0..whole.len()).step_by(step).chain([whole.len() - 1]) {
        std::fs::write(&paths[1], &whole[..length]).unwrap();
        let listing = list(&root);
        assert_eq!(listing.bad.len(), 1, "{length}");
        assert_eq!(listing.bad[0].path, paths[1]);
        assert_eq!(read_all(&listing).len(), 40);
        assert_eq!(listing.holdings()[0].missing, [21..=40]);
    }
    std::fs::write(&paths[1], b"").unwrap();
    assert_eq!(why(&root), ["it is empty"]);
}

#[test]
fn a_flipped_bit_is_an_error_or_changes_nothing() {
    // For all bytes of a file (every 29th), for one flipped bit: verifying fails, or all entries are the same.
    silence_decoder();
    let (_directory, root) = new_root();
    let entries = workload(15);
    let path = write(&root, &entries).remove(0);
    let whole = std::fs::read(&path).unwrap();
    let mut noticed = 0;
    for at in (0..whole.len()).step_by(29) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, damaged).unwrap();
        match OpenFile::open(&path).and_then(|file| file.verify(1).map(|_| file)) {
            Err(_) => noticed += 1,
            Ok(file) => assert_same(&file, &entries, at),
        }
    }
    assert!(
        noticed > whole.len() / 29 / 4,
        "{noticed} of {}",
        whole.len()
    );
}

/// A damaged page can make the decoder panic; the reader turns that into an error, and this keeps it quiet.
pub(crate) fn silence_decoder() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or("", |location| location.file());
        if !place.contains("/parquet-") && !place.contains("/arrow-") {
            before(panic);
        }
    }));
}

fn assert_same(file: &OpenFile, entries: &[Vec<u8>], at: usize) {
    let mut read = file.entries(Seq::FIRST);
    for (seq, entry) in numbered(0, entries) {
        assert_eq!(read.next(), Some(Ok((seq, entry))), "flip at {at}");
    }
    assert_eq!(read.next(), None);
}

#[test]
fn files_of_others_are_named_and_hidden_ones_left_alone() {
    let (_directory, root) = new_root();
    let paths = write(&root, &workload(5));
    let day = paths[0].parent().unwrap();
    std::fs::write(day.join("part-0.parquet"), b"PAR1").unwrap();
    std::fs::write(day.join(".hidden.parquet"), b"").unwrap();
    std::fs::write(day.join("notes.txt"), b"").unwrap();
    std::fs::create_dir(root.table().join("date=yesterday")).unwrap();
    std::fs::create_dir(root.path().join("v=2")).unwrap();
    let bad: Vec<String> = list(&root).bad.iter().map(ToString::to_string).collect();
    for needle in [
        "date=yesterday` cannot be read: it is not named as a file of this archive",
        "part-0.parquet` cannot be read: it is not named as a file of this archive",
        "v=2` cannot be read: it is of another format than `v=1`; a newer program reads it",
    ] {
        assert!(
            bad.iter().any(|bad| bad.contains(needle)),
            "{needle}: {bad:?}"
        );
    }
    assert_eq!(bad.len(), 3, "{bad:?}");
    assert_eq!(read_all(&list(&root)).len(), 5);
}

#[test]
fn a_file_under_another_name_or_day_is_not_believed() {
    let (_directory, root) = new_root();
    let paths = write(&root, &workload(5));
    let day = paths[0].parent().unwrap();
    let renamed = day.join(format!("{}-000000000002-000000000006.parquet", journal()));
    std::fs::rename(&paths[0], &renamed).unwrap();
    assert_eq!(why(&root), ["its footer is of another range than its name"]);
    let elsewhere = root.table().join("date=2020-01-01");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::rename(&renamed, elsewhere.join(paths[0].file_name().unwrap())).unwrap();
    assert_eq!(
        why(&root),
        ["it lies under another day than its entries were received on"]
    );
}

#[test]
fn a_broken_file_where_ours_belongs_is_not_overwritten() {
    let (_directory, root) = new_root();
    let entries = workload(10);
    let path = write(&root, &entries).remove(0);
    std::fs::write(&path, b"").unwrap();
    let archiver = Archiver::open(root.clone()).unwrap();
    let refused = archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap_err();
    assert!(
        matches!(refused, ArchiveError::InTheWay { .. }),
        "{refused}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

#[test]
fn superseded_files_are_left_out_and_interleaving_ones_named() {
    // A compacted file beside its inputs: each entry is read once. A file that only overlaps is bad.
    let (_directory, root) = new_root();
    let entries = workload(60);
    let paths = write(&root, &entries);
    let (_other_directory, other) = new_root();
    let limits = Limits {
        file_entries_max: 1000,
        ..SMALL
    };
    let archiver = Archiver::open_with(other.clone(), Arc::new(OsDisk), limits).unwrap();
    let joined = archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries[..40]))
        .unwrap();
    copy_into(&joined.files[0].path, &paths[0]);
    let listing = list(&root);
    assert_eq!(listing.superseded, paths[..2]);
    assert_eq!(read_all(&listing).len(), 60);
    assert_eq!(listing.bad, []);
    let (_third_directory, third) = new_root();
    let archiver = Archiver::open_with(third.clone(), Arc::new(OsDisk), limits).unwrap();
    let crossing = archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries[..50]))
        .unwrap();
    std::fs::remove_file(paths[0].with_file_name(joined.files[0].path.file_name().unwrap()))
        .unwrap();
    copy_into(&crossing.files[0].path, &paths[0]);
    let listing = list(&root);
    assert_eq!(listing.bad.len(), 1);
    assert!(
        listing.bad[0].why.starts_with("it overlaps "),
        "{}",
        listing.bad[0]
    );
}

fn copy_into(file: &Path, beside: &Path) {
    std::fs::copy(file, beside.with_file_name(file.file_name().unwrap())).unwrap();
}

#[test]
fn an_archive_that_does_not_exist_is_empty() {
    let (_directory, root) = new_root();
    let listing = list(&root);
    assert_eq!((listing.files.len(), listing.bad.len()), (0, 0));
    assert_eq!(listing.head_of(&journal()), None);
    assert!(!root.path().exists());
}
