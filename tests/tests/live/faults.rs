//! `forward` beside a gateway that refuses, drops and floods: what was published is recorded, or a gap
//! says where it was, and the state is told.

use boundlane_tests::Home;
use boundlane_tests::gateway::{Cut, Gateway, Line, Settings};

use crate::support::{
    Running, assert_all, assert_sound, causes, first_words, generations, numbered, numbers,
    recorded, run, sandbox,
};

/// Forty thousand lines at once: what the gateway still holds is recorded, and a gap states the rest.
#[test]
fn a_burst_takes_lines_with_it_unseen() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        gateway.publish("demo", (0..10).map(numbered));
        forward.until_recorded(&home, "demo", 10);
        gateway.burst("demo", 40_000, |n| numbered(n + 10));
        forward.until_recorded(&home, "demo", 2010);
        gateway.wait_idle();
        forward.end();
        let rows = recorded(&home, "demo");
        let found = numbers(&rows);
        let held: Vec<usize> = (38_010..40_010).collect();
        assert!(found.ends_with(&held), "{generation}: what is held is lost");
        assert!(found.is_sorted_by(|a, b| a < b), "{generation}");
        assert!(!causes(&rows, "gap").is_empty(), "{generation}");
        let first = rows.iter().position(|row| row["kind"] == "gap").unwrap();
        assert!(numbers(&rows[..first]).len() < found.len(), "{generation}");
        assert_sound(&home);
    }
}

/// A token that has run out, and a gateway that allows nothing: each is said once, and following goes on
/// by itself.
#[test]
fn a_refusal_ends_following_or_is_not_told() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        gateway.settings(|settings| settings.denied = Some("not for you".into()));
        gateway.cut(Cut::Close);
        forward.until_said("not for you");
        gateway.wait_calls(gateway.requests().len() + 20, |_| true);
        gateway.publish("demo", (0..10).map(numbered));
        gateway.settings(|settings| settings.denied = None);
        forward.until_recorded(&home, "demo", 10);
        gateway.settings(|settings| {
            settings.token = Some("t".into());
            settings.token_expired = true;
        });
        gateway.cut(Cut::Close);
        forward.until_said("who we are");
        gateway.publish("demo", (10..20).map(numbered));
        gateway.settings(|settings| settings.token = None);
        forward.until_recorded(&home, "demo", 20);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 20);
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        let mut said = forward.said.clone();
        said.dedup();
        assert_eq!(said, forward.said, "{generation}: said again");
    }
}

/// A message that is too large for any client is passed, and a gap says where it was.
#[test]
fn a_message_that_is_too_large_stops_everything() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        gateway.publish("demo", (0..5).map(numbered));
        forward.until_recorded(&home, "demo", 5);
        let large = Line::ocsf(format!("NET:OPEN {}", "x".repeat(17 << 20)));
        gateway.publish("demo", [large]);
        forward.until_said("too large");
        // What comes next is what the newest line is found by.
        gateway.publish("demo", [numbered(5)]);
        forward.until_recorded(&home, "demo", 6);
        gateway.publish("demo", (6..10).map(numbered));
        forward.until_recorded(&home, "demo", 10);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 10);
        assert_eq!(causes(&rows, "gap"), ["oversize"], "{generation}");
        assert_sound(&home);
    }
}

/// Cut, reset and restarted connections lose nothing that was still held.
#[test]
fn a_broken_connection_loses_or_repeats_lines() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        let cuts = [Cut::Close, Cut::Reset];
        for (round, cut) in cuts.iter().cycle().take(8).enumerate() {
            let first = round * 100;
            gateway.publish("demo", (first..first + 50).map(numbered));
            gateway.cut(*cut);
            gateway.publish("demo", (first + 50..first + 100).map(numbered));
        }
        forward.until_recorded(&home, "demo", 800);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 800);
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert_sound(&home);
    }
}

/// The gateway is replaced by one of the other generation: following goes on, with a gap.
#[test]
fn another_generation_is_not_followed() {
    for (generation, settings) in generations() {
        let other = match generation {
            "new" => Settings::old().version,
            _ => Settings::default().version,
        };
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        forward.until_recorded(&home, "demo", 10);
        gateway.stop();
        gateway.start_again(Some(&other));
        gateway.wait_following("demo", 1);
        gateway.publish("demo", [first_words()]);
        gateway.publish("demo", (10..20).map(numbered));
        forward.until_recorded(&home, "demo", 20);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, 20);
        assert_eq!(causes(&rows, "gap"), ["space_changed"], "{generation}");
        assert_sound(&home);
    }
}

/// `doctor` finds the gateway, its version and what it hides, whichever generation it is of.
#[test]
fn a_gateway_that_answers_is_not_found_by_doctor() {
    for (generation, settings) in generations() {
        let version = settings.version.clone();
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        let seen = run(&home, &gateway, ["doctor", "--json"]);
        let text = seen.stdout();
        assert!(
            text.contains(&version),
            "{generation}: {text}\n{}",
            seen.stderr()
        );
        assert!(seen.json().is_object(), "{generation}");
        assert!(!home.state().exists(), "{generation}");
        run(
            &home,
            &gateway,
            ["forward", "--all", "--once", "--pace", "50"],
        )
        .ok();
        let seen = run(&home, &gateway, ["doctor", "--json"]);
        assert_ne!(seen.code(), 1, "{generation}: {}", seen.stderr());
        gateway.stop();
        let seen = run(&home, &gateway, ["doctor", "--json"]).ended_with(3);
        assert!(seen.json().is_object(), "{generation}");
    }
}
