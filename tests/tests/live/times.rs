//! Times of lines decide nothing: which lines are new, is told by cursors and sequences alone.

use boundlane_tests::Home;
use boundlane_tests::gateway::{Cut, Gateway, now};

use crate::support::{
    Running, assert_all, assert_sound, causes, generations, numbered, numbers, recorded, sandbox,
};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// A line of tomorrow, and one of last year: what comes after either is new all the same.
#[test]
fn a_line_from_tomorrow_hides_what_comes_after_it() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        let today = now() / 1000;
        for (round, off) in [0, DAY_MS, 0, -365 * DAY_MS, 0].into_iter().enumerate() {
            let lines = (round * 20..round * 20 + 20).map(|n| numbered(n).at(today + off));
            gateway.publish("demo", lines);
            gateway.cut(Cut::Close);
        }
        forward.until_recorded(&home, "demo", 100);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 100);
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert_sound(&home);
    }
}

/// Fifteen hundred lines of one millisecond, over breaks and a new process. With cursors some are said twice in
/// the same words; without, a hand-off may not tell these apart, and says so.
#[test]
fn lines_of_one_millisecond_are_lost_or_repeated_at_a_break() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        let moment = now() / 1000;
        let times = |n: usize| 1 + usize::from(generation == "new" && n % 100 == 50);
        let said = |n: usize| std::iter::repeat_n(numbered(n).at(moment), times(n));
        let count = |lines: usize| (0..lines).map(times).sum();
        for first in (0..1500).step_by(300) {
            gateway.publish("demo", (first..first + 150).flat_map(said));
            gateway.wait_idle();
            gateway.cut(Cut::Reset);
            gateway.publish("demo", (first + 150..first + 300).flat_map(said));
            if first == 600 {
                forward.end();
                forward = Running::forward(&home, &gateway, &["--all"]);
            }
            forward.until_recorded(&home, "demo", count(first + 300));
        }
        forward.end();
        let rows = recorded(&home, "demo");
        let all = (0..1500).flat_map(|n| std::iter::repeat_n(n, times(n)));
        assert_eq!(numbers(&rows), all.collect::<Vec<_>>(), "{generation}");
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert_sound(&home);
    }
}
