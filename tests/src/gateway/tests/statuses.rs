//! How watches end and calls are refused.

use super::*;
use crate::gateway::{BROADCAST_MESSAGES_MAX, Cut, Phase, WATCH_QUEUE_MESSAGES_MAX, WarningPlace};

#[test]
fn stop_on_terminal_ends_with_ok() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let request = NewWatch {
        follow_status: true,
        stop_on_terminal: true,
        ..logs_of("demo")
    };
    for phase in [Phase::Ready, Phase::Completed, Phase::Stopped, Phase::Error] {
        gateway.phase("demo", Phase::Provisioning);
        let watch = client.watch(request.clone());
        assert_eq!(watch.next(), Said::Sandbox);
        gateway.wait_following("demo", 1);
        gateway.phase("demo", phase);
        assert_eq!(watch.end(), (Code::Ok, String::new()));
        gateway.wait_following("demo", 0);
        assert_eq!(client.watch(request.clone()).end().0, Code::Ok);
    }
}

#[test]
fn an_old_gateway_stops_at_ready_only() {
    let gateway = quiet(Settings::old());
    let id = gateway.create("demo");
    let client = Client::of(&gateway);
    let request = OldWatch {
        follow_status: true,
        stop_on_terminal: true,
        ..old_logs_of(&id)
    };
    assert_eq!(client.watch_old(request.clone()).end().0, Code::Ok);
    gateway.phase("demo", Phase::Error);
    let watch = client.watch_old(request);
    assert_eq!(watch.next(), Said::Sandbox);
    assert!(watch.is_silent());
}

#[test]
fn a_deleted_sandbox_ends_its_watches_after_their_last_lines() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let logs = client.watch(logs_of("demo"));
    let with_status = client.watch(NewWatch {
        follow_status: true,
        ..logs_of("demo")
    });
    gateway.wait_following("demo", 2);
    gateway.publish("demo", lines(0..3));
    gateway.delete("demo");
    assert_eq!(logs.texts(4)[1..], names(0..3));
    assert_eq!(logs.end(), (Code::Cancelled, "stream closed".into()));
    assert_eq!(with_status.end(), (Code::Ok, String::new()));
    let gone = client.watch(logs_of("demo")).end();
    assert_eq!(gone, (Code::NotFound, "sandbox not found".into()));
}

#[test]
fn an_old_gateway_ends_the_watches_of_a_deleted_sandbox_alike() {
    let gateway = quiet(Settings::old());
    let id = gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch_old(old_logs_of(&id));
    gateway.wait_following("demo", 1);
    gateway.delete("demo");
    assert_eq!(watch.end(), (Code::Cancelled, "stream closed".into()));
    let gone = client.watch_old(old_logs_of(&id)).end();
    assert_eq!(gone, (Code::NotFound, "sandbox not found".into()));
    let unnamed = client.watch_old(old_logs_of("")).end();
    assert_eq!(unnamed, (Code::InvalidArgument, "id is required".into()));
}

#[test]
fn a_bad_since_time_is_an_invalid_argument() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let since_time = Some(prost_types::Timestamp {
        seconds: 1,
        nanos: -1,
    });
    let request = NewWatch {
        since_time,
        ..logs_of("demo")
    };
    let end = Client::of(&gateway).watch(request).end();
    assert_eq!(end.0, Code::InvalidArgument);
}

/// What a stalled watch has taken: its queue, and one in its hands.
const TAKEN: usize = WATCH_QUEUE_MESSAGES_MAX + 1;
/// The end of what [`lag`] publishes.
const ALL: usize = TAKEN + 7 + BROADCAST_MESSAGES_MAX;

/// Stops the reading, publishes seven more than queue and broadcast hold, and goes on.
fn lag(gateway: &Gateway) {
    gateway.wait_following("demo", 1);
    assert_eq!(gateway.stall("demo", true), 1);
    gateway.publish("demo", lines(0..TAKEN));
    gateway.wait_watch(|view| view.queued == TAKEN);
    gateway.burst("demo", ALL - TAKEN, |n| line(TAKEN + n));
    gateway.stall("demo", false);
}

#[test]
fn a_slow_watch_is_warned_before_what_follows_the_hole_and_goes_on() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch(logs_of("demo"));
    assert_eq!(watch.next(), Said::Sandbox);
    lag(&gateway);
    let warning = Said::Warning {
        text: "watch stream lagged; dropped 7 messages".into(),
        cursor: String::new(),
    };
    assert_eq!(watch.texts(TAKEN), names(0..TAKEN));
    assert_eq!(watch.next(), warning);
    assert_eq!(watch.texts(BROADCAST_MESSAGES_MAX), names(TAKEN + 7..ALL));
    gateway.publish("demo", [line(9)]);
    assert_eq!(watch.next().text(), "line 9");
}

