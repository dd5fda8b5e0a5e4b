//! Commits: whole, in order, refused where they must be.

use std::ops::Range;

use boundlane_record::{Books, Mark, Seq, TreeSize};
use boundlane_store::{AppendError, Consumer, FINGERPRINTS_MAX, ItemFault, MarkChange};

use crate::feed::{Fate, assert_sound, fate, name, open, part, raws, reader, row, state};

/// A commit of two streams is read back in order, with its books, places and versions.
#[test]
fn items_of_two_streams_come_back_in_order_with_their_books() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let (a, b) = (part("a", 0..10, None), part("b", 10..12, None));
    let appended = journal.append(&[a.item(), b.item()]).unwrap();
    assert_eq!(appended.first, Seq(2));
    assert_eq!(appended.items[0].version, 1);
    assert_eq!(appended.items[1].last, Some(Seq(appended.size.0)));

    let reader = reader(&dir);
    let expected = [0, 1, 2, 4, 6, 7, 8, 9, 10, 11].map(|line| format!("line {line}"));
    assert_eq!(raws(&reader), expected);
    let stream = reader.stream("a").unwrap().unwrap();
    assert_eq!(stream.books, a.books);
    assert_eq!(stream.place, "10");
    assert_eq!((stream.first, stream.last), (Some(Seq(2)), Some(Seq(9))));
    let mut both = a.books;
    both += b.books;
    assert_eq!(reader.totals().unwrap().books, both);
    assert_eq!(reader.totals().unwrap().open_drops, both.refused);
    assert_sound(&dir);
}

/// A checkpoint that another writer moved refuses the whole commit, and leaves the journal usable.
#[test]
fn a_moved_checkpoint_refuses_the_commit_and_nothing_of_it_stays() {
    let (_parent, dir) = state();
    let (mut ours, mut theirs) = (open(&dir), open(&dir));
    ours.append(&[part("a", 0..5, None).item()]).unwrap();
    theirs.append(&[part("a", 5..9, Some(1)).item()]).unwrap();

    let (other, late) = (part("b", 0..3, None), part("a", 5..7, Some(1)));
    let refused = ours.append(&[other.item(), late.item()]);
    assert!(matches!(refused, Err(AppendError::Conflict { stream }) if stream == "a"));
    assert_eq!(reader(&dir).stream("b").unwrap(), None);

    ours.append(&[other.item(), part("a", 9..12, Some(2)).item()])
        .unwrap();
    assert_eq!(reader(&dir).stream("a").unwrap().unwrap().version, 3);
    assert_sound(&dir);
}

/// A commit that is refused while a full block of it is being packed leaves that block in no later commit.
#[test]
fn a_block_of_a_refused_commit_is_in_no_later_one() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let (long, never) = (part("a", 0..400, None), part("never", 0..1, Some(1)));
    for _ in 0..2 {
        let refused = journal.append(&[long.item(), never.item()]);
        assert!(matches!(refused, Err(AppendError::Conflict { stream }) if stream == "never"));
    }
    journal.append(&[part("b", 400..410, None).item()]).unwrap();
    journal.append(&[long.item()]).unwrap();

    let written = |lines: Range<u64>| {
        let kept = lines.filter(|line| fate(*line) == Fate::Record);
        kept.map(|line| format!("line {line}"))
    };
    let expected: Vec<String> = written(400..410).chain(written(0..400)).collect();
    assert_eq!(raws(&reader(&dir)), expected);
    assert_sound(&dir);
}

/// A stream that was thought new, or thought known, is a conflict too.
#[test]
fn a_stream_that_another_writer_began_is_a_conflict() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..1, None).item()]).unwrap();
    for expects in [None, Some(0), Some(2)] {
        let refused = journal.append(&[part("a", 1..2, expects).item()]);
        assert!(matches!(refused, Err(AppendError::Conflict { .. })));
    }
    let refused = journal.append(&[part("never", 0..1, Some(1)).item()]);
    assert!(matches!(refused, Err(AppendError::Conflict { .. })));
}

/// Two items of one stream in one commit follow each other.
#[test]
fn two_items_of_one_stream_in_one_commit_follow_each_other() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let (first, second) = (part("a", 0..3, None), part("a", 3..8, Some(1)));
    journal.append(&[first.item(), second.item()]).unwrap();
    let stream = reader(&dir).stream("a").unwrap().unwrap();
    assert_eq!((stream.version, stream.place.as_str()), (2, "8"));
    assert_sound(&dir);
}

