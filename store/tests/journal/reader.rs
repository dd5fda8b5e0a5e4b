//! Reading beside a writer, and skipping what is not asked for.

use std::cell::Cell;

use boundlane_record::{Kind, Micros, Outcome, Seq};
use boundlane_store::{Consumer, Piece, Select, StreamId};

use crate::feed::{open, part, reader, state};

/// A walk ends at the head of its beginning, whatever is appended meanwhile.
#[test]
fn a_walk_ends_at_the_head_of_its_beginning() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..300, None).item()]).unwrap();
    let reader = reader(&dir);
    let size = reader.head().unwrap().size;
    let mut last = Seq(0);
    let mut version = Some(1);
    for piece in reader.blocks(Select::all()).unwrap() {
        let Piece::Block(block) = piece.unwrap() else {
            panic!("a hole")
        };
        last = block.entries().last().unwrap().0;
        let more = part("a", 300..310, version);
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
    assert_eq!(last.0, size.0);
    assert!(reader.head().unwrap().size > size);
}

/// A block whose header is not wanted is passed without being a hole.
#[test]
fn an_unwanted_block_is_skipped_and_is_no_hole() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mut version = None;
    for step in 0..5 {
        let more = part("a", step * 10..step * 10 + 10, version);
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
    let reader = reader(&dir);
    let seen = Cell::new(0);
    let select = Select::all().only(|header| {
        seen.set(seen.get() + 1);
        header.time.is_some_and(|(from, _)| from >= Micros(20_000))
    });
    let pieces: Vec<_> = reader.blocks(select).unwrap().map(Result::unwrap).collect();
    assert_eq!(seen.get(), 6, "each header is asked about once");
    assert_eq!(pieces.len(), 3);
    assert!(pieces.iter().all(|piece| matches!(piece, Piece::Block(_))));
}

/// One sandbox's blocks are found without reading another's.
#[test]
fn a_streams_blocks_come_without_the_others() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mut versions = [None; 2];
    for step in 0..6u64 {
        let stream = usize::from(step % 3 == 0);
        let more = part(
            ["many", "few"][stream],
            step * 9..step * 9 + 9,
            versions[stream],
        );
        versions[stream] = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
    let reader = reader(&dir);
    let few = reader.stream("few").unwrap().unwrap().id;
    let ids = |select| -> Vec<Vec<StreamId>> {
        let blocks = reader.blocks(select).unwrap();
        blocks
            .map(|piece| match piece.unwrap() {
                Piece::Block(block) => block.header.streams,
                other => panic!("{other:?}"),
            })
            .collect()
    };
    assert_eq!(ids(Select::all().streams(vec![few])), [[few], [few]]);
    let both = Select::all()
        .streams(vec![StreamId::JOURNAL, few])
        .newest_first();
    assert_eq!(ids(both), [[few], [few], [StreamId::JOURNAL]]);
}

/// Counters say what is there: by kind, by outcome, by stream, and what waits.
#[test]
fn counters_say_what_is_there_and_what_waits() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..3, None).item()]).unwrap();
    journal.append(&[part("b", 6..11, None).item()]).unwrap();
    journal
        .acknowledge(Consumer::Archiver, Seq(5), Micros(7))
        .unwrap();
    let reader = reader(&dir);
    let totals = reader.totals().unwrap();
    assert_eq!(totals.tally.of(Kind::Decision, Some(Outcome::Denied)), 2);
    assert_eq!(totals.tally.of_kind(Kind::Session), 1);
    assert_eq!((totals.acknowledged, totals.queued), (5, 4));
    assert_eq!(
        totals.oldest_queued,
        Some(Micros(6_000)),
        "the least of its block"
    );
    assert_eq!(
        (totals.acks[0].through, totals.acks[0].at),
        (Seq(5), Micros(7))
    );
    let streams = reader.streams_of("demo").unwrap();
    assert_eq!(streams.len(), 2);
    assert_eq!(streams[1].tally.of_outcome(Outcome::Denied), 1);
    assert_eq!(streams[1].last_time, Some(Micros(10_000)));
    assert_eq!(reader.streams_of("other").unwrap(), []);
}

/// A long-lived reader does not stop the `-wal` from being bounded.
#[test]
fn the_wal_stays_bounded_beside_a_reader() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let reader = reader(&dir);
    let mut walk = reader.blocks(Select::all()).unwrap();
    let mut version = None;
    for step in 0..1500u64 {
        let more = part("a", step * 5..step * 5 + 5, version);
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
    assert!(walk.next().is_some());
    let wal = std::fs::metadata(dir.path().join("journal.sqlite-wal")).unwrap();
    assert!(wal.len() < 16 * 1024 * 1024, "{} bytes", wal.len());
}