#[test]
fn or_after_everything_that_the_same_drain_found() {
    let gateway = quiet(Settings {
        warning_place: WarningPlace::AfterDrain,
        ..Settings::default()
    });
    gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch(logs_of("demo"));
    assert_eq!(watch.next(), Said::Sandbox);
    lag(&gateway);
    assert_eq!(watch.texts(TAKEN), names(0..TAKEN));
    assert_eq!(watch.texts(BROADCAST_MESSAGES_MAX), names(TAKEN + 7..ALL));
    assert_eq!(
        watch.next().text(),
        "watch stream lagged; dropped 7 messages"
    );
}

#[test]
fn an_old_gateway_ends_the_stream_of_a_slow_watch() {
    let gateway = quiet(Settings::old());
    let id = gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch_old(old_logs_of(&id));
    assert_eq!(watch.next(), Said::Sandbox);
    lag(&gateway);
    let text = "watch stream lagged; dropped 7 messages";
    assert_eq!(watch.texts(TAKEN), names(0..TAKEN));
    assert_eq!(
        watch.next(),
        Said::Ended(Code::ResourceExhausted, text.into())
    );
}

#[test]
fn a_hole_in_the_status_has_the_same_text() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch(NewWatch {
        follow_status: true,
        ..logs_of("demo")
    });
    gateway.wait_following("demo", 1);
    // Its queue full and one in its hands: it takes no tick.
    gateway.stall("demo", true);
    gateway.publish("demo", lines(0..TAKEN));
    gateway.wait_watch(|view| view.queued == TAKEN);
    for _ in 0..crate::gateway::STATUS_TICKS_MAX + 2 {
        gateway.phase("demo", Phase::Ready);
    }
    gateway.stall("demo", false);
    assert_eq!(watch.next(), Said::Sandbox);
    assert_eq!(watch.texts(TAKEN), names(0..TAKEN));
    assert_eq!(
        watch.next().text(),
        "watch stream lagged; dropped 2 messages"
    );
}

#[test]
fn who_may_not_is_told_why_and_health_is_open_to_all() {
    let gateway = quiet(Settings {
        token: Some("secret".into()),
        ..Settings::default()
    });
    gateway.create("demo");
    let client = Client::of(&gateway);
    let end = |client: &Client| client.watch(logs_of("demo")).end();
    let missing = (Code::Unauthenticated, "missing authorization header".into());
    assert_eq!(end(&client), missing);
    let version = client.run(
        client
            .new_api()
            .health(new::openshell::v1::HealthRequest {}),
    );
    assert_eq!(version.unwrap().into_inner().version, "0.1.5");
    let with = |token: &str| {
        let mut request = tonic::Request::new(logs_of("demo"));
        let header = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", header);
        client.run(client.new_api().watch_sandbox(request))
    };
    assert_eq!(with("other").unwrap_err().code(), Code::Unauthenticated);
    assert!(with("secret").is_ok());
    gateway.settings(|settings| settings.token_expired = true);
    assert_eq!(with("secret").unwrap_err().code(), Code::Unauthenticated);
    gateway.settings(|settings| {
        settings.token = None;
        settings.denied = Some("role user required".into());
    });
    assert_eq!(
        end(&client),
        (Code::PermissionDenied, "role user required".into())
    );
}

#[test]
fn a_rate_limit_has_the_code_of_lag_and_another_text() {
    let gateway = quiet(Settings {
        refused_calls: 1,
        ..Settings::default()
    });
    gateway.create("demo");
    let client = Client::of(&gateway);
    let (code, text) = client.watch(logs_of("demo")).end();
    assert_eq!(code, Code::ResourceExhausted);
    assert!(!text.contains("lagged"), "{text}");
    assert_eq!(client.watch(logs_of("demo")).next(), Said::Sandbox);
}

#[test]
fn a_gateway_that_is_gone_is_a_broken_transport() {
    for how in [Cut::Close, Cut::Reset] {
        let gateway = quiet(Settings::default());
        gateway.create("demo");
        let client = Client::of(&gateway);
        let watch = client.watch(logs_of("demo"));
        gateway.wait_following("demo", 1);
        gateway.cut(how);
        let (code, text) = watch.end();
        assert!(matches!(code, Code::Unavailable | Code::Unknown), "{text}");
        gateway.refuse(true);
        assert_eq!(client.watch(logs_of("demo")).end().0, Code::Unavailable);
        gateway.refuse(false);
        assert_eq!(client.watch(logs_of("demo")).next(), Said::Sandbox);
    }
}
