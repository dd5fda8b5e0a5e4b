//! Found faults, each as the shortest history that showed it.

use boundlane_ingest::watch::{
    Arrived, Flow, Follow, Next, Snapshot, Step, StreamEnd, WatchPlace, Watched, WatchedLine,
};
use boundlane_record::{Extent, Fingerprint, Gap, GapCause, Micros};

use super::gateway::fingerprint;

const SPACE: &str = "v1:00000000-0000-0000-0000-000000000001";

fn line(name: u64, number: Option<u64>) -> Arrived {
    let line = WatchedLine {
        sandbox_id: "s".into(),
        time: Some(Micros(1000)),
        source: "sandbox".into(),
        message: name.to_string(),
        cursor: number.map_or_else(String::new, |number| format!("{SPACE}:{number:020}")),
        ..WatchedLine::default()
    };
    Arrived {
        fingerprint: fingerprint(&line),
        line,
    }
}

fn print(name: u64) -> Fingerprint {
    line(name, None).fingerprint
}

fn follow() -> Follow {
    let watched = Watched {
        sandbox_id: "s".into(),
        created: Some(Micros(0)),
    };
    Follow::new(watched, WatchPlace::default(), Vec::new())
}

/// Reads these lines; with no number they have no cursor.
fn read(follow: &mut Follow, lines: impl IntoIterator<Item = (u64, Option<u64>)>) {
    for (name, number) in lines {
        let _ = follow.line(line(name, number), Micros(50));
    }
}

/// What was taken, and the gaps.
fn outcome(follow: &mut Follow) -> (Vec<String>, Vec<Gap>) {
    let (mut taken, mut gaps) = (Vec::new(), Vec::new());
    for step in follow.steps() {
        match step {
            Step::Take(arrived) => taken.push(arrived.line.message),
            Step::Repeat(_) => (),
            Step::Gap(gap) | Step::OpenGap(gap) => gaps.push(gap),
        }
    }
    (taken, gaps)
}

fn broke() -> StreamEnd {
    StreamEnd::Broke("cut".into())
}

/// A tail without cursors, a line with one, and a break before the warning of what lay between.
#[test]
fn what_was_left_out_behind_a_tail_without_cursors_goes_unsaid_at_a_break() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    read(&mut follow, [(1, None), (2, None), (7, Some(7))]);
    let _ = outcome(&mut follow);
    follow.whole_before(Micros(55));
    assert_eq!(follow.place().whole, None, "a warning may be on its way");
    // The same for who is killed: the place has it.
    let stored = WatchPlace::from_json(&follow.place().to_json()).unwrap();
    assert_eq!(
        stored.behind_blind.as_deref(),
        Some(&*format!("{SPACE}:{:020}", 7))
    );
    assert!(matches!(follow.ended(broke(), Micros(60)), Next::Later(_)));
    follow.attached(Micros(70), None);
    let (_, gaps) = outcome(&mut follow);
    let [gap] = &gaps[..] else { panic!("{gaps:?}") };
    assert_eq!((gap.cause, gap.extent), (GapCause::Lagged, Extent::Unknown));
    assert_eq!((gap.from, gap.to), (None, Some(Micros(70))));
}

/// Found whole twice, no warning can be on its way any more.
#[test]
fn a_break_long_after_a_tail_without_cursors_is_a_gap() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    read(&mut follow, [(1, None), (2, None), (3, Some(3))]);
    follow.whole_before(Micros(55));
    follow.whole_before(Micros(56));
    assert_eq!(follow.place().whole, Some(Micros(56)));
    let _ = outcome(&mut follow);
    let _ = follow.ended(broke(), Micros(60));
    follow.attached(Micros(70), None);
    assert_eq!(outcome(&mut follow).1, []);
}

