//! `log` of a sandbox that lives: what is recorded, then what the gateway holds.

use boundlane_tests::Home;
use boundlane_tests::gateway::Gateway;

use crate::support::{
    Running, assert_all, causes, command, generations, numbered, numbers, recorded, run, sandbox,
};

/// What only the gateway holds is shown, and no state directory appears.
#[test]
fn a_look_at_the_gateway_leaves_something_behind() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..300).map(numbered));
        let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl"]).ok();
        assert_all(&shown.json_lines(), 300);
        assert_eq!(causes(&shown.json_lines(), "gap"), [""; 0], "{generation}");
        assert!(shown.stderr().contains("nothing of it is recorded"));
        assert!(!home.state().exists(), "{generation}");
    }
}

/// What is recorded comes first and what the gateway holds behind it, each line once; nothing is
/// written.
#[test]
fn what_the_gateway_holds_is_shown_twice_or_not_at_all() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..50).map(numbered));
        run(
            &home,
            &gateway,
            ["forward", "--all", "--once", "--pace", "50"],
        )
        .ok();
        let before = recorded(&home, "demo");
        assert_all(&before, 50);
        gateway.publish("demo", (50..120).map(numbered));
        let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl"]).ok();
        assert_all(&shown.json_lines(), 120);
        assert_eq!(causes(&shown.json_lines(), "gap"), [""; 0], "{generation}");
        assert_eq!(recorded(&home, "demo"), before, "{generation}");
    }
}

/// The last rows are counted over the record and the gateway together.
#[test]
fn the_last_rows_are_those_of_one_source() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        run(
            &home,
            &gateway,
            ["forward", "--all", "--once", "--pace", "50"],
        )
        .ok();
        gateway.publish("demo", (10..15).map(numbered));
        for (last, first) in [("3", 12), ("5", 10), ("8", 7)] {
            let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl", "-n", last]).ok();
            let wanted: Vec<usize> = (first..15).collect();
            assert_eq!(
                numbers(&shown.json_lines()),
                wanted,
                "{generation} -n {last}"
            );
        }
    }
}

/// Filters hold for what the gateway holds as well.
#[test]
fn a_filter_does_not_reach_what_the_gateway_holds() {
    let (home, gateway) = (Home::new(), Gateway::start(Default::default()));
    sandbox(&gateway, "demo");
    gateway.publish("demo", (0..20).map(numbered));
    let arguments = ["log", "demo", "-o", "jsonl", "--host", "h7.*"];
    let shown = run(&home, &gateway, arguments).ok();
    assert_eq!(numbers(&shown.json_lines()), [7]);
}

/// More was said than the gateway holds: that something is missing is a row where it is missing.
#[test]
fn what_fell_out_of_the_buffer_is_not_mentioned() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        run(
            &home,
            &gateway,
            ["forward", "--all", "--once", "--pace", "50"],
        )
        .ok();
        gateway.burst("demo", 2500, |n| numbered(n + 10));
        let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl"]).ok();
        let rows = shown.json_lines();
        let gap = rows.iter().position(|row| row["kind"] == "gap").unwrap();
        assert_eq!(numbers(&rows[..gap]), (0..10).collect::<Vec<_>>());
        assert_eq!(numbers(&rows[gap..]), (510..2510).collect::<Vec<_>>());
        assert_eq!(causes(&rows, "gap"), ["evicted"], "{generation}");
    }
}

/// A gateway that started anew holds nothing: that is a gap, though no line follows it.
#[test]
fn a_gateway_that_forgot_everything_looks_whole() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        run(
            &home,
            &gateway,
            ["forward", "--all", "--once", "--pace", "50"],
        )
        .ok();
        gateway.restart();
        let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl"]).ok();
        assert_eq!(causes(&shown.json_lines(), "gap").len(), 1, "{generation}");
    }
}

/// While somebody follows, the journal is asked and the gateway is left alone.
#[test]
fn a_followed_sandbox_is_read_a_second_time() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..50).map(numbered));
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        forward.until_recorded(&home, "demo", 50);
        let watches = gateway.watches().len();
        let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl"]).ok();
        assert_all(&shown.json_lines(), 50);
        assert_eq!(gateway.watches().len(), watches, "{generation}");
        forward.end();
    }
}

/// Lines that come while the gateway is read do not keep the command from ending.
#[test]
fn a_busy_sandbox_is_read_for_ever() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut log = None;
        let arguments = ["log", "demo", "-o", "jsonl"];
        for number in 0.. {
            gateway.publish("demo", [numbered(number)]);
            if number == 2000 {
                log = Some(Running::start(command(&home, &gateway, arguments)));
            }
            if log.as_mut().is_some_and(Running::has_ended) {
                break;
            }
            assert!(number < 5_000_000, "{generation}: does not end");
        }
        let mut log = log.unwrap();
        log.ended_with(0);
        let found = numbers(&log.rows());
        assert!(found.is_sorted());
        assert!(found.len() >= 2000);
    }
}

/// A gateway that is not there is no reason to hide what is recorded.
#[test]
fn a_gateway_that_is_down_hides_the_record() {
    let (home, gateway) = (Home::new(), Gateway::start(Default::default()));
    sandbox(&gateway, "demo");
    gateway.publish("demo", (0..10).map(numbered));
    run(
        &home,
        &gateway,
        ["forward", "--all", "--once", "--pace", "50"],
    )
    .ok();
    gateway.stop();
    let shown = run(&home, &gateway, ["log", "demo", "-o", "jsonl"]).ok();
    assert_all(&shown.json_lines(), 10);
    assert!(
        shown
            .stderr()
            .contains("what the gateway holds is not shown")
    );
}

/// A gateway that goes silent or away in the middle: the command ends, and says that this is not all.
#[test]
fn a_gateway_that_goes_away_is_waited_for() {
    for (_, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..10).map(numbered));
        gateway.gate(false);
        let arguments = ["log", "demo", "-o", "jsonl"];
        let mut log = Running::start(command(&home, &gateway, arguments));
        gateway.wait_watch(|_| true);
        gateway.stop();
        log.ended_with(0);
        let said = log.said.join("\n");
        assert!(said.contains("not all that the gateway holds"), "{said}");
    }
}
