//! One test for each way in which a file comes back.

use boundlane_ingest::DigestKey;
use boundlane_ingest::place::{
    ContentId, Decision, Hints, MARK_BYTES, PendingLine, Place, PlaceError, Verdict,
};
use boundlane_record::{Extent, GapCause};

use crate::book::{Book, Run, WHOLE, found_at, log};

fn book() -> Book {
    Book::new(MARK_BYTES)
}

/// Proves that a second run over an unchanged file stores nothing and says that all is known.
#[test]
fn same_file_again_adds_nothing() {
    let (mut book, at) = (book(), found_at("/log/a", 1));
    assert_eq!(book.ingest(&log(0, 300), &at, &[], WHOLE).stored, 300);
    let again = book.ingest(&log(0, 300), &at, &[], WHOLE);
    assert!(matches!(
        again.decision,
        Decision::Known {
            content: ContentId(0),
            ..
        }
    ));
    assert_eq!((again.stored, again.replaced), (0, None));
}

/// Proves that a copy taken at an earlier run's end is still known after the file has grown.
#[test]
fn copy_of_an_earlier_day_adds_nothing() {
    let (mut book, at) = (book(), found_at("/log/a", 1));
    book.ingest(&log(0, 300), &at, &[], WHOLE);
    book.ingest(&log(0, 500), &at, &[], WHOLE);
    let copy = book.ingest(&log(0, 300), &found_at("/log/monday", 2), &[], WHOLE);
    assert!(matches!(
        copy.decision,
        Decision::Known {
            content: ContentId(0),
            ..
        }
    ));
    assert_eq!(book.stored().len(), 500);
}

/// B006: the file was renamed while nobody looked and a new one took its name. Both orders of naming
/// them finish the old one from its place and read the new one from its start, without a gap.
#[test]
fn rotated_while_down_is_finished_and_the_new_one_read_from_its_start() {
    for new_first in [false, true] {
        let mut book = book();
        book.ingest(&log(0, 100), &found_at("/log/a", 1), &[], WHOLE);
        let [old, new] = [found_at("/log/a.1", 1), found_at("/log/a", 2)];
        let mut runs = vec![(log(0, 150), &old), (log(500, 20), &new)];
        if new_first {
            runs.reverse();
        }
        for (bytes, at) in runs {
            let ran = book.ingest(&bytes, at, &[old.clone(), new.clone()], WHOLE);
            assert_eq!(ran.replaced, None, "new first: {new_first}");
        }
        assert_eq!(book.contents.len(), 2);
        assert_eq!(book.stored().len(), 170);
    }
}

/// B005: truncated in place and written anew. Lines between are a gap of unknown extent, once.
#[test]
fn copytruncate_is_a_gap_once_and_no_line_twice() {
    let (mut book, at) = (book(), found_at("/log/a", 1));
    book.ingest(&log(0, 100), &at, &[], WHOLE);
    let after = book.ingest(&log(200, 30), &at, std::slice::from_ref(&at), WHOLE);
    let replaced = after.replaced.expect("the name holds other content");
    assert_eq!(replaced.gap(), (GapCause::SourceTruncated, Extent::Unknown));
    assert_eq!(replaced.content, ContentId(0));
    assert!(replaced.same_path);
    let grown = book.ingest(&log(200, 40), &at, &[], WHOLE);
    assert_eq!((grown.stored, grown.replaced), (10, None));
    // The copy that was taken before the truncation goes on where the old content stood.
    let copy = book.ingest(&log(0, 110), &found_at("/log/a.1", 9), &[], WHOLE);
    assert_eq!((copy.stored, copy.replaced), (10, None));
    // Truncated once more: the newest holder of the name is missed, not the first one again.
    let again = book.ingest(&log(900, 5), &at, &[], WHOLE);
    assert_eq!(
        again.replaced.map(|replaced| replaced.content),
        Some(ContentId(1))
    );
}

/// Proves that a file with another name and inode is no gap, and one with the same inode alone is.
#[test]
fn another_file_is_no_gap() {
    let mut book = book();
    book.ingest(&log(0, 10), &found_at("/log/a", 1), &[], WHOLE);
    assert_eq!(
        book.ingest(&log(50, 10), &found_at("/log/b", 2), &[], WHOLE)
            .replaced,
        None
    );
    let same_inode = book
        .ingest(&log(90, 10), &found_at("/log/c", 1), &[], WHOLE)
        .replaced;
    assert!(same_inode.is_some_and(|replaced| !replaced.same_path));
    assert_eq!(
        book.ingest(&log(70, 10), &Hints::default(), &[], WHOLE)
            .replaced,
        None
    );
}

