//! What `status` says of who follows.

use std::os::unix::fs::PermissionsExt as _;

use boundlane_tests::Home;
use boundlane_tests::gateway::{Cut, Gateway, Settings};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, numbered, sandbox};

fn status(home: &Home) -> Value {
    home.run(["status", "--json"]).ok().json()
}

/// While it follows, `status` has its facts; after its end none are left.
#[test]
fn nobody_knows_who_follows() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    for name in ["a", "b", "c"] {
        sandbox(&gateway, name);
    }
    let mut forward = Running::forward(&home, &gateway, &["--sandbox", "a", "--sandbox", "b"]);
    let told = forward.until("attached to both", || {
        let status = status(&home);
        (status["forwarder"]["attached"] == 2).then_some(status)
    });
    let of = &told["forwarder"];
    assert_eq!((&of["sandboxes"], &of["selected"]), (&3.into(), &2.into()));
    assert_eq!(of["gateway"]["reachable"], true);
    assert_eq!(of["gateway"]["endpoint"], gateway.url().as_str());
    assert_eq!(told["server"]["enrolled"], false);
    let screen = home.run(["status"]).ok().stdout();
    let line = format!(
        "forwarder  process {} follows 2 of 3 sandboxes (2 attached) since ",
        of["pid"]
    );
    assert!(screen.contains(&line), "{screen}");
    let file = home.state().join("forward.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    forward.end();
    assert!(!file.exists());
    assert_eq!(status(&home)["forwarder"]["running"], false);
    let screen = home.run(["status"]).ok().stdout();
    assert!(screen.contains("\nforwarder  not running\n"), "{screen}");
}

/// A killed process leaves its file: nobody takes its word.
#[test]
fn a_dead_process_is_taken_at_its_word() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let mut forward = Running::forward(&home, &gateway, &["--all"]);
    forward.until("attached", || {
        (status(&home)["forwarder"]["attached"] == 1).then_some(())
    });
    let pid = status(&home)["forwarder"]["pid"].clone();
    forward.signal(Signal::KILL);
    forward.until_killed();
    assert!(home.state().join("forward.json").exists());
    let left = status(&home);
    assert_eq!(left["forwarder"]["running"], false);
    assert_eq!(left["forwarder"]["gateway"], Value::Null);
    let note = format!("`forward.json` of process {pid} is ignored");
    assert_eq!(left["forwarder"]["note"], note.as_str());
    let mut forward = Running::forward(&home, &gateway, &["--all"]);
    forward.until("followed again", || {
        (status(&home)["forwarder"]["attached"] == 1).then_some(())
    });
    forward.end();
}

/// No gateway, or nothing selected of what it has: degraded, with the reason, and `--check` is 1.
#[test]
fn a_follower_of_nothing_is_healthy() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let mut forward = Running::forward(&home, &gateway, &["--selector", "team=none"]);
    let reason = |home: &Home, text: &str| {
        let status = status(home);
        let is_said = status["reasons"][0].as_str().unwrap().starts_with(text);
        (is_said && status["health"] == "degraded").then_some(())
    };
    let nothing = "following 0 of 1 sandboxes";
    forward.until("following nothing", || reason(&home, nothing));
    home.run(["status", "--check"]).ended_with(1);
    forward.end();
    home.run(["status", "--check"]).ok();
    let mut forward = Running::forward(&home, &gateway, &["--all"]);
    gateway.wait_following("demo", 1);
    gateway.publish("demo", (0..10).map(numbered));
    forward.until_recorded(&home, "demo", 10);
    gateway.stop();
    let down = "no gateway (not_running, for 0 minutes)";
    forward.until("without a gateway", || reason(&home, down));
    home.run(["status", "--check"]).ended_with(1);
    forward.end();
}

/// A sandbox that may not be read, and a gateway that does not let us in: both are said.
#[test]
fn a_closed_door_is_healthy() {
    let (home, gateway) = (Home::new(), Gateway::start(Settings::default()));
    sandbox(&gateway, "demo");
    let mut forward = Running::forward(&home, &gateway, &["--all"]);
    gateway.wait_following("demo", 1);
    gateway.settings(|settings| settings.denied = Some("no role".to_owned()));
    gateway.cut(Cut::Close);
    let told = forward.until("refused", || {
        let status = status(&home);
        (status["forwarder"]["refused"] == 1).then_some(status)
    });
    assert_eq!(told["health"], "degraded", "{told:#}");
    let trouble = &told["forwarder"]["gateway"]["trouble"];
    assert_eq!(trouble["why"], "permission_denied", "{told:#}");
    assert_eq!(trouble["not_allowed"], true);
    let reasons = told["reasons"].to_string();
    for reason in ["does not let us in (perm", "does not let us read 1 of"] {
        assert!(reasons.contains(reason), "{reasons}");
    }
    gateway.settings(|settings| settings.denied = None);
    forward.until("attached", || {
        let status = status(&home);
        let of = &status["forwarder"];
        let is_well = of["gateway"]["reachable"] == true && of["refused"] == 0;
        (is_well && of["attached"] == 1).then_some(())
    });
    forward.end();
}
