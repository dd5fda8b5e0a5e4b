//! What is taken away, and what never is.

use std::ops::ControlFlow;

use boundlane_record::{Micros, Seq, TreeSize};
use boundlane_store::{
    AppendError, Consumer, Found, Journal, Limits, Prune, PruneTerms, Select, StateDir, Totals,
};

use crate::feed::{assert_sound, open, part, reader, state};

const DAY: i64 = 24 * 3600 * 1_000_000;

/// `items` items of 40 lines; the journal's time is that of its lines, milliseconds after 1970.
fn filled(dir: &StateDir, items: u64) -> Journal {
    let mut journal = open(dir);
    for item in 0..items {
        let version = (item > 0).then_some(item);
        let part = part("a", item * 36..item * 36 + 36, version);
        journal.append(&[part.item()]).unwrap();
    }
    journal
}

fn terms(now: i64) -> PruneTerms {
    PruneTerms {
        now: Micros(now),
        query_micros_max: 0,
        boot: None,
        receipted: None,
    }
}

fn keep(journal: &mut Journal, age_seconds: u64, bytes: u64) {
    let limits = Limits {
        kept_age_seconds_max: age_seconds,
        kept_stored_bytes_max: bytes,
        ..Limits::default()
    };
    journal.set_limits(&limits).unwrap();
}

fn acknowledge_all(journal: &mut Journal, now: i64) -> Seq {
    let size = Seq(journal.head().unwrap().size.0);
    journal
        .acknowledge(Consumer::Archiver, size, Micros(now))
        .unwrap();
    size
}

/// Prunes until it is not due. Through which number.
fn prune_all(journal: &mut Journal, terms: &PruneTerms) -> u64 {
    // The first look notes how far the archive is, the second that nobody queries it here any more.
    journal.prune(terms).unwrap();
    while let Prune::Done { .. } = journal.prune(terms).unwrap() {}
    journal.head().unwrap().pruned.0
}

fn assert_l4(totals: &Totals) {
    assert_eq!(
        totals.size.0,
        totals.pruned + totals.acknowledged + totals.queued
    );
}

