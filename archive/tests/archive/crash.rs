//! Every operation on the disk fails once; the process dies at every operation once.

use std::sync::Arc;

use boundlane_archive::{ArchiveError, Archiver, Outcome, Root, list};
use boundlane_record::tree::Edge;

use crate::support::{
    FailingDisk, SMALL, assert_holds, journal, new_root, numbered, read_all, workload,
};

fn run(root: &Root, disk: FailingDisk, entries: &[Vec<u8>]) -> Result<(), ArchiveError> {
    let archiver = Archiver::open_with(root.clone(), Arc::new(disk), SMALL)?;
    archiver.write(&journal(), &Edge::new(), numbered(0, entries))?;
    Ok(())
}

/// Fails operation 0, 1, 2, ... until a run meets no failure; gives how many there are.
fn every_operation(dead_after: bool, after: impl Fn(&Root, ArchiveError, &[Vec<u8>])) -> usize {
    let entries = workload(45);
    for n in 0.. {
        let (_directory, root) = new_root();
        match run(&root, FailingDisk::at(n, dead_after), &entries) {
            Ok(()) => return n,
            Err(error) => after(&root, error, &entries),
        }
    }
    unreachable!("a run has an end")
}

fn assert_prefix(root: &Root, entries: &[Vec<u8>]) {
    let listing = list(root);
    assert_eq!(listing.bad, []);
    let held = read_all(&listing);
    let expected = numbered(0, entries).map(|(seq, entry)| (seq, entry.to_vec()));
    assert_eq!(held, expected.take(held.len()).collect::<Vec<_>>());
}

#[test]
fn killed_at_every_operation_the_table_holds_whole_files_and_the_next_run_completes_it() {
    let operations = every_operation(true, |root, _, entries| {
        assert_prefix(root, entries);
        let archiver = Archiver::open(root.clone()).unwrap();
        archiver
            .write(&journal(), &Edge::new(), numbered(0, entries))
            .unwrap();
        assert_holds(root, entries);
    });
    assert!(operations > 30, "{operations}");
}

#[test]
fn every_failed_operation_is_reported_and_leaves_nothing_unfinished() {
    every_operation(false, |root, error, entries| {
        assert!(matches!(error, ArchiveError::Disk { .. }), "{error}");
        assert!(error.to_string().contains("injected"), "{error}");
        assert_prefix(root, entries);
        run(root, working(), entries).unwrap();
        assert_holds(root, entries);
    });
}

#[test]
fn a_directory_that_cannot_be_made_durable_is_an_error_and_is_made_so_by_the_next_run() {
    // B156: the file has its name, the directory was not synced. The caller hears of it; the next run finds
    // the file, syncs it and its directories again, and only then calls it archived.
    let entries = workload(5);
    let mut published = 0;
    for n in 0.. {
        let (_directory, root) = new_root();
        run(&root, working(), &[]).unwrap();
        let Err(error) = run(&root, FailingDisk::at(n, false), &entries) else {
            break;
        };
        if list(&root).files.is_empty() {
            continue;
        }
        published += 1;
        assert!(
            matches!(error, ArchiveError::Disk { what: "sync", .. }),
            "{error}"
        );
        let unsynced = run(&root, FailingDisk::at(0, false), &entries).unwrap_err();
        assert!(
            matches!(unsynced, ArchiveError::Disk { what: "sync", .. }),
            "{unsynced}"
        );
        let archiver = Archiver::open_with(root.clone(), Arc::new(working()), SMALL).unwrap();
        let again = archiver
            .write(&journal(), &Edge::new(), numbered(0, &entries))
            .unwrap();
        assert_eq!(again.files[0].outcome, Outcome::AlreadyThere);
    }
    assert_eq!(published, 3, "day, table and root");
}

/// A disk that does not fail.
fn working() -> FailingDisk {
    FailingDisk::at(usize::MAX - 1, false)
}
