//! Laws for all sequences of items.

use std::ops::ControlFlow;

use boundlane_record::tree::{leaf_hash, root};
use boundlane_record::{Books, EntryBatch, Row, Seq, TreeSize};
use boundlane_store::{
    AppendError, BLOCK_ENTRIES_MAX, BLOCK_PLAIN_BYTES_MAX, Checkpoint, Found, Piece, Reader,
    Select, StreamId,
};
use proptest::prelude::*;

use crate::feed::{Part, assert_sound, name, open, part, raws, reader, row, state};

/// One item: its stream, and the length of each entry's text.
type Shape = (u8, Vec<usize>);

fn shapes() -> impl Strategy<Value = Vec<Vec<Shape>>> {
    let length = prop_oneof![
        8 => 0usize..300,
        1 => 20_000usize..200_000,
        1 => 270_000usize..300_000,
    ];
    let item = (0u8..3, prop::collection::vec(length, 0..40));
    prop::collection::vec(prop::collection::vec(item, 1..5), 1..8)
}

/// The parts of one commit, their versions going on from `versions`.
fn parts(commit: &[Shape], versions: &mut [Option<u64>], line: &mut u64) -> Vec<Part> {
    let mut parts = Vec::new();
    for (stream, lengths) in commit {
        let version = &mut versions[usize::from(*stream)];
        let name = name(&format!("s{stream}"));
        let mut entries = EntryBatch::new();
        for length in lengths {
            *line += 1;
            let text = format!("{line} {}", "x".repeat(*length));
            entries.push(&Row {
                raw: Some(text.into()),
                ..row(&name, *line)
            });
        }
        let records = lengths.len() as u64;
        parts.push(Part {
            name,
            entries,
            books: Books {
                lines_read: records,
                records,
                ..Books::default()
            },
            expects: *version,
            checkpoint: Checkpoint::default(),
            open_losses: Vec::new(),
        });
        *version = Some(version.unwrap_or(0) + 1);
    }
    parts
}

fn entries(reader: &Reader, select: Select<'_>) -> Vec<(u64, Vec<u8>)> {
    let mut entries = Vec::new();
    let end = reader.each_entry(select, |found| match found {
        Found::Entry(seq, entry) => {
            entries.push((seq.0, entry.to_vec()));
            ControlFlow::Continue(())
        }
        other => ControlFlow::Break(format!("{other:?}")),
    });
    assert_eq!(end.unwrap(), None);
    entries
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For all sequences of items: blocks concatenated are the entries in order, within the limits of a
    /// block; the root is the tree's over them; every older root is found again; fsck has nothing to say.
    #[test]
    fn blocks_hold_the_entries_in_order_and_the_root_is_the_trees(commits in shapes()) {
        let (_parent, dir) = state();
        let mut journal = open(&dir);
        let mut written = entries(&reader(&dir), Select::all());
        let (mut versions, mut line) = ([None; 3], 0);
        for commit in &commits {
            let parts = parts(commit, &mut versions, &mut line);
            let items: Vec<_> = parts.iter().map(Part::item).collect();
            journal.append(&items).unwrap();
            for (entry, _) in parts.iter().flat_map(|part| part.entries.iter()) {
                written.push((written.len() as u64 + 1, entry.to_vec()));
            }
        }
        let reader = reader(&dir);
        prop_assert_eq!(&entries(&reader, Select::all()), &written);
        let leaves: Vec<_> = written.iter().map(|(_, entry)| leaf_hash(entry)).collect();
        prop_assert_eq!(reader.head().unwrap().root, root(&leaves));
        for size in (0..=leaves.len()).step_by(7) {
            let found = reader.root_at(TreeSize(size as u64)).unwrap();
            prop_assert_eq!(found, Some(root(&leaves[..size])));
        }
        for piece in reader.blocks(Select::all()).unwrap() {
            let Piece::Block(block) = piece.unwrap() else { panic!("a hole") };
            let entries = block.entries().len();
            prop_assert!(entries <= BLOCK_ENTRIES_MAX);
            prop_assert!(entries == 1 || block.bytes().len() <= BLOCK_PLAIN_BYTES_MAX);
        }
        assert_sound(&dir);
    }

    /// For all ranges, in both directions: a walk gives exactly the numbers asked for.
    #[test]
    fn a_range_gives_its_numbers_in_both_directions(
        commits in shapes(), after in 0u64..400, length in 0u64..400, stream in 0u8..3,
    ) {
        let (_parent, dir) = state();
        let mut journal = open(&dir);
        let (mut versions, mut line) = ([None; 3], 0);
        for commit in &commits {
            let parts = parts(commit, &mut versions, &mut line);
            let items: Vec<_> = parts.iter().map(Part::item).collect();
            journal.append(&items).unwrap();
        }
        let reader = reader(&dir);
        let all = entries(&reader, Select::all());
        let range = || Select::all().after(Seq(after)).through(Seq(after + length));
        let within = |seq: u64| seq > after && seq <= after + length;
        let wanted: Vec<_> = all.iter().filter(|(seq, _)| within(*seq)).cloned().collect();
        prop_assert_eq!(&entries(&reader, range()), &wanted);
        let mut backwards = Vec::new();
        for piece in reader.blocks(range().newest_first()).unwrap() {
            let Piece::Block(block) = piece.unwrap() else { panic!("a hole") };
            backwards.extend(block.entries().rev().map(|(seq, entry)| (seq.0, entry.to_vec())));
        }
        backwards.reverse();
        prop_assert_eq!(&backwards, &wanted);

        let label = format!(r#""stream":"s{stream}""#);
        let is_its = |entry: &[u8]| String::from_utf8_lossy(entry).contains(&label);
        let id = reader.stream(&format!("s{stream}")).unwrap().map_or(StreamId(99), |s| s.id);
        let its: Vec<_> = wanted.iter().filter(|(_, entry)| is_its(entry)).cloned().collect();
        for select in [range().streams(vec![id]), range().streams(vec![id]).newest_first()] {
            let mut found = entries(&reader, select);
            found.retain(|(_, entry)| is_its(entry));
            found.sort();
            prop_assert_eq!(&found, &its);
        }
    }

    /// For all interleavings of two writers: no item is lost, none is doubled, the tree does not fork,
    /// and of two that move one checkpoint the later one is told.
    #[test]
    fn two_writers_interleaving_lose_nothing(turns in prop::collection::vec((any::<bool>(), 0u8..3), 1..40)) {
        let (_parent, dir) = state();
        let mut writers = [open(&dir), open(&dir)];
        // Each writer's belief about each stream: version and next line.
        let mut believed = [[(None, 0u64); 3]; 2];
        let (mut truth, mut lines) = ([0u64; 3], 0usize);
        for (who, stream) in turns {
            let (who, stream) = (usize::from(who), usize::from(stream));
            let (version, line) = believed[who][stream];
            let name = format!("s{stream}");
            let part = part(&name, line..line + 2, version);
            let done = writers[who].append(&[part.item()]);
            if version.unwrap_or(0) == truth[stream] {
                truth[stream] = done.unwrap().items[0].version;
                lines += part.entries.len();
            } else {
                let told = matches!(done, Err(AppendError::Conflict { .. }));
                prop_assert!(told, "the later writer is told");
            }
            let now = writers[who].stream(&name).unwrap().unwrap();
            believed[who][stream] = (Some(now.version), now.place.parse().unwrap());
        }
        prop_assert_eq!(raws(&reader(&dir)).len(), lines);
        assert_sound(&dir);
    }
}
