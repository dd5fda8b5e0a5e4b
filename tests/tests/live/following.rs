//! `log -f`: by itself and through the journal.

use std::time::Duration;

use boundlane_tests::Home;
use boundlane_tests::gateway::{Cut, Gateway};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Running, assert_all, causes, first_words, generations, numbered, recorded, run, sandbox,
};

const LINES: usize = 5000;

fn is_decision(row: &Value) -> bool {
    row["kind"] == "decision"
}

/// Lines are published while the history is read, as fast as a watch takes them.
fn publish_all(gateway: &Gateway, from: usize) {
    for first in (from..LINES).step_by(100) {
        gateway.publish("demo", (first..first + 100).map(numbered));
        gateway.wait_idle();
    }
}

/// Following itself: what was held, what was recorded and what comes are one sequence, each row printed
/// when it comes.
#[test]
fn history_meets_what_follows_with_a_hole_or_a_repeat() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..200).map(numbered));
        run(
            &home,
            &gateway,
            ["forward", "--all", "--once", "--pace", "50"],
        )
        .ok();
        gateway.publish("demo", (200..400).map(numbered));
        let mut log = Running::log(&home, &gateway, "demo");
        gateway.wait_following("demo", 1);
        publish_all(&gateway, 400);
        log.until_rows(LINES, is_decision);
        gateway.publish("demo", [numbered(LINES)]);
        log.until_rows(LINES + 1, is_decision);
        assert_all(&log.rows(), LINES + 1);
        assert_eq!(causes(&log.rows(), "gap"), [""; 0], "{generation}");
        log.signal(Signal::INT);
        log.ended_with(130);
        assert_all(&recorded(&home, "demo"), 200);
    }
}

/// The same through the journal of whoever follows.
#[test]
fn the_journal_hands_on_a_hole_or_a_repeat() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..200).map(numbered));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        let mut log = Running::log(&home, &gateway, "demo");
        publish_all(&gateway, 200);
        log.until_rows(LINES, is_decision);
        assert_all(&log.rows(), LINES);
        assert_eq!(causes(&log.rows(), "gap"), [""; 0], "{generation}");
        let watches = gateway.watches();
        let open = watches.iter().filter(|watch| watch.is_open()).count();
        assert_eq!(open, 1, "{generation}: the gateway is read twice");
        log.signal(Signal::INT);
        log.ended_with(130);
        forward.end();
    }
}

/// Faster than any watch takes them: whatever is not printed once, a gap admits.
#[test]
fn a_flood_is_followed_with_a_hole() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut log = Running::log(&home, &gateway, "demo");
        gateway.wait_following("demo", 1);
        gateway.publish("demo", (0..20_000).map(numbered));
        let last = |row: &Value| row["host"] == "h19999.example.net";
        log.until_rows(1, last);
        let rows = log.rows();
        let mut next = 0;
        let mut is_behind_gap = false;
        for row in &rows {
            is_behind_gap |= row["kind"] == "gap";
            for number in crate::support::numbers([row]) {
                let is_told = std::mem::take(&mut is_behind_gap);
                assert!(number >= next, "{generation}: {number} is repeated");
                assert!(
                    is_told || number == next,
                    "{generation}: hole before {number}"
                );
                next = number + 1;
            }
        }
    }
}

/// The sandbox is deleted while it is followed: that is the end, and said to be.
#[test]
fn a_deleted_sandbox_is_followed_for_ever() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        for is_forwarded in [false, true] {
            sandbox(&gateway, "demo");
            gateway.publish("demo", (0..20).map(numbered));
            let forward = is_forwarded.then(|| Running::forward(&home, &gateway, &["--all"]));
            gateway.wait_following("demo", usize::from(is_forwarded));
            let mut log = Running::log(&home, &gateway, "demo");
            log.until_rows(20, is_decision);
            gateway.publish("demo", [numbered(20)]);
            log.until_rows(21, is_decision);
            gateway.delete("demo");
            log.ended_with(0);
            assert_all(&log.rows(), 21);
            let said = log.said.join("\n");
            assert!(
                said.contains("ended"),
                "{generation} {is_forwarded}: {said}"
            );
            if let Some(mut forward) = forward {
                forward.end();
            }
        }
    }
}

