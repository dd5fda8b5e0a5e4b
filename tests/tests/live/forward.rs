//! `forward`: how it begins, ends, and what it says of its state.

use std::collections::BTreeMap;
use std::time::Duration;

use boundlane_tests::Home;
use boundlane_tests::gateway::{Gateway, Settings};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Running, assert_all, assert_sound, causes, command, first_words, generations, numbered,
    recorded, run, sandbox,
};

const ONCE: [&str; 5] = ["forward", "--all", "--once", "--pace", "50"];

/// `--once` reads what there is of every sandbox and ends; again, it reads only what is new.
#[test]
fn reading_once_leaves_something_out_or_goes_on() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        for name in ["a", "b", "c"] {
            sandbox(&gateway, name);
            gateway.publish(name, (0..500).map(numbered));
        }
        run(&home, &gateway, ONCE).ok();
        run(&home, &gateway, ONCE).ok();
        for name in ["a", "b", "c"] {
            let rows = recorded(&home, name);
            assert_all(&rows, 500);
            assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        }
        assert_sound(&home);
    }
}

/// `--once` with no gateway says so; without the flag it is waited for.
#[test]
fn a_gateway_that_is_down_is_waited_for_once() {
    for (_, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.stop();
        run(&home, &gateway, ONCE).ended_with(3);
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        forward.until_said("trying again");
        gateway.start_again(None);
        gateway.wait_following("demo", 1);
        gateway.publish("demo", [first_words()]);
        gateway.publish("demo", (0..10).map(numbered));
        forward.until_recorded(&home, "demo", 10);
        forward.end();
    }
}

/// `--once`, and the gateway goes away while it is read: that is not waited for either.
#[test]
fn a_gateway_that_goes_is_waited_for_once() {
    for (_, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.gate(false);
        let mut forward = Running::forward(&home, &gateway, &["--all", "--once"]);
        gateway.wait_watch(|_| true);
        gateway.stop();
        forward.ended_with(3);
    }
}

/// A first signal lets everything that was read be committed; and it does not take long.
#[test]
fn a_signal_loses_what_was_read() {
    for (_, settings) in generations() {
        for signal in [Signal::TERM, Signal::INT] {
            let (home, gateway) = (Home::new(), Gateway::start(settings.clone()));
            sandbox(&gateway, "demo");
            let mut forward = Running::forward(&home, &gateway, &["--all"]);
            gateway.wait_following("demo", 1);
            for first in (0..3000).step_by(500) {
                gateway.publish("demo", (first..first + 500).map(numbered));
                gateway.wait_idle();
            }
            forward.signal(signal);
            forward.ended_within(Duration::from_secs(5), 0);
            let rows = recorded(&home, "demo");
            assert!(causes(&rows, "session").contains(&"detached"));
            run(&home, &gateway, ONCE).ok();
            let rows = recorded(&home, "demo");
            assert_eq!(causes(&rows, "gap"), [""; 0]);
            assert_all(&rows, 3000);
            assert_sound(&home);
        }
    }
}

/// A second process on the same state directory: told who holds it, and nothing is disturbed.
#[test]
fn a_second_follower_follows_too() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let mut forward = Running::forward(&home, &gateway, &["--all"]);
    gateway.wait_following("demo", 1);
    let second = run(&home, &gateway, ["forward", "--all"]).ended_with(3);
    assert!(
        second.stderr().contains("follow.lock"),
        "{}",
        second.stderr()
    );
    gateway.publish("demo", (0..10).map(numbered));
    forward.until_recorded(&home, "demo", 10);
    forward.end();
}

/// Nothing is selected: that is said in one line, once.
#[test]
fn a_selector_that_takes_nothing_is_silent() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    for name in ["a", "b", "c"] {
        sandbox(&gateway, name);
    }
    let mut forward = Running::forward(&home, &gateway, &[]);
    let line = "following 0 of 3 sandboxes (selector boundlane=1); --all follows the rest";
    assert_eq!(forward.until_said("following"), line);
    let labels = BTreeMap::from([("boundlane".to_owned(), "1".to_owned())]);
    gateway.wait_calls(20, |_| true);
    gateway.create_in("default", "d", &labels);
    gateway.wait_following("d", 1);
    forward.until_said("following 1 of 4 sandboxes");
    forward.end();
    let said = forward.said.iter().filter(|said| **said == line).count();
    assert_eq!(said, 1, "{:#?}", forward.said);
    assert_eq!(gateway.watches().len(), 1, "others are followed too");
}

