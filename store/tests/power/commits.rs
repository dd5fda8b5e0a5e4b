//! Everything that commits.

use boundlane_store::{Consumer, Item, Journal, Limits, StateDir, WhenFull};

use crate::cut::Scenario;
use crate::feed::{end_of_item, open, part, state};
use crate::script::Step::{Acknowledge, Checkpoint, Number, Prune, Reopen, Shed, Wait};

fn bounded(dir: &StateDir) -> Journal {
    let mut journal = open(dir);
    let limits = Limits {
        queued_entries_max: 5000,
        kept_age_seconds_max: 1,
        ..Limits::default()
    };
    journal.set_limits(&limits).unwrap();
    journal
}

/// Lines of the stream `full` until it has used its share up but for a few.
fn fill(journal: &mut Journal) {
    let (mut line, mut version) = (0, None);
    while journal.waiting().unwrap().general.entries < 2200 {
        let end = end_of_item(line, u64::MAX);
        let part = part("full", line..end, version);
        let item = Item {
            when_full: WhenFull::Shed,
            ..part.item()
        };
        version = Some(journal.append(&[item]).unwrap().items[0].version);
        line = end;
    }
}

/// For all operations of appends to several streams, acknowledgements, prunes and openings: a cut there
/// takes nothing that was promised, and what it interrupts is there whole or not at all.
#[test]
fn a_cut_takes_what_a_commit_promised() {
    let (_parent, base) = state();
    drop(bounded(&base));
    Scenario {
        name: "commits",
        base,
        steps: vec![
            Acknowledge(Consumer::Uploader, 0),
            Shed(&[("a", 90)]),
            Wait(&[("a", 140), ("b", 60)]),
            Acknowledge(Consumer::Archiver, 500),
            Shed(&[("b", 200), ("c", 37)]),
            Number,
            Checkpoint,
            Shed(&[("a", 400), ("b", 300), ("c", 300)]),
            Acknowledge(Consumer::Archiver, 900),
            Acknowledge(Consumer::Uploader, 600),
            Prune,
            Prune,
            Shed(&[("c", 301)]),
            Reopen,
            Wait(&[("a", 700)]),
            Acknowledge(Consumer::Uploader, 1000),
            Prune,
            Number,
            Shed(&[("b", 420), ("a", 720)]),
        ],
    }
    .prove();
}

/// The same while lines find no room: what was counted out stays counted, once.
#[test]
fn a_cut_forgets_or_doubles_what_found_no_room() {
    let (_parent, base) = state();
    fill(&mut bounded(&base));
    Scenario {
        name: "no room",
        base,
        steps: vec![
            Shed(&[("a", 150)]),
            Shed(&[("a", 400), ("b", 300)]),
            Wait(&[("b", 350)]),
            Number,
            Shed(&[("a", 500)]),
            Reopen,
            Shed(&[("c", 80), ("a", 600)]),
            Acknowledge(Consumer::Archiver, 400),
            Shed(&[("a", 620), ("b", 360)]),
            Acknowledge(Consumer::Archiver, 1000),
            Wait(&[("b", 500), ("c", 200)]),
        ],
    }
    .prove();
}