/// A tail that fits nowhere, read beside cursors: two lines that are alike are two.
#[test]
fn lines_that_are_alike_become_one_in_a_tail_that_fits_nowhere() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    read(&mut follow, [(1, Some(1)), (3, Some(3))]);
    let _ = outcome(&mut follow);
    let trimmed = StreamEnd::Trimmed {
        after: Some(1),
        earliest: Some(2),
    };
    assert_eq!(follow.ended(trimmed, Micros(60)), Next::Again);
    follow.attached(Micros(70), None);
    read(
        &mut follow,
        [(2, None), (3, None), (4, None), (4, None), (4, None)],
    );
    follow.newest_is(&print(4));
    let (mut taken, _) = outcome(&mut follow);
    read(&mut follow, [(9, Some(9))]);
    taken.extend(outcome(&mut follow).0);
    assert_eq!(taken, ["2", "4", "4", "4", "9"]);
}

/// A gateway is slower than whoever waits: the tail comes after a silence.
#[test]
fn a_tail_that_comes_late_is_stored_again() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    read(&mut follow, [1, 2, 3].map(|name| (name, None)));
    let _ = outcome(&mut follow);
    let _ = follow.ended(broke(), Micros(60));
    follow.attached(Micros(70), None);
    follow.idle(Micros(75));
    read(&mut follow, [1, 2, 3].map(|name| (name, None)));
    read(&mut follow, [(4, Some(4))]);
    assert_eq!(outcome(&mut follow).0, ["4"]);
}

/// Lines of a hole come first in a tail without cursors; resuming behind the greatest cursor begins after
/// them.
#[test]
fn lines_of_a_tail_without_cursors_are_stored_again_when_a_hole_lay_in_front() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    read(&mut follow, [(1, Some(1)), (3, Some(3))]);
    // A warning, and one more before the hole was read: the tail says more.
    for at in [60, 70] {
        let _ = follow.lagged(1, Micros(at));
        follow.attached(Micros(at + 5), None);
    }
    let tail = [1, 2, 3, 4, 5].map(|name| (name, None));
    read(&mut follow, tail);
    follow.newest_is(&print(5));
    let (taken, _) = outcome(&mut follow);
    assert_eq!(taken, ["1", "3", "2", "4", "5"]);
    let _ = follow.ended(broke(), Micros(90));
    follow.attached(Micros(95), None);
    read(&mut follow, [(4, Some(4)), (5, Some(5)), (6, Some(6))]);
    assert_eq!(outcome(&mut follow).0, ["6"]);
}

/// A gateway of the first generation starts anew and holds nothing; only its own lines were heard.
#[test]
fn an_empty_buffer_of_a_sandbox_that_has_not_begun_is_no_news() {
    let mut follow = follow();
    follow.attached(Micros(10), Some(Snapshot::default()));
    let mut said = line(1, None);
    said.line.source = "gateway".into();
    let _ = follow.line(said, Micros(11));
    let _ = follow.ended(broke(), Micros(20));
    let _ = outcome(&mut follow);
    follow.attached(Micros(30), Some(Snapshot::default()));
    follow.idle(Micros(40));
    let (_, gaps) = outcome(&mut follow);
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!(gaps[0].cause, GapCause::SpaceChanged);
}