/// Names and labels take what they name, and nothing else.
#[test]
fn a_selection_takes_another_sandbox() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    let labelled = |env: &str, team: &str| {
        let pairs = [("env", env), ("team", team)];
        pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).into()
    };
    gateway.create_in("default", "a", &labelled("prod", "x"));
    gateway.create_in("default", "b", &labelled("prod", "y"));
    gateway.create_in("default", "c", &labelled("test", "x"));
    let mut forward = Running::forward(&home, &gateway, &["--selector", "env=prod,team=x"]);
    forward.until_said("following 1 of 3 sandboxes (selector env=prod,team=x)");
    gateway.wait_following("a", 1);
    forward.end();
    let mut forward = Running::forward(&home, &gateway, &["--sandbox", "b", "--sandbox", "c"]);
    forward.until_said("following 2 of 3 sandboxes (named b, c)");
    gateway.wait_following("b", 1);
    gateway.wait_following("c", 1);
    forward.end();
    let mut forward = Running::forward(&home, &gateway, &["--sandbox", "nobody"]);
    forward.until_said("following 0 of 3 sandboxes (named nobody)");
    forward.end();
    run(&home, &gateway, ["forward", "--selector", "nothing"]).ended_with(2);
}

/// The new owner of a name is another stream, whose lines are its own.
#[test]
fn a_name_that_is_used_again_continues_the_old_sandbox() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        let first = sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        forward.until_recorded(&home, "demo", 10);
        gateway.delete("demo");
        let second = sandbox(&gateway, "demo");
        gateway.publish("demo", (10..30).map(numbered));
        forward.until_recorded(&home, "demo", 30);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 30);
        let of = |id: &str| {
            let is_its = |row: &&Value| row["sandbox_id"] == id && row["kind"] == "decision";
            rows.iter().filter(is_its).count()
        };
        assert_eq!((of(&first), of(&second)), (10, 20), "{generation}");
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
    }
}

/// Both generations bring the same records for the same lines.
#[test]
fn a_generation_shows_in_a_record() {
    let rows = generations().map(|(_, settings)| {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let texts =
            std::fs::read_to_string(boundlane_tests::repository("tests/tests/live/lines.txt"))
                .unwrap();
        let lines = texts.lines().zip(0..);
        gateway.publish(
            "demo",
            lines.map(|(text, n)| {
                boundlane_tests::gateway::Line::ocsf(text).at(1_790_000_000_000 + n)
            }),
        );
        run(&home, &gateway, ONCE).ok();
        let own = [
            "cursor",
            "observed",
            "stream",
            "sandbox_id",
            "journal",
            "seq",
        ];
        let mut rows = recorded(&home, "demo");
        rows.retain(|row| row["kind"] != "session");
        for row in &mut rows {
            let columns = row.as_object_mut().unwrap();
            own.iter().for_each(|column| drop(columns.remove(*column)));
        }
        assert_eq!(rows.len(), texts.lines().count());
        rows
    });
    assert_eq!(rows[0], rows[1]);
}

/// A second signal ends it at once, also while the journal cannot be written.
#[test]
fn a_second_signal_is_waited_out() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let mut forward = Running::start(command(&home, &gateway, ["forward", "--all"]));
    gateway.wait_following("demo", 1);
    forward.until_said("following `demo`");
    let blocker = rusqlite::Connection::open(home.state().join("journal.sqlite")).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    gateway.publish("demo", (0..10).map(numbered));
    gateway.wait_idle();
    forward.signal(Signal::TERM);
    forward.signal(Signal::INT);
    forward.ended_within(Duration::from_secs(3), 0);
    drop(blocker);
    run(&home, &gateway, ONCE).ok();
    assert_all(&recorded(&home, "demo"), 10);
}
