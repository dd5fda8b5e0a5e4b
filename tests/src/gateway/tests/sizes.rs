//! Defaults and limits, and that filters come after the cut.

use super::*;
use crate::gateway::{PlatformEvent, WATCH_QUEUE_MESSAGES_MAX};

fn last_lines(
    client: &Client,
    lines: u32,
    sources: &[&str],
    min_level: &str,
) -> (Vec<String>, u32) {
    let request = new::openshell::v1::GetSandboxLogsRequest {
        sandbox: "demo".into(),
        lines,
        sources: sources.iter().map(ToString::to_string).collect(),
        min_level: min_level.into(),
        ..new::openshell::v1::GetSandboxLogsRequest::default()
    };
    let answer = client.run(client.new_api().get_sandbox_logs(request));
    let answer = answer.unwrap().into_inner();
    let texts = answer.logs.into_iter().map(|line| line.message).collect();
    (texts, answer.buffer_total)
}

#[test]
fn two_thousand_lines_are_kept_and_zero_asks_for_two_hundred() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    gateway.burst("demo", 2_100, line);
    let client = Client::of(&gateway);
    let whole = client.watch(NewWatch {
        log_tail_lines: 5_000,
        ..logs_of("demo")
    });
    assert_eq!(whole.texts(2_001)[1..], names(100..2_100));
    let shallow = client.watch(NewWatch {
        log_tail_lines: 0,
        ..logs_of("demo")
    });
    assert_eq!(shallow.texts(201)[1..], names(1_900..2_100));
    assert!(shallow.is_silent());
    let (logs, total) = last_lines(&client, 0, &[], "");
    assert_eq!((logs.len(), total), (2_000, 2_000));
    assert_eq!(last_lines(&client, 3, &[], ""), (names(2_097..2_100), 3));
}

#[test]
fn fifty_events_are_kept_and_zero_asks_for_none() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let event = |n| PlatformEvent::new("Pulled", format!("line {n}"));
    gateway.publish_events("demo", (0..60).map(event));
    let client = Client::of(&gateway);
    let request = NewWatch {
        sandbox: "demo".into(),
        follow_events: true,
        ..NewWatch::default()
    };
    let none = client.watch(request.clone());
    assert_eq!(none.next(), Said::Sandbox);
    assert!(none.is_silent());
    let all = client.watch(NewWatch {
        event_tail: 1_000,
        ..request
    });
    assert_eq!(all.texts(51)[1..], names(10..60));
}

#[test]
fn the_queue_of_a_watch_holds_two_hundred_and_fifty_six() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch(logs_of("demo"));
    assert_eq!(watch.next(), Said::Sandbox);
    gateway.wait_following("demo", 1);
    gateway.stall("demo", true);
    gateway.publish("demo", lines(0..400));
    // One more is in the hands of the watch.
    let view = gateway.wait_watch(|view| view.queued > WATCH_QUEUE_MESSAGES_MAX);
    assert_eq!(view.queued, 257);
    gateway.stall("demo", false);
    assert_eq!(watch.texts(400), names(0..400));
}

#[test]
fn filters_come_after_the_cut() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    gateway.publish("demo", lines(0..2));
    gateway.publish("demo", [line(2).from("gateway"), line(3).from("")]);
    gateway.publish("demo", [Line::tracing("WARN", "a::b", "line 4")]);
    let client = Client::of(&gateway);
    let of_gateway = last_lines(&client, 3, &["gateway"], "");
    assert_eq!(of_gateway, (names(2..4), 3));
    let of_sandbox = last_lines(&client, 3, &["sandbox"], "");
    assert_eq!(of_sandbox, (names(4..5), 3));
    // OCSF ranks as INFO: a filter of WARN hides denials.
    assert_eq!(last_lines(&client, 0, &[], "warn").0, names(4..5));
    assert_eq!(last_lines(&client, 0, &[], "info").0, names(0..5));
}

#[test]
fn a_push_keeps_its_first_hundred_lines() {
    let gateway = quiet(Settings::default());
    let id = gateway.create("demo");
    assert_eq!(gateway.push("demo", lines(0..150)).len(), 100);
    let client = Client::of(&gateway);
    let log = |n: usize| new::openshell::v1::SandboxLogLine {
        message: format!("line {n}"),
        ..new::openshell::v1::SandboxLogLine::default()
    };
    let push = new::openshell::v1::PushSandboxLogsRequest {
        sandbox_id: id,
        logs: (100..250).map(log).collect(),
    };
    let pushes = futures::stream::iter([push]);
    client
        .run(client.new_api().push_sandbox_logs(pushes))
        .unwrap();
    assert_eq!(last_lines(&client, 0, &[], "").0, names(0..200));
}

#[test]
fn an_old_tail_repeats_what_was_published_while_it_attached() {
    let gateway = quiet(Settings::old());
    let id = gateway.create("demo");
    gateway.publish("demo", lines(0..2));
    gateway.gate(false);
    let client = Client::of(&gateway);
    let watch = client.watch_old(old_logs_of(&id));
    assert_eq!(watch.next(), Said::Sandbox);
    gateway.publish("demo", lines(2..4));
    gateway.gate(true);
    assert_eq!(watch.texts(6), names([0, 1, 2, 3, 2, 3]));
    assert!(watch.is_silent());
    // And a new watch gets the whole tail again.
    assert_eq!(
        client.watch_old(old_logs_of(&id)).texts(5)[1..],
        names(0..4)
    );
}

#[test]
fn a_line_of_more_than_a_client_reads_is_the_clients_own_error() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    gateway.publish("demo", [Line::ocsf("x".repeat(17 << 20))]);
    let (code, text) = Client::of(&gateway).watch(logs_of("demo")).end();
    assert_eq!(code, Code::OutOfRange);
    assert!(text.contains("message length too large"), "{text}");
}
