//! `save`: what it says is durable is, and what it cannot vouch for it says.

use boundlane_tests::Home;
use boundlane_tests::gateway::{Gateway, Line, Settings};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Running, assert_all, assert_sound, causes, generations, numbered, numbers, recorded, run,
    sandbox,
};

const SAVE: [&str; 5] = ["save", "demo", "--json", "--pace", "50"];

/// What the archive alone has of the sandbox: the journal is taken away.
fn archived(home: &Home) -> usize {
    let files = walk(&home.state().join("archive"));
    assert!(!files.is_empty());
    let status = home.run(["status", "--json"]).ok().json();
    assert_eq!(
        status["journal"]["numbers"]["queued"], 1,
        "only `saved` waits: {status:#}"
    );
    files.len()
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(walk(&path)),
            false if path.extension().is_some_and(|end| end == "parquet") => found.push(path),
            false => {}
        }
    }
    found
}

/// Nobody follows: everything that is held is recorded, archived, and `saved` is written.
#[test]
fn a_saved_sandbox_is_not_whole() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        let id = sandbox(&gateway, "demo");
        gateway.publish("demo", (0..1500).map(numbered));
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["durable"], true, "{generation}");
        assert_eq!(saved["complete"], true, "{generation}: {saved}");
        assert_eq!(saved["records"], 1500, "{generation}");
        assert_eq!(saved["sandbox_id"], Value::from(id));
        assert_eq!(archived(&home), 1);
        gateway.delete("demo");
        let rows = recorded(&home, "demo");
        assert_all(&rows, 1500);
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert!(causes(&rows, "session").contains(&"saved"), "{generation}");
        assert_sound(&home);
    }
}

/// Lines that say the same at the same moment are all saved.
#[test]
fn the_first_of_equal_lines_passes_for_the_last() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let line = numbered(7).at(1_790_000_000_000);
        gateway.burst("demo", 1900, |_| line.clone());
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["records"], 1900, "{generation}");
        assert_sound(&home);
    }
}

/// Saving again adds nothing but its word.
#[test]
fn saving_again_writes_twice() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..100).map(numbered));
        run(&home, &gateway, SAVE).ok();
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["complete"], true, "{generation}: {saved}");
        assert_all(&recorded(&home, "demo"), 100);
        gateway.publish("demo", (100..200).map(numbered));
        run(&home, &gateway, SAVE).ok();
        assert_all(&recorded(&home, "demo"), 200);
        assert_sound(&home);
    }
}

/// While somebody follows at full speed: the journal has everything up to the mark.
#[test]
fn a_busy_sandbox_cannot_be_saved() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let mut forward = Running::forward(&home, &gateway, &["--all"]);
    gateway.wait_following("demo", 1);
    let mut save = None;
    let mut count = 0;
    loop {
        gateway.publish("demo", (count..count + 10).map(numbered));
        count += 10;
        gateway.wait_idle();
        if count == 3000 {
            let command = crate::support::command(&home, &gateway, SAVE);
            save = Some(Running::start(command));
        }
        if save.as_mut().is_some_and(Running::has_ended) {
            break;
        }
    }
    let mut save = save.unwrap();
    save.ended_with(0);
    let saved = save.rows().remove(0);
    assert!(saved["records"].as_u64().unwrap() >= 3000, "{saved}");
    forward.until_recorded(&home, "demo", count);
    forward.end();
    assert_all(&recorded(&home, "demo"), count);
    assert_sound(&home);
}

/// While somebody follows and all is quiet: the journal of whoever follows is waited for.
#[test]
fn a_followed_sandbox_is_saved_beside_its_follower() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..500).map(numbered));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["records"], 500, "{generation}");
        gateway.publish("demo", (500..700).map(numbered));
        forward.until_recorded(&home, "demo", 700);
        gateway.delete("demo");
        forward.until_said("ended");
        forward.end();
        let said = forward.said.join("\n");
        assert!(!said.contains("closed"), "{generation}: {said}");
        assert_all(&recorded(&home, "demo"), 700);
        run(&home, &gateway, SAVE).ok();
        assert_sound(&home);
    }
}

