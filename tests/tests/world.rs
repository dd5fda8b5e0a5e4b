//! For all seeds: whatever happens to the gateway and to the forwarder, each published line is in the
//! journal once, or a gap holds it.

use std::time::Duration;

use boundlane_tests::world::{Amount, tour};

/// A number in the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("not a number"))
}

#[test]
fn every_line_is_stored_once_or_a_gap_holds_it() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (first, amount, workers) = match number("BOUNDLANE_SEED") {
        Some(seed) => (seed, Amount::Seeds(1), 1),
        None => match number("BOUNDLANE_WORLD_SEEDS") {
            Some(count) => (0, Amount::Seeds(count), cores),
            None => {
                let seconds = number("BOUNDLANE_WORLD_SECONDS").unwrap_or(20);
                (0, Amount::For(Duration::from_secs(seconds)), cores)
            }
        },
    };
    let tour = tour(first, amount, workers);
    println!("seeds run: {}", tour.seeds);
    println!(
        "lines stored: {}, held by gaps: {}, not owed: {}",
        tour.total.stored, tour.total.covered, tour.total.excused
    );
    assert!(tour.failures.is_empty(), "{}", tour.failures.join("\n\n"));
}
