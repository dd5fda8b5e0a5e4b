//! Cursors and resuming, 0.1.x.

use super::*;
use crate::gateway::{PlatformEvent, Spread};

fn cursor_of(published: &[crate::gateway::Published], n: usize) -> String {
    published[n].cursor.clone().unwrap()
}

#[test]
fn a_resume_gives_strictly_what_follows_and_goes_live() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let published = gateway.publish("demo", lines(0..5));
    let client = Client::of(&gateway);
    let cursor = cursor_of(&published, 1);
    // The tail that is asked for does not matter.
    let watch = client.watch(NewWatch {
        log_tail_lines: 1,
        ..logs_after("demo", &cursor)
    });
    assert_eq!(watch.next(), Said::Sandbox);
    assert_eq!(watch.texts(3), names(2..5));
    gateway.wait_resumed(&cursor);
    gateway.publish("demo", lines(5..7));
    let live = watch.take(2);
    assert_eq!(live[1].text(), "line 6");
    assert_eq!(live[0].cursor().len(), 60);
    assert!(live[0].cursor() < live[1].cursor());
    assert_eq!(live[0].cursor()[..39], cursor[..39]);
}

#[test]
fn what_is_published_while_a_watch_attaches_comes_once() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let published = gateway.publish("demo", lines(0..3));
    for request in [
        logs_of("demo"),
        logs_after("demo", &cursor_of(&published, 0)),
    ] {
        let first = if request.resume_after_cursor.is_empty() {
            0
        } else {
            1
        };
        let before = gateway.book().sandboxes[0].lines.len();
        gateway.gate(false);
        let client = Client::of(&gateway);
        let watch = client.watch(request);
        assert_eq!(watch.next(), Said::Sandbox);
        gateway.publish("demo", lines(before..before + 5));
        gateway.gate(true);
        assert_eq!(watch.texts(before + 5 - first), names(first..before + 5));
        assert!(watch.is_silent());
    }
}

#[test]
fn lines_and_events_are_replayed_in_one_order() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let first = gateway.publish("demo", lines(0..1));
    for n in 1..4 {
        gateway.publish_events("demo", [PlatformEvent::new("Pulled", format!("event {n}"))]);
        gateway.publish("demo", [line(n)]);
    }
    let client = Client::of(&gateway);
    let watch = client.watch(NewWatch {
        follow_events: true,
        ..logs_after("demo", &cursor_of(&first, 0))
    });
    watch.next();
    let said = watch.take(6);
    let texts: Vec<&str> = said.iter().map(Said::text).collect();
    assert_eq!(
        texts,
        [
            "event 1", "line 1", "event 2", "line 2", "event 3", "line 3"
        ]
    );
    assert!(said.is_sorted_by_key(|said| said.cursor().to_owned()));
    assert!(matches!(said[0], Said::Event { .. }));
}

#[test]
fn after_a_restart_the_space_is_gone_even_before_anything_is_published() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let published = gateway.publish("demo", lines(0..1));
    gateway.restart();
    for _ in 0..2 {
        let client = Client::of(&gateway);
        let said = client
            .watch(logs_after("demo", &cursor_of(&published, 0)))
            .to_end();
        assert_eq!(said[0], Said::Sandbox);
        let [_, Said::Ended(Code::OutOfRange, text)] = &said[..] else {
            panic!("{said:?}")
        };
        let prefix = "resume_after_cursor belongs to a cursor space that no longer exists";
        assert!(text.starts_with(prefix), "{text}");
        gateway.publish("demo", lines(1..2));
    }
    assert_eq!(gateway.book().restarts.len(), 1);
}

#[test]
fn a_recreated_sandbox_has_another_space_and_another_id() {
    let gateway = quiet(Settings::default());
    let first = gateway.create("demo");
    let published = gateway.publish("demo", lines(0..1));
    gateway.delete("demo");
    assert_ne!(gateway.create("demo"), first);
    gateway.publish("demo", lines(1..2));
    let client = Client::of(&gateway);
    let end = client
        .watch(logs_after("demo", &cursor_of(&published, 0)))
        .end();
    assert_eq!(end.0, Code::OutOfRange);
    assert_eq!(client.watch(logs_of("demo")).texts(2)[1], "line 1");
}