/// Proves that a file which differs after two MiB is read again from the last mark before, no earlier.
#[test]
fn divergence_begins_a_generation_after_the_last_mark_that_agrees() {
    let mut book = book();
    let first = log(0, 30_000);
    assert!(first.len() as u64 > 3 * MARK_BYTES);
    book.ingest(&first, &found_at("/log/a", 1), &[], WHOLE);
    let mut other = first[..usize::try_from(2 * MARK_BYTES + 5000).unwrap()].to_vec();
    other.extend(log(70_000, 10));
    let ran = book.ingest(&other, &found_at("/log/a", 1), &[], WHOLE);
    let Decision::NewGeneration {
        after,
        diverged_from,
    } = ran.decision
    else {
        panic!("{:?}", ran.decision)
    };
    assert_eq!(diverged_from, Some(ContentId(0)));
    assert!((2 * MARK_BYTES..2 * MARK_BYTES + 5000).contains(&after.offset));
    assert!(
        ran.held_bytes as u64 <= MARK_BYTES + 70_000,
        "held {}",
        ran.held_bytes
    );
    assert_eq!(book.contents[1].stored[0].before.0 as u64, after.offset);
    // The new generation is known by itself: it has the marks that it shares.
    let shared = book.contents[0].marks.iter();
    let shared = shared.filter(|mark| mark.offset <= after.offset).count();
    assert_eq!(
        book.contents[1].marks[..shared],
        book.contents[0].marks[..shared]
    );
    assert!(matches!(
        book.ingest(&other, &found_at("/log/a", 1), &[], WHOLE)
            .decision,
        Decision::Known {
            content: ContentId(1),
            ..
        }
    ));
}

/// Proves what is decided for a copy cut off below the place: nothing before the last mark that it
/// reaches is stored again, the rest is a new generation.
#[test]
fn shorter_copy_repeats_nothing_that_a_mark_proves() {
    let mut book = book();
    let all = log(0, 30_000);
    book.ingest(&all, &found_at("/log/a", 1), &[], WHOLE);
    let marks = &book.contents[0].marks;
    let mark = *marks
        .iter()
        .find(|mark| mark.offset >= 2 * MARK_BYTES)
        .unwrap();
    let cut = usize::try_from(mark.offset).unwrap();
    let exact = book.ingest(&all[..cut], &found_at("/log/cut", 3), &[], WHOLE);
    assert_eq!(
        exact.decision,
        Decision::Known {
            content: ContentId(0),
            at: mark
        }
    );
    let longer = book.ingest(&all[..cut + 1000], &found_at("/log/cut", 3), &[], WHOLE);
    assert_eq!(
        longer.decision,
        Decision::NewGeneration {
            after: mark,
            diverged_from: Some(ContentId(0))
        }
    );
    assert!(longer.stored < 12, "{}", longer.stored);
}

/// A pipe that is fed from its start after a crash, at every commit: each line is stored once, and at
/// most a MiB and a line are held.
#[test]
fn pipe_refed_after_a_kill_stores_each_line_once() {
    let all = log(0, 24_000);
    let mut book = book();
    let run = Run {
        read_bytes: 8000,
        commit_lines: 500,
        killed_after: 5,
    };
    let mut runs = 0;
    while book.stored().len() < 24_000 {
        let ran = book.ingest(&all, &Hints::default(), &[], run);
        assert!(ran.held_bytes as u64 <= MARK_BYTES + 8000 + 200);
        runs += 1;
    }
    assert_eq!(runs, 10);
    assert_eq!(book.contents.len(), 1);
    let stored: Vec<u8> = book.texts().join("\n").into_bytes();
    assert_eq!(stored, all[..all.len() - 1]);
}

/// B014: half a line, then the other half. The half is stored and flagged, the whole line once more.
#[test]
fn half_a_line_is_stored_and_later_the_whole_line() {
    let (mut book, at) = (book(), found_at("/log/a", 1));
    assert_eq!(book.ingest(b"one\ntw", &at, &[], WHOLE).stored, 2);
    let unchanged = book.ingest(b"one\ntw", &at, &[], WHOLE);
    assert_eq!((unchanged.stored, unchanged.repeats), (0, 1));
    let whole = book.ingest(b"one\ntwo\nthree\n", &at, &[], WHOLE);
    assert_eq!((whole.stored, whole.repeats), (2, 0));
    assert_eq!(book.texts(), ["one", "tw", "two", "three"]);
    assert!(matches!(
        book.ingest(b"one\ntwo\nthree\n", &at, &[], WHOLE).decision,
        Decision::Known { .. }
    ));
}

/// The same where the half line is all there is: no mark can prove it, its own digest does.
#[test]
fn half_of_the_only_line_is_known_by_its_own_digest() {
    let (mut book, at) = (book(), found_at("/log/a", 1));
    book.ingest(b"on", &at, &[], WHOLE);
    assert_eq!(book.ingest(b"on", &at, &[], WHOLE).repeats, 1);
    let ended = book.ingest(b"on\n", &at, &[], WHOLE);
    assert_eq!((ended.stored, ended.repeats, ended.replaced), (0, 1, None));
    let grown = book.ingest(b"on\ntwo\n", &at, &[], WHOLE);
    assert_eq!((grown.stored, book.contents.len()), (1, 1));
    assert_eq!(book.texts(), ["on", "two"]);
}

