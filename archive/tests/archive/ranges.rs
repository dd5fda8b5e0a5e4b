//! Which file holds which numbers: cut by day, written again, forked, overlapping.

use std::sync::Arc;

use boundlane_archive::{ArchiveError, Archiver, Limits, OsDisk, Outcome, Root, list};
use boundlane_record::Seq;
use boundlane_record::tree::Edge;

use crate::support::{
    DAY, SMALL, assert_holds, edge_over, journal, new_root, numbered, received, workload,
};

fn small(root: &Root) -> Archiver {
    Archiver::open_with(root.clone(), Arc::new(OsDisk), SMALL).unwrap()
}

fn names(root: &Root) -> Vec<String> {
    let listing = list(root);
    let name = |file: &boundlane_archive::ArchiveFile| {
        format!("{} {}-{}", file.day, file.name.first, file.name.last)
    };
    listing.files.iter().map(name).collect()
}

#[test]
fn a_file_is_cut_where_the_day_received_changes_even_backwards() {
    // A clock that steps back over midnight and forward again gives three files of two days that join up.
    let (_directory, root) = new_root();
    let entries = received(&[DAY - 2, DAY - 1, DAY, DAY + 5, DAY - 1, DAY, DAY]);
    small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    assert_eq!(
        names(&root),
        [
            "1970-01-01 1-2",
            "1970-01-02 3-4",
            "1970-01-01 5-5",
            "1970-01-02 6-7"
        ]
    );
    assert_holds(&root, &entries);
}

#[test]
fn entries_without_a_received_time_stay_with_their_neighbours() {
    let (_directory, root) = new_root();
    let mut entries = received(&[0, 3 * DAY, 3 * DAY]);
    entries.insert(0, br#"{"kind":"event"}"#.to_vec());
    entries.insert(2, br#"{"kind":"event"}"#.to_vec());
    entries.push(br#"{"kind":"event"}"#.to_vec());
    small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    assert_eq!(names(&root), ["1970-01-01 1-3", "1970-01-04 4-6"]);
    assert_holds(&root, &entries);
}

#[test]
fn a_range_written_again_is_a_no_op() {
    // The same call twice, then once more with entries after it: old files stay byte for byte.
    let (_directory, root) = new_root();
    let entries = workload(70);
    let first = small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..50]))
        .unwrap();
    assert!(
        first
            .files
            .iter()
            .all(|file| file.outcome == Outcome::Written)
    );
    let bytes = |archived: &boundlane_archive::Archived| -> Vec<Vec<u8>> {
        archived
            .files
            .iter()
            .map(|file| std::fs::read(&file.path).unwrap())
            .collect()
    };
    let before = bytes(&first);
    let again = small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..50]))
        .unwrap();
    assert!(
        again
            .files
            .iter()
            .all(|file| file.outcome == Outcome::AlreadyThere)
    );
    assert_eq!((again.edge.clone(), bytes(&again)), (first.edge, before));
    let more = small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    assert_eq!(more.files.len(), again.files.len() + 1);
    assert_eq!(more.files.last().unwrap().outcome, Outcome::Written);
    assert_holds(&root, &entries);
}

#[test]
fn other_limits_do_not_write_a_range_a_second_time() {
    // A newer program with other file sizes meets the files of an older one and cuts where they begin.
    let (_directory, root) = new_root();
    let entries = workload(90);
    small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..50]))
        .unwrap();
    let limits = Limits {
        file_entries_max: 64,
        ..SMALL
    };
    let other = Archiver::open_with(root.clone(), Arc::new(OsDisk), limits).unwrap();
    other
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    assert_holds(&root, &entries);
}

#[test]
fn a_hole_between_files_is_filled_and_named_until_then() {
    let (_directory, root) = new_root();
    let entries = workload(60);
    small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..20]))
        .unwrap();
    let edge = edge_over(&entries[..45]);
    small(&root)
        .write(&journal(), &edge, numbered(45, &entries[45..]))
        .unwrap();
    let holding = list(&root).holdings().remove(0);
    assert_eq!(holding.missing, [21..=45]);
    assert_eq!((holding.first, holding.last), (Seq(1), Seq(60)));
    let edge = edge_over(&entries[..20]);
    small(&root)
        .write(&journal(), &edge, numbered(20, &entries[20..]))
        .unwrap();
    assert_eq!(list(&root).holdings()[0].missing, []);
    assert_holds(&root, &entries);
}

#[test]
fn another_history_of_the_same_numbers_is_a_fork() {
    // One entry differs inside the range, or before it: either way nothing is written.
    let (_directory, root) = new_root();
    let entries = workload(60);
    small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..40]))
        .unwrap();
    let before = names(&root);
    let mut other = entries.clone();
    other[3] = br#"{"kind":"event","raw":"rewritten"}"#.to_vec();
    let inside = small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &other))
        .unwrap_err();
    assert!(matches!(inside, ArchiveError::Fork { .. }), "{inside}");
    let edge = edge_over(&other[..40]);
    let after = small(&root)
        .write(&journal(), &edge, numbered(40, &other[40..]))
        .unwrap_err();
    assert!(matches!(after, ArchiveError::Fork { .. }), "{after}");
    assert_eq!(names(&root), before);
}

#[test]
fn a_range_that_only_overlaps_a_file_is_refused() {
    let (_directory, root) = new_root();
    let entries = workload(40);
    small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..20]))
        .unwrap();
    let edge = edge_over(&entries[..10]);
    let late = small(&root)
        .write(&journal(), &edge, numbered(10, &entries[10..]))
        .unwrap_err();
    assert!(
        matches!(late, ArchiveError::Overlap { ours: Seq(11), .. }),
        "{late}"
    );
    let short = small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &entries[..15]))
        .unwrap_err();
    assert!(
        matches!(short, ArchiveError::Overlap { ours: Seq(15), .. }),
        "{short}"
    );
    assert_eq!(names(&root).len(), 1);
}

#[test]
fn a_number_left_out_or_repeated_is_refused() {
    let (_directory, root) = new_root();
    let entries = workload(3);
    for numbers in [[1, 3], [1, 1], [2, 3]] {
        let pairs = numbers
            .iter()
            .zip(&entries)
            .map(|(n, entry)| (Seq(*n), entry));
        let refused = small(&root)
            .write(&journal(), &Edge::new(), pairs)
            .unwrap_err();
        assert!(
            matches!(refused, ArchiveError::OutOfOrder { .. }),
            "{refused}"
        );
    }
    assert_eq!(names(&root), [""; 0]);
}

#[test]
fn no_entries_make_no_file() {
    let (_directory, root) = new_root();
    let archived = small(&root)
        .write(&journal(), &Edge::new(), numbered(0, &[]))
        .unwrap();
    assert_eq!((archived.files, archived.edge), (vec![], Edge::new()));
    assert_eq!(names(&root), [""; 0]);
}

#[test]
fn a_run_that_is_dropped_leaves_whole_files_only() {
    let (_directory, root) = new_root();
    let entries = workload(45);
    let archiver = small(&root);
    let mut run = archiver.begin(&journal(), &Edge::new()).unwrap();
    for (seq, entry) in numbered(0, &entries) {
        run.push(seq, entry).unwrap();
    }
    drop(run);
    assert_holds(&root, &entries[..20 * list(&root).files.len()]);
}