/// Books that do not say what the entries are never get in.
#[test]
fn books_that_do_not_balance_are_refused_before_anything_is_written() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let fault = |change: fn(&mut Books), journal: &mut boundlane_store::Journal| {
        let mut part = part("a", 0..6, None);
        change(&mut part.books);
        match journal.append(&[part.item()]) {
            Err(AppendError::Item { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    };
    let lost = fault(|books| books.lines_read += 1, &mut journal);
    assert!(matches!(lost, ItemFault::Unbalanced(_)));
    let invented = fault(
        |books| {
            books.lines_read += 1;
            books.records += 1;
        },
        &mut journal,
    );
    assert!(matches!(invented, ItemFault::Records { .. }));
    let hidden = fault(
        |books| {
            books.refused -= 1;
            books.ignored += 1;
        },
        &mut journal,
    );
    assert!(matches!(hidden, ItemFault::Refused { .. }));
    assert_eq!(journal.head().unwrap().size, TreeSize(1));
}

/// Items and commits beyond their limits are refused.
#[test]
fn an_item_or_a_commit_beyond_its_limit_is_refused() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let many: Vec<_> = (0..65).map(|n| part(&n.to_string(), 0..1, None)).collect();
    let items: Vec<_> = many.iter().map(crate::feed::Part::item).collect();
    assert!(matches!(
        journal.append(&items),
        Err(AppendError::Items(65))
    ));

    let mut long = part("long", 0..0, None);
    let text = "x".repeat(600 * 1024);
    let name = name("long");
    long.entries.push(&boundlane_record::Row {
        raw: Some(text.into()),
        ..row(&name, 0)
    });
    long.books.records = 1;
    long.books.lines_read = 1;
    let refused = journal.append(&[long.item()]);
    let fault = ItemFault::EntryBytes(long.entries.byte_len() - 1);
    assert!(matches!(refused, Err(AppendError::Item { fault: found, .. }) if found == fault));
}

/// Marks are dropped from an offset on and added; fingerprints keep the last lines only.
#[test]
fn marks_and_fingerprints_follow_the_checkpoint() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mark = |offset| Mark {
        offset,
        digest: [1; 32],
    };
    let mut first = part("a", 0..400, None);
    first.checkpoint.marks.add = vec![mark(100), mark(200), mark(300)];
    journal.append(&[first.item()]).unwrap();
    let mut version = 1;
    for step in 1..12 {
        let mut next = part("a", step * 400..(step + 1) * 400, Some(version));
        next.checkpoint.marks = MarkChange {
            drop_from_offset: Some(200),
            add: vec![mark(200 + step)],
        };
        version = journal.append(&[next.item()]).unwrap().items[0].version;
    }
    let id = journal.stream("a").unwrap().unwrap().id;
    assert_eq!(journal.marks(id).unwrap(), [mark(100), mark(211)]);
    let kept = journal.fingerprints(id).unwrap();
    assert_eq!(kept.len(), FINGERPRINTS_MAX);
    let line = |n: usize| u64::from_be_bytes(kept[n].0[..8].try_into().unwrap());
    assert_eq!((line(0), line(4095)), (4800 - 4096, 4799));
    assert_sound(&dir);
}

/// An acknowledgement never goes back and never runs ahead of the numbers given.
#[test]
fn an_acknowledgement_never_goes_back_or_ahead() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..9, None).item()]).unwrap();
    let now = boundlane_record::Micros(9);
    let mut acknowledge = |through| journal.acknowledge(Consumer::Archiver, Seq(through), now);
    assert_eq!(acknowledge(5).unwrap().through, Seq(5));
    let back = acknowledge(3).unwrap();
    assert_eq!((back.before, back.through), (Seq(5), Seq(5)));
    let ahead = acknowledge(100);
    assert!(matches!(
        ahead,
        Err(AppendError::Beyond { through: 100, .. })
    ));
    let totals = reader(&dir).totals().unwrap();
    assert_eq!((totals.acknowledged, totals.queued), (5, totals.size.0 - 5));

    journal
        .acknowledge(Consumer::Uploader, Seq(2), now)
        .unwrap();
    let totals = reader(&dir).totals().unwrap();
    assert_eq!((totals.acknowledged, totals.queued), (2, totals.size.0 - 2));
    assert_sound(&dir);
}