/// Whoever follows stands still: nothing is promised.
#[test]
fn a_follower_that_stands_still_is_trusted() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..50).map(numbered));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        forward.until_recorded(&home, "demo", 50);
        forward.signal(Signal::STOP);
        gateway.publish("demo", (50..60).map(numbered));
        let arguments = SAVE.iter().chain(&["--wait", "1s"]);
        let saved = run(&home, &gateway, arguments).ended_with(1);
        assert!(saved.stderr().contains("do not delete"), "{generation}");
        forward.signal(Signal::CONT);
        run(&home, &gateway, SAVE).ok();
        forward.end();
        assert_all(&recorded(&home, "demo"), 60);
    }
}

/// No gateway answers: that is told apart from a sandbox that is gone.
#[test]
fn a_gateway_that_is_down_passes_for_a_sandbox_that_is_gone() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    gateway.stop();
    run(&home, &gateway, SAVE).ended_with(3);
    assert!(!home.state().exists());
}

/// Gone already: well with its end recorded, and not without.
#[test]
fn a_sandbox_that_is_gone_passes_for_saved() {
    for (generation, settings) in generations() {
        for is_end_seen in [true, false] {
            let (home, gateway) = (Home::new(), Gateway::start(settings.clone()));
            sandbox(&gateway, "demo");
            gateway.publish("demo", (0..20).map(numbered));
            let mut forward = Running::forward(&home, &gateway, &["--all"]);
            forward.until_recorded(&home, "demo", 20);
            if is_end_seen {
                gateway.delete("demo");
                forward.until_said("ended");
                forward.end();
            } else {
                forward.end();
                gateway.delete("demo");
            }
            let code = if is_end_seen { 0 } else { 4 };
            let saved = run(&home, &gateway, SAVE).ended_with(code).json();
            assert_eq!(saved["gone"], true, "{generation}");
            assert_eq!(saved["complete"], is_end_seen, "{generation}");
        }
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        run(&home, &gateway, SAVE).ended_with(4);
        assert!(!home.state().exists(), "{generation}");
    }
}

/// What is missing is stated, and refused where nothing may be.
#[test]
fn a_gap_is_saved_as_complete() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.burst("demo", 2500, numbered);
        let arguments = SAVE.iter().chain(&["--require-complete"]);
        let saved = run(&home, &gateway, arguments).ended_with(4).json();
        assert_eq!(saved["durable"], true, "{generation}");
        assert_eq!(saved["gaps"], 1, "{generation}");
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["complete"], false, "{generation}");
        let rows = recorded(&home, "demo");
        assert_eq!(numbers(&rows), (500..2500).collect::<Vec<_>>());
        assert_eq!(causes(&rows, "gap"), ["history_unavailable"]);
    }
}

/// The gateway forgot everything: what is recorded is saved, and that more may have been said is too.
#[test]
fn a_gateway_that_forgot_everything_is_saved_as_complete() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..20).map(numbered));
        run(&home, &gateway, SAVE).ok();
        gateway.restart();
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["complete"], false, "{generation}: {saved}");
        assert_eq!(
            causes(&recorded(&home, "demo"), "gap").len(),
            1,
            "{generation}"
        );
        assert_sound(&home);
    }
}

/// A sandbox that said nothing is saved too.
#[test]
fn a_silent_sandbox_cannot_be_saved() {
    for (generation, mut settings) in generations() {
        settings.opening_lines = false;
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        gateway.create("demo");
        let saved = run(&home, &gateway, SAVE).ok().json();
        assert_eq!(saved["records"], 0, "{generation}");
        gateway.publish("demo", [Line::ocsf("NET:OPEN [INFO] ALLOWED x")]);
        run(&home, &gateway, SAVE).ok();
        assert_sound(&home);
    }
}

/// Whoever follows leaves the sandbox out: that it is not recorded is said, and nothing is promised.
#[test]
fn a_sandbox_that_a_follower_leaves_out_passes_for_saved() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    sandbox(&gateway, "other");
    let mut forward = Running::forward(&home, &gateway, &["--sandbox", "other"]);
    gateway.wait_following("other", 1);
    let arguments = SAVE.iter().chain(&["--wait", "1s"]);
    let saved = run(&home, &gateway, arguments).ended_with(1).stderr();
    assert!(saved.contains("do not delete the sandbox yet"), "{saved}");
    assert!(saved.contains("says who follows"), "{saved}");
    forward.end();
    run(&home, &gateway, SAVE).ok();
}