/// A sandbox that was deleted before is printed, and nothing is waited for, whether somebody follows or
/// not and whether its end was seen or not.
#[test]
fn a_finished_sandbox_is_waited_for() {
    for (generation, settings) in generations() {
        for is_end_seen in [true, false] {
            let (home, gateway) = (Home::new(), Gateway::start(settings.clone()));
            sandbox(&gateway, "demo");
            gateway.publish("demo", (0..20).map(numbered));
            let mut forward = Running::forward(&home, &gateway, &["--all"]);
            forward.until_recorded(&home, "demo", 20);
            match is_end_seen {
                true => {
                    gateway.delete("demo");
                    forward.until_said("ended");
                    forward.end();
                }
                false => {
                    forward.end();
                    gateway.delete("demo");
                }
            }
            let mut log = Running::log(&home, &gateway, "demo");
            log.ended_with(0);
            assert_all(&log.rows(), 20);
            let said = log.said.join("\n");
            assert!(said.contains("ended"), "{generation} {is_end_seen}: {said}");
        }
    }
}

/// It goes while the gateway cannot be reached, so its end is not said: that is an end all the same.
#[test]
fn a_sandbox_that_went_unseen_is_followed_for_ever() {
    for (generation, settings) in generations() {
        for is_forwarded in [false, true] {
            let (home, gateway) = (Home::new(), Gateway::start(settings.clone()));
            sandbox(&gateway, "demo");
            gateway.publish("demo", (0..20).map(numbered));
            let forward = is_forwarded.then(|| Running::forward(&home, &gateway, &["--all"]));
            gateway.wait_following("demo", usize::from(is_forwarded));
            let mut log = Running::log(&home, &gateway, "demo");
            log.until_rows(20, is_decision);
            gateway.refuse(true);
            gateway.cut(Cut::Close);
            gateway.delete("demo");
            gateway.refuse(false);
            log.ended_with(0);
            let said = log.said.join("\n");
            assert!(said.contains("may be missing") || is_forwarded, "{said}");
            let gaps = causes(&log.rows(), "gap").len();
            assert_eq!(gaps, 1, "{generation} {is_forwarded}: {said}");
            if let Some(mut forward) = forward {
                forward.end();
            }
        }
    }
}

/// A sandbox that comes after the command began to wait for it is followed.
#[test]
fn a_sandbox_that_comes_later_is_not_followed() {
    for (_, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        forward.until_said("following 0 of 0 sandboxes");
        let mut log = Running::log(&home, &gateway, "demo");
        log.until_said("nothing is recorded for `demo`; waiting for it");
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..20).map(numbered));
        log.until_rows(20, is_decision);
        forward.end();
    }
}

/// The gateway starts anew in between: a gap says so, and following goes on.
#[test]
fn a_restart_ends_following_or_goes_unseen() {
    for (generation, settings) in generations() {
        for is_forwarded in [false, true] {
            let (home, gateway) = (Home::new(), Gateway::start(settings.clone()));
            sandbox(&gateway, "demo");
            gateway.publish("demo", (0..20).map(numbered));
            let forward = is_forwarded.then(|| Running::forward(&home, &gateway, &["--all"]));
            gateway.wait_following("demo", usize::from(is_forwarded));
            let mut log = Running::log(&home, &gateway, "demo");
            log.until_rows(20, is_decision);
            gateway.wait_following("demo", 1);
            gateway.restart();
            gateway.wait_following("demo", 1);
            gateway.publish("demo", [first_words()]);
            gateway.publish("demo", (20..40).map(numbered));
            log.until_rows(40, is_decision);
            let rows = log.rows();
            assert_all(&rows, 40);
            let gaps: Vec<usize> = (0..rows.len())
                .filter(|at| rows[*at]["kind"] == "gap")
                .collect();
            assert_eq!(gaps.len(), 1, "{generation} {is_forwarded}");
            let before = crate::support::numbers(&rows[..gaps[0]]);
            assert_eq!(before.len(), 20, "{generation} {is_forwarded}");
            if let Some(mut forward) = forward {
                forward.end();
            }
        }
    }
}

/// A reader that goes away ends the command quietly, at the next row.
#[test]
fn a_reader_that_left_is_written_to() {
    let (home, gateway) = (Home::new(), Gateway::start(Default::default()));
    sandbox(&gateway, "demo");
    let mut command = crate::support::command(&home, &gateway, ["log", "demo", "-f"]);
    let mut child = command.spawn().unwrap();
    gateway.wait_following("demo", 1);
    drop(child.stdout.take());
    gateway.publish("demo", (0..20).map(numbered));
    let (ending, ended) = std::sync::mpsc::channel();
    let pid = rustix::process::Pid::from_child(&child);
    std::thread::spawn(move || ending.send(child.wait_with_output().unwrap()));
    let output = ended.recv_timeout(Duration::from_secs(30));
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let output = output.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr)
            .matches("panic")
            .count(),
        0
    );
    assert!(output.status.success(), "{output:?}");
}
