//! The wall clock is set while the program follows: with libfaketime, so `.ci/run` runs these by name.

use std::path::PathBuf;
use std::time::Duration;

use boundlane_tests::Home;
use boundlane_tests::gateway::{Call, Cut, Gateway, now};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Running, assert_all, assert_sound, causes, command, generations, numbered, recorded, sandbox,
};

/// Where distributions put it; `BOUNDLANE_FAKETIME` names another place.
const LIBRARIES: [&str; 3] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn library() -> PathBuf {
    let given = std::env::var_os("BOUNDLANE_FAKETIME").map(PathBuf::from);
    let known = || {
        LIBRARIES
            .iter()
            .map(PathBuf::from)
            .find(|path| path.exists())
    };
    given.or_else(known).expect("libfaketime is not installed")
}

/// A wall clock that can be set; the monotonic one stays as it is.
struct Clock(PathBuf);

impl Clock {
    fn new(home: &Home) -> Clock {
        let clock = Clock(home.path().join("clock"));
        clock.set(0);
        clock
    }

    /// So many seconds off.
    fn set(&self, seconds: i64) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, format!("{seconds:+}\n")).unwrap();
        std::fs::rename(&next, &self.0).unwrap();
    }

    fn forward(&self, home: &Home, gateway: &Gateway) -> Running {
        let mut forward = command(home, gateway, ["forward", "--pace", "50", "--all"]);
        forward
            .env("LD_PRELOAD", library())
            .env("FAKETIME_TIMESTAMP_FILE", &self.0)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1");
        Running::start(forward)
    }
}

fn is_watch(call: &Call) -> bool {
    matches!(call, Call::WatchSandbox(_))
}

/// How often it was tried to attach.
fn attachments(gateway: &Gateway) -> usize {
    gateway
        .requests()
        .iter()
        .filter(|call| is_watch(call))
        .count()
}

/// Waits until it was tried more than `before` times, and is followed.
fn until_proved_again(gateway: &Gateway, before: usize) {
    gateway.wait_calls(before + 1, is_watch);
    gateway.wait_following("demo", 1);
}

#[allow(clippy::disallowed_methods, reason = "a machine sleeps for a time")]
fn sleep(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

/// The ends of every entry that has two are in order.
#[track_caller]
fn assert_in_order(rows: &[Value]) {
    for row in rows {
        let (from, to) = (row["from"].as_str(), row["to"].as_str());
        assert!(from.is_none() || to.is_none() || from <= to, "{row:#}");
    }
}

/// How far from now the last session of this word was written, in seconds.
fn written(rows: &[Value], cause: &str) -> i64 {
    let row = rows.iter().rev().find(|row| row["cause"] == cause).unwrap();
    seconds(row["observed"].as_str().unwrap()) - now() / 1_000_000
}

/// Seconds since 1970 of an RFC 3339 time in UTC.
fn seconds(text: &str) -> i64 {
    let numbers: Vec<i64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect();
    let [year, month, day, hour, minute, second, ..] = numbers[..] else {
        panic!("{text}");
    };
    // Years that begin in March: leap days come last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    (days - 719_468) * DAY + hour * HOUR + minute * 60 + second
}

#[track_caller]
fn is_about(found: i64, wanted: i64) {
    assert!((found - wanted).abs() < 300, "{found} is not {wanted}");
}

/// One hour and two days, forward and back: every stream is proved again from its place, and nothing is
/// concluded.
#[test]
#[ignore = "needs libfaketime: `.ci/run` runs it"]
fn a_clock_that_is_set_loses_repeats_or_invents_something() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        let clock = Clock::new(&home);
        sandbox(&gateway, "demo");
        let mut forward = clock.forward(&home, &gateway);
        gateway.wait_following("demo", 1);
        let mut count = 0;
        let mut publish = |lines: usize| {
            gateway.publish("demo", (count..count + lines).map(numbered));
            count += lines;
            count
        };
        forward.until_recorded(&home, "demo", publish(50));
        for off in [HOUR, 0, -HOUR, 2 * DAY, -2 * DAY, 0] {
            let before = attachments(&gateway);
            clock.set(off);
            publish(20);
            until_proved_again(&gateway, before);
            forward.until_recorded(&home, "demo", publish(20));
            is_about(written(&recorded(&home, "demo"), "attached"), off);
            gateway.cut(Cut::Close);
            forward.until_recorded(&home, "demo", publish(20));
        }
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, publish(0));
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert_in_order(&rows);
        assert_sound(&home);
        home.run(["archive"]).ok();
        assert_all(&recorded(&home, "demo"), publish(0));
    }
}

/// A machine that sleeps: the process stands still while lines come, and the clock is hours on.
#[test]
#[ignore = "needs libfaketime: `.ci/run` runs it"]
fn a_machine_that_slept_loses_or_repeats_what_came_meanwhile() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        let clock = Clock::new(&home);
        sandbox(&gateway, "demo");
        let mut forward = clock.forward(&home, &gateway);
        gateway.wait_following("demo", 1);
        gateway.publish("demo", (0..50).map(numbered));
        forward.until_recorded(&home, "demo", 50);
        let before = attachments(&gateway);
        forward.signal(Signal::STOP);
        gateway.publish("demo", (50..150).map(numbered));
        sleep(2);
        clock.set(8 * HOUR);
        forward.signal(Signal::CONT);
        until_proved_again(&gateway, before);
        gateway.publish("demo", (150..200).map(numbered));
        forward.until_recorded(&home, "demo", 200);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 200);
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert_in_order(&rows);
        assert_sound(&home);
    }
}

/// The clock is two days back when the gateway starts anew, for who goes on and for who begins again from a
/// place of the day after tomorrow: there is a gap, and its ends are in order.
#[test]
#[ignore = "needs libfaketime: `.ci/run` runs it"]
fn a_gap_across_a_clock_that_was_set_back_ends_before_it_begins() {
    for (generation, settings) in generations() {
        for is_new_process in [false, true] {
            let (home, gateway) = (Home::new(), Gateway::start(settings.clone()));
            let clock = Clock::new(&home);
            clock.set(2 * DAY);
            sandbox(&gateway, "demo");
            let mut forward = clock.forward(&home, &gateway);
            gateway.wait_following("demo", 1);
            gateway.publish("demo", (0..25).map(numbered));
            forward.until_recorded(&home, "demo", 25);
            // Found whole meanwhile, which the next lines take along.
            sleep(1);
            gateway.publish("demo", (25..50).map(numbered));
            forward.until_recorded(&home, "demo", 50);
            if is_new_process {
                forward.end();
            }
            gateway.stop();
            clock.set(0);
            gateway.start_again(None);
            if is_new_process {
                forward = clock.forward(&home, &gateway);
            }
            gateway.wait_following("demo", 1);
            gateway.publish("demo", (50..100).map(numbered));
            forward.until_recorded(&home, "demo", 100);
            forward.end();
            let rows = recorded(&home, "demo");
            assert_all(&rows, 100);
            assert_eq!(causes(&rows, "gap"), ["space_changed"], "{generation}");
            assert_in_order(&rows);
            let gap = rows.iter().find(|row| row["kind"] == "gap").unwrap();
            assert!(gap["from"].is_string(), "{gap:#}");
            assert!(gap["evidence"].to_string().contains("went back"), "{gap:#}");
            assert_sound(&home);
        }
    }
}