/// What was pruned is stated, the tree goes on, and everything else is as before.
#[test]
fn a_prune_breaks_the_tree_or_is_not_stated() {
    let (_parent, dir) = state();
    let mut journal = filled(&dir, 100);
    let size = acknowledge_all(&mut journal, 1);
    let edges: Vec<_> = [1, 256, 700, size.0]
        .into_iter()
        .map(|size| (size, reader(&dir).edge_at(TreeSize(size)).unwrap().unwrap()))
        .collect();
    keep(&mut journal, 1, 1 << 30);
    let pruned = prune_all(&mut journal, &terms(DAY));
    assert_eq!(pruned, size.0);
    assert_l4(&reader(&dir).totals().unwrap());
    assert_sound(&dir);
    let mut seen = Vec::new();
    reader(&dir)
        .each_entry(Select::all(), |found| {
            seen.push(match found {
                Found::Pruned { first, last } => format!("pruned {first} to {last}"),
                Found::Entry(seq, entry) => format!("{seq} {}", String::from_utf8_lossy(entry)),
                Found::Damaged(damage) => format!("{damage:?}"),
            });
            ControlFlow::<()>::Continue(())
        })
        .unwrap();
    assert!(seen[0].contains(r#""cause":"pruned""#), "{seen:?}");
    assert!(
        seen[0].contains(&format!(r#"\"through\":{size}"#)),
        "{seen:?}"
    );
    drop(journal);
    // The start checks the tree from the prune on; whole subtrees can be compared for ever.
    let mut journal = open(&dir);
    for (size, edge) in edges {
        let kept = reader(&dir).edge_at(TreeSize(size)).unwrap();
        assert!(size % 256 != 0 || kept.is_some(), "{size}");
        assert!(kept.is_none_or(|kept| kept == edge), "{size}");
    }
    let version = journal.stream("a").unwrap().unwrap().version;
    journal
        .append(&[part("a", 9000..9030, Some(version)).item()])
        .unwrap();
    assert_sound(&dir);
}

/// A consumer that comes new cannot begin before what is gone.
#[test]
fn a_new_consumer_is_promised_what_is_pruned() {
    let (_parent, dir) = state();
    let mut journal = filled(&dir, 30);
    acknowledge_all(&mut journal, 1);
    keep(&mut journal, 1, 1);
    let pruned = prune_all(&mut journal, &terms(DAY));
    let behind = journal.acknowledge(Consumer::Uploader, Seq(pruned - 1), Micros(2));
    assert!(
        matches!(behind, Err(AppendError::Pruned { .. })),
        "{behind:?}"
    );
    assert_sound(&dir);
    journal
        .acknowledge(Consumer::Uploader, Seq(pruned), Micros(2))
        .unwrap();
    assert_sound(&dir);
}

/// Nothing goes that a consumer has not taken, whatever its age.
#[test]
fn an_entry_that_waits_is_pruned() {
    let (_parent, dir) = state();
    let mut journal = filled(&dir, 30);
    keep(&mut journal, 1, 1);
    assert_eq!(prune_all(&mut journal, &terms(DAY)), 0);
    let half = Seq(journal.head().unwrap().size.0 / 2);
    journal
        .acknowledge(Consumer::Archiver, half, Micros(1))
        .unwrap();
    let pruned = prune_all(&mut journal, &terms(DAY));
    assert!(pruned > 0 && pruned <= half.0, "{pruned} of {half}");
    acknowledge_all(&mut journal, 2);
    let receipted = PruneTerms {
        receipted: Some(TreeSize(half.0 + 40)),
        ..terms(DAY)
    };
    let pruned = prune_all(&mut journal, &receipted);
    assert!(
        pruned > half.0 && pruned <= half.0 + 40,
        "a receipt is held for less"
    );
    assert_sound(&dir);
}

/// The oldest go first, and only as many as are too much.
#[test]
fn more_is_pruned_than_the_bytes_ask_for() {
    let (_parent, dir) = state();
    let mut journal = filled(&dir, 60);
    acknowledge_all(&mut journal, 1);
    let stored = reader(&dir).totals().unwrap().stored_bytes;
    keep(&mut journal, 1_000_000, stored / 3);
    let pruned = prune_all(&mut journal, &terms(DAY));
    let totals = reader(&dir).totals().unwrap();
    let kept = totals.stored_bytes - totals.waiting.all().stored_bytes;
    assert!(pruned > 0);
    assert!(
        kept <= stored / 3 && kept > stored / 4,
        "{kept} of {stored}"
    );
    assert_l4(&totals);
    assert_sound(&dir);
}

/// A query that began before the archive had an entry finds it here.
#[test]
fn an_entry_goes_while_a_query_may_still_read_it() {
    let (_parent, dir) = state();
    let mut journal = filled(&dir, 30);
    keep(&mut journal, 1, 1);
    acknowledge_all(&mut journal, DAY);
    let at = |now| PruneTerms {
        query_micros_max: 600,
        ..terms(now)
    };
    assert_eq!(journal.prune(&at(DAY)).unwrap(), Prune::NotDue);
    assert_eq!(journal.prune(&at(DAY + 599)).unwrap(), Prune::NotDue);
    let done = journal.prune(&at(DAY + 600)).unwrap();
    assert!(
        matches!(done, Prune::Done { first: Seq(1), .. }),
        "{done:?}"
    );
}

/// A clock that says something else than an hour ago of when the machine began says nothing of age.
#[test]
fn a_clock_that_jumped_ahead_empties_the_journal() {
    let (_parent, dir) = state();
    let mut journal = filled(&dir, 30);
    keep(&mut journal, 7 * 24 * 3600, 1 << 30);
    acknowledge_all(&mut journal, 1);
    let boot = |id: &str, moment: i64, now: i64| PruneTerms {
        boot: Some((id.into(), Micros(moment))),
        ..terms(now)
    };
    assert_eq!(journal.prune(&boot("b1", 0, DAY)).unwrap(), Prune::NotDue);
    let stepped = boot("b1", 3000 * DAY, 3001 * DAY);
    assert_eq!(journal.prune(&stepped).unwrap(), Prune::ClockStepped);
    let back = boot("b1", -2 * DAY, -DAY);
    assert_eq!(journal.prune(&back).unwrap(), Prune::ClockStepped);
    assert_eq!(journal.head().unwrap().pruned, Seq(0));
    // The same clock for eight days, or after another start of the machine, is believed.
    assert!(prune_all(&mut journal, &boot("b1", 5, 9 * DAY)) > 0);
    assert_eq!(
        journal.prune(&boot("b2", 3000 * DAY, 3001 * DAY)).unwrap(),
        Prune::NotDue
    );
}
