//! Standard input: what is piped in run after run, as whole logs and as tails of one.

use boundlane_ingest::place::{ContentId, Decision};
use boundlane_record::{Extent, GapCause};
use proptest::prelude::*;

use crate::book::log;
use crate::pipe::Pipe;

fn texts(from: usize, count: usize) -> Vec<String> {
    String::from_utf8(log(from, count))
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

const WHOLE: usize = usize::MAX;

/// A tail of 200 lines every 50 lines: each line once, one chain, no gap.
#[test]
fn overlapping_tails_are_one_chain_without_a_gap() {
    let mut pipe = Pipe::new();
    for end in (200..2000).step_by(50) {
        pipe.ingest(&log(end - 200, 200), 30, WHOLE);
    }
    assert_eq!(pipe.chains.len(), 1);
    assert_eq!(pipe.all_texts(), texts(0, 1950));
    assert_eq!(pipe.all_gaps(), []);
}

/// B026: more lines than the tail shows between two reads are a gap, and a new chain.
#[test]
fn tail_that_was_outrun_is_an_unknown_gap() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 200), 500, WHOLE);
    pipe.ingest(&log(600, 200), 500, WHOLE);
    pipe.ingest(&log(700, 200), 500, WHOLE);
    assert_eq!(pipe.chains.len(), 2);
    assert_eq!(
        pipe.all_gaps(),
        [(GapCause::HistoryUnavailable, Extent::Unknown)]
    );
    assert_eq!(pipe.all_texts().len(), 500);
}

/// The same bytes piped in again are known, whichever input they were and however long ago.
#[test]
fn earlier_input_piped_again_adds_nothing() {
    let mut pipe = Pipe::new();
    let first = log(0, 6000);
    pipe.ingest(&first, 500, WHOLE);
    pipe.ingest(&log(5800, 5000), 500, WHOLE);
    assert!(matches!(
        pipe.ingest(&first, 500, WHOLE),
        Decision::Known {
            content: ContentId(0),
            ..
        }
    ));
    assert_eq!(pipe.all_texts(), texts(0, 10_800));
    assert_eq!(pipe.all_gaps(), []);
}

/// An earlier input that has grown rejoins its chain: what another input brought since is not stored
/// again.
#[test]
fn earlier_input_that_has_grown_rejoins_its_chain() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 1000), 500, WHOLE);
    pipe.ingest(&log(900, 200), 500, WHOLE);
    assert!(matches!(
        pipe.ingest(&log(0, 1150), 500, WHOLE),
        Decision::Rejoin { .. }
    ));
    assert_eq!(pipe.all_texts(), texts(0, 1150));
    assert!(matches!(
        pipe.ingest(&log(0, 1200), 500, WHOLE),
        Decision::Continue { .. }
    ));
    assert_eq!(pipe.all_texts(), texts(0, 1200));
}

/// An input that lies inside of what is stored, and then grows, still adds nothing until it is past it.
#[test]
fn input_from_the_middle_adds_only_what_is_past_the_end() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 1000), 500, WHOLE);
    for end in [500, 800, 1000, 1100] {
        pipe.ingest(&log(400, end - 400), 7, WHOLE);
    }
    assert_eq!(pipe.all_texts(), texts(0, 1100));
    assert_eq!(pipe.all_gaps(), []);
}

/// A longer tail than before brings older lines; a kill among them neither loses nor repeats any.
#[test]
fn older_lines_are_stored_once_through_a_kill() {
    for killed_after in 0..12 {
        let mut pipe = Pipe::new();
        pipe.ingest(&log(100, 50), 500, WHOLE);
        pipe.ingest(&log(70, 90), 10, killed_after);
        pipe.ingest(&log(70, 95), 10, WHOLE);
        let mut stored = pipe.all_texts();
        stored.sort();
        assert_eq!(stored, texts(70, 95), "killed after {killed_after}");
        assert_eq!(pipe.all_gaps(), []);
    }
}

/// A tail far longer than the kept fingerprints, killed at every commit and fed from its start again:
/// its own marks carry it, where alignment could not.
#[test]
fn long_aligned_pipe_is_refed_through_kills() {
    let mut pipe = Pipe::new();
    pipe.ingest(&log(0, 500), 500, WHOLE);
    let long = log(300, 12_000);
    for _ in 0..20 {
        pipe.ingest(&long, 700, 1);
    }
    assert_eq!(pipe.all_texts(), texts(0, 12_300));
    assert_eq!(pipe.all_gaps(), []);
}

/// A chain's last line was cut: the next tail brings it whole, and it is stored once more.
#[test]
fn cut_end_of_a_chain_is_stored_whole_by_the_next_tail() {
    let mut pipe = Pipe::new();
    let first = log(0, 100);
    pipe.ingest(&first[..first.len() - 30], 500, WHOLE);
    pipe.ingest(&log(50, 60), 500, WHOLE);
    let stored = pipe.all_texts();
    assert_eq!(stored.len(), 111);
    assert!(stored[100].starts_with(&stored[99]));
    assert_eq!(stored[100..], texts(99, 11));
    let mut same = Pipe::new();
    same.ingest(&first[..first.len() - 1], 500, WHOLE);
    same.ingest(&log(50, 60), 500, WHOLE);
    assert_eq!(same.all_texts(), texts(0, 110));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    /// For all sequences of tails of one log of different lines, each of them overlapping what is
    /// stored by eight lines or more, fed by runs that are killed at any commit and then fed again from
    /// the start: every line from the first one on is stored once, and there is no gap.
    #[test]
    fn tails_are_stored_once_through_kills(
        tails in prop::collection::vec((8..60usize, 0..60usize, 1..9usize, 0..6usize), 1..12),
    ) {
        let mut pipe = Pipe::new();
        let (mut first, mut end) = (500usize, 540usize);
        pipe.ingest(&log(first, end - first), 500, WHOLE);
        for (overlap, more, commit_lines, killed_after) in tails {
            let start = (end - overlap).min(end.saturating_sub(8));
            let tail = log(start, overlap + more);
            pipe.ingest(&tail, commit_lines, killed_after);
            pipe.ingest(&tail, commit_lines, WHOLE);
            first = first.min(start);
            end += more;
        }
        let mut stored = pipe.all_texts();
        stored.sort();
        prop_assert_eq!(stored, texts(first, end - first));
        prop_assert_eq!(pipe.all_gaps(), []);
        prop_assert_eq!(pipe.chains.len(), 1);
    }
}