/// The clock went back between the last moment at which the stream was whole and the next attachment.
#[test]
fn a_clock_that_was_set_back_turns_a_gap_round() {
    let mut follow = follow();
    follow.attached(Micros(1000), None);
    read(&mut follow, [(1, Some(1))]);
    follow.whole_before(Micros(2000));
    let _ = outcome(&mut follow);
    assert_eq!(follow.ended(StreamEnd::SpaceGone, Micros(500)), Next::Again);
    follow.attached(Micros(600), None);
    follow.idle(Micros(700));
    let (_, gaps) = outcome(&mut follow);
    let [gap] = &gaps[..] else { panic!("{gaps:?}") };
    assert_eq!((gap.from, gap.to), (Some(Micros(600)), Some(Micros(2000))));
    let evidence = gap.evidence.as_deref().unwrap();
    assert!(
        evidence.contains(r#""clock":"went back between the ends""#),
        "{evidence}"
    );
    follow.gone(Micros(800));
    let (_, gaps) = outcome(&mut follow);
    assert!(gaps.iter().all(|gap| gap.from <= gap.to), "{gaps:?}");
}

/// What proves a stream whole is the last answer, whatever the clock said before.
#[test]
fn a_clock_that_was_set_back_keeps_a_moment_that_has_not_come() {
    let mut follow = follow();
    follow.attached(Micros(1000), None);
    read(&mut follow, [(1, Some(1))]);
    follow.whole_before(Micros(9000));
    follow.whole_before(Micros(2000));
    assert_eq!(follow.place().whole, Some(Micros(2000)));
}

/// Of two lines that are alike one was taken for the overlap of tail and live: the tail that is read next has both,
/// and fits all the same.
#[test]
fn a_line_that_came_twice_makes_everything_come_twice() {
    let first = 1..=10;
    let numbered = |names: &[u64]| names.iter().map(|name| (*name, None)).collect::<Vec<_>>();
    let mut follow = follow();
    follow.attached(
        Micros(10),
        Some(Snapshot(first.clone().map(print).collect())),
    );
    read(&mut follow, first.clone().map(|name| (name, None)));
    read(&mut follow, numbered(&[11, 11, 12]));
    let (taken, gaps) = outcome(&mut follow);
    assert_eq!(taken.len(), 12, "one of two: {taken:?}");
    assert_eq!(gaps.last().map(|gap| gap.cause), Some(GapCause::Ambiguous));
    let _ = follow.ended(broke(), Micros(20));

    let held: Vec<u64> = first.chain([11, 11, 12, 12, 13]).collect();
    follow.attached(
        Micros(30),
        Some(Snapshot(held.iter().map(|name| print(*name)).collect())),
    );
    read(&mut follow, numbered(&held));
    let (taken, gaps) = outcome(&mut follow);
    assert_eq!(taken, ["12", "13"], "the run at the end has grown");
    let [gap] = &gaps[..] else { panic!("{gaps:?}") };
    assert_eq!(
        (gap.cause, gap.extent),
        (GapCause::Ambiguous, Extent::AtMost(1))
    );
}

/// What was left out between the attachment and its first line can have been published after the attachment.
#[test]
fn a_gap_ends_before_the_line_behind_it_came() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    let first = line(1, Some(100));
    let _ = follow.line(first, Micros(50));
    let (_, gaps) = outcome(&mut follow);
    assert_eq!(gaps[0].cause, GapCause::HistoryUnavailable);
    assert_eq!(gaps[0].to, Some(Micros(50)));
    // Another numbering, of which nothing came at first: the gap was opened without its end.
    assert_eq!(follow.ended(StreamEnd::SpaceGone, Micros(60)), Next::Again);
    follow.attached(Micros(70), None);
    follow.idle(Micros(80));
    let mut other = line(2, None);
    other.line.cursor = "v1:00000000-0000-0000-0000-000000000002:00000000000000000003".into();
    let _ = follow.line(other, Micros(90));
    let (_, gaps) = outcome(&mut follow);
    assert!(
        gaps.iter().all(|gap| gap.cause == GapCause::SpaceChanged),
        "{gaps:?}"
    );
    let ends: Vec<_> = gaps.iter().map(|gap| gap.to).collect();
    assert_eq!(ends, [Some(Micros(70)), Some(Micros(90))]);
}

/// Lines in front of the greatest cursor are read again: that the newest line is stored proves nothing meanwhile.
#[test]
fn a_hole_that_is_being_read_is_proven_empty() {
    let mut follow = follow();
    follow.attached(Micros(10), None);
    read(&mut follow, [(1, Some(1)), (4, Some(4))]);
    assert_eq!(follow.lagged(2, Micros(20)), Flow::Reattach);
    follow.attached(Micros(30), None);
    read(&mut follow, [(2, Some(2))]);
    for moment in [40, 50] {
        assert!(!follow.has_newest(&print(4), 2), "it came before");
        follow.whole_before(Micros(moment));
    }
    assert_eq!(follow.place().whole, None);
    read(&mut follow, [(3, Some(3)), (4, Some(4))]);
    assert!(follow.has_newest(&print(4), 2));
    let (taken, gaps) = outcome(&mut follow);
    assert_eq!(taken, ["1", "4", "2", "3"]);
    assert_eq!(gaps.len(), 1, "what was before the first line: {gaps:?}");
}