/// SAMEMS: equal lines are different lines when they stand at different places.
#[test]
fn equal_lines_are_each_stored() {
    let (mut book, at) = (book(), found_at("/log/a", 1));
    book.ingest(b"same\nsame\n", &at, &[], WHOLE);
    assert_eq!(
        book.ingest(b"same\nsame\nsame\n", &at, &[], WHOLE).stored,
        1
    );
    assert_eq!(book.texts(), ["same", "same", "same"]);
}

/// LONG: a line of 5 MB is held while it may be known, and is not stored again.
#[test]
fn line_of_five_megabytes_does_not_hide_what_is_known() {
    let mut all = log(0, 100);
    all.extend(std::iter::repeat_n(b'x', 5 << 20));
    all.extend(b"\n");
    all.extend(log(100, 100));
    let mut book = book();
    let cut = all.len() - 60;
    book.ingest(
        &all[..cut],
        &Hints::default(),
        &[],
        Run {
            commit_lines: 7,
            ..WHOLE
        },
    );
    let again = book.ingest(
        &all,
        &Hints::default(),
        &[],
        Run {
            read_bytes: 1000,
            ..WHOLE
        },
    );
    assert!(matches!(
        again.decision,
        Decision::Continue {
            content: ContentId(0),
            ..
        }
    ));
    assert_eq!(again.stored, 1);
}

/// Proves that a line beyond the bound on held bytes ends the comparison, and is stored: no loss, and
/// no memory.
#[test]
fn held_bytes_are_bounded() {
    let all = [vec![b'x'; 40_000], b"\nend\n".to_vec()].concat();
    let mut book = book();
    book.ingest(&all, &Hints::default(), &[], WHOLE);
    let mut identify =
        boundlane_ingest::place::Identify::new(&book.key, book.known()).held_bytes_max(10_000);
    for bytes in all.chunks(1000) {
        if identify.is_decided() {
            break;
        }
        identify.feed(bytes);
    }
    let identified = identify.finish(false);
    assert_eq!(identified.held.bytes().len(), 11_000);
    assert!(matches!(
        identified.decision,
        Decision::NewGeneration {
            diverged_from: None,
            ..
        }
    ));
}

#[test]
fn empty_input_says_nothing() {
    let mut book = book();
    book.ingest(&log(0, 5), &found_at("/log/a", 1), &[], WHOLE);
    let empty = book.ingest(b"", &found_at("/log/a", 1), &[], WHOLE);
    assert_eq!((empty.decision, empty.replaced), (Decision::Empty, None));
}

/// Proves every verdict on a last line that had no newline.
#[test]
fn pending_line_is_a_repeat_only_when_unchanged() {
    let key = DigestKey::new(&[1; 32]);
    let pending = PendingLine::of(&key, b"deny x");
    let judge = |line: &[u8], terminated| pending.judge(&key, line, terminated);
    assert_eq!(judge(b"deny x", false), Verdict::Repeat);
    assert_eq!(judge(b"deny x", true), Verdict::Repeat);
    assert_eq!(judge(b"deny x\r", true), Verdict::Repeat);
    assert_eq!(judge(b"deny x\r", false), Verdict::Longer);
    assert_eq!(judge(b"deny x\ry", true), Verdict::Longer);
    assert_eq!(judge(b"deny xy", true), Verdict::Longer);
    assert_eq!(judge(b"deny", true), Verdict::Other);
    assert_eq!(judge(b"", true), Verdict::Other);
    assert_eq!(judge(b"deny y", false), Verdict::Other);
    let mut pieces = pending.judging(&key);
    for byte in b"deny x\r" {
        pieces.feed(&[*byte]);
    }
    assert_eq!(pieces.end(true), Verdict::Repeat);
}

/// B004: what version 1 wrote is read for ever, also where it lacks what came later.
#[test]
fn places_of_version_1_are_read() {
    let full = include_str!("../fixtures/place-v1-full.json").trim_end();
    let place = Place::from_json(full).unwrap();
    assert_eq!(place.mark.offset, 1_048_602);
    assert_eq!(place.pending.map(|line| line.bytes), Some(17));
    assert_eq!(place.displaced, Some(ContentId(3)));
    assert_eq!(place.to_json(), full);
    let least = Place::from_json(include_str!("../fixtures/place-v1-least.json")).unwrap();
    assert_eq!(least.mark.offset, 26);
    assert_eq!(least.hints, Hints::default());
}

/// B030: a stored place cut at any byte is an error with a way out, never a panic or another place.
#[test]
fn cut_places_are_damaged() {
    let full = include_str!("../fixtures/place-v1-full.json").trim_end();
    for cut in 0..full.len() {
        let read = Place::from_json(&full[..cut]);
        assert!(
            matches!(read, Err(PlaceError::Damaged { .. })),
            "{cut}: {read:?}"
        );
    }
    assert!(matches!(
        Place::from_json("\0\0\0\0"),
        Err(PlaceError::Damaged { .. })
    ));
    let newer = Place::from_json(r#"{"v":2,"blocks":[]}"#);
    assert_eq!(newer, Err(PlaceError::Newer { version: 2 }));
}