#[test]
fn another_replica_has_another_space_and_does_not_see_the_pushes() {
    let gateway = quiet(Settings {
        replicas: 2,
        spread: Spread::PerCall,
        ..Settings::default()
    });
    gateway.create("demo");
    let published = gateway.publish_at(0, "demo", lines(0..2));
    let client = Client::of(&gateway);
    gateway.route(&[1, 0, 1]);
    let elsewhere = client.watch(logs_of("demo"));
    assert_eq!(elsewhere.next(), Said::Sandbox);
    assert!(elsewhere.is_silent());
    let here = client.watch(logs_after("demo", &cursor_of(&published, 0)));
    assert_eq!(here.texts(2)[1], "line 1");
    let foreign = client.watch(logs_after("demo", &cursor_of(&published, 0)));
    assert_eq!(foreign.end().0, Code::OutOfRange);
}

#[test]
fn a_cursor_beyond_all_and_one_that_is_trimmed_are_told_apart() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let first = gateway.publish("demo", lines(0..1));
    let client = Client::of(&gateway);
    let cursor = cursor_of(&first, 0);
    let ahead = cursor.replace("0000000001", "0000000002");
    let (code, text) = client.watch(logs_after("demo", &ahead)).end();
    assert_eq!(code, Code::OutOfRange);
    let prefix = "resume_after_cursor is ahead of every cursor this sandbox has issued";
    assert!(text.starts_with(prefix), "{text}");
    gateway.burst("demo", 2_001, line);
    let trimmed = "resume cursor 1 is no longer available; earliest resumable cursor is 2";
    assert_eq!(
        client.watch(logs_after("demo", &cursor)).end(),
        (Code::OutOfRange, trimmed.to_owned())
    );
}

#[test]
fn events_that_are_trimmed_refuse_only_those_who_follow_them() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let first = gateway.publish("demo", lines(0..1));
    let event = |n| PlatformEvent::new("Pulled", format!("event {n}"));
    gateway.publish_events("demo", (0..51).map(event));
    let client = Client::of(&gateway);
    let request = logs_after("demo", &cursor_of(&first, 0));
    let both = NewWatch {
        follow_events: true,
        ..request.clone()
    };
    assert_eq!(client.watch(both).end().0, Code::OutOfRange);
    let logs = client.watch(request);
    assert_eq!(logs.next(), Said::Sandbox);
    assert!(logs.is_silent());
}

#[test]
fn a_malformed_cursor_fails_the_call_and_is_not_echoed() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let published = gateway.publish("demo", lines(0..1));
    let client = Client::of(&gateway);
    let good = cursor_of(&published, 0);
    let refused = Said::Ended(
        Code::InvalidArgument,
        "resume_after_cursor is not a valid watch cursor".into(),
    );
    for bad in [
        good.to_uppercase(),
        format!("{good}0"),
        good.replace("v1", "v2"),
    ] {
        assert_eq!(client.watch(logs_after("demo", &bad)).next(), refused);
    }
    // A gateway whose encoding changed reads none of the old ones.
    gateway.settings(|settings| settings.encoding = "v2".into());
    assert_eq!(client.watch(logs_after("demo", &good)).next(), refused);
}

#[test]
fn with_a_floor_replayed_tail_lines_have_no_cursor_and_live_ones_have() {
    let gateway = quiet(Settings {
        tail_with_floor: true,
        ..Settings::default()
    });
    gateway.create("demo");
    let published = gateway.publish("demo", lines(0..2));
    let client = Client::of(&gateway);
    let watch = client.watch(logs_of("demo"));
    let tail = watch.take(3);
    assert_eq!((tail[1].cursor(), tail[2].cursor()), ("", ""));
    gateway.wait_following("demo", 1);
    gateway.publish("demo", lines(2..3));
    assert_eq!(watch.next().cursor().len(), 60);
    let resumed = client.watch(logs_after("demo", &cursor_of(&published, 0)));
    assert_eq!(resumed.take(2)[1].cursor().len(), 60);
}

#[test]
fn since_holds_for_what_is_replayed_and_not_for_what_is_live() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let untimed = Line {
        time_ms: None,
        ..line(2)
    };
    gateway.publish("demo", [line(0).at(5_000), line(1).at(7_000), untimed]);
    let client = Client::of(&gateway);
    let since = prost_types::Timestamp {
        seconds: 6,
        nanos: 0,
    };
    let watch = client.watch(NewWatch {
        since_time: Some(since),
        ..logs_of("demo")
    });
    assert_eq!(watch.texts(2)[1], "line 1");
    gateway.wait_following("demo", 1);
    gateway.publish("demo", [line(3).at(5_000)]);
    assert_eq!(watch.next().text(), "line 3");
}
