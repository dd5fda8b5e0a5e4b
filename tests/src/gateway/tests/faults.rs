//! Listings, versions, faults of the transport, the book and the control protocol.

use std::collections::BTreeMap;

use super::*;
use crate::gateway::{Answer, Call, Command, Cut, Stage};
use new::openshell::datamodel::v1 as datamodel;

fn list(client: &Client, request: new::openshell::v1::ListSandboxesRequest) -> Vec<String> {
    let mut request = request;
    let mut names = Vec::new();
    loop {
        let answer = client.run(client.new_api().list_sandboxes(request.clone()));
        let answer = answer.unwrap().into_inner();
        let name = |one: new::openshell::v1::Sandbox| one.metadata.unwrap().name;
        names.extend(answer.sandboxes.into_iter().map(name));
        if answer.next_page_token.is_empty() {
            return names;
        }
        request.page_token = answer.next_page_token;
    }
}

#[test]
fn listings_have_pages_labels_and_workspaces() {
    let gateway = quiet(Settings {
        page_size_max: 2,
        ..Settings::default()
    });
    let label = |value: &str| BTreeMap::from([("team".into(), value.into())]);
    for (n, team) in ["red", "blue", "red", "red", "red"].iter().enumerate() {
        gateway.create_in("default", &format!("s{n}"), &label(team));
    }
    gateway.create_in("other", "elsewhere", &label("red"));
    let client = Client::of(&gateway);
    let request = new::openshell::v1::ListSandboxesRequest::default();
    assert_eq!(
        list(&client, request.clone()),
        ["s0", "s1", "s2", "s3", "s4"]
    );
    let red = new::openshell::v1::ListSandboxesRequest {
        label_selector: "team=red".into(),
        workspace_scope: Some(datamodel::WorkspaceSelector {
            selection: Some(datamodel::workspace_selector::Selection::AllWorkspaces(
                datamodel::AllWorkspaces {},
            )),
        }),
        ..request
    };
    assert_eq!(
        list(&client, red.clone()),
        ["s0", "s2", "s3", "s4", "elsewhere"]
    );
    let bad = new::openshell::v1::ListSandboxesRequest {
        page_token: "x".into(),
        ..red
    };
    let refused = client.run(client.new_api().list_sandboxes(bad));
    assert_eq!(refused.unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn an_old_listing_has_an_offset() {
    let gateway = quiet(Settings::old());
    for n in 0..5 {
        gateway.create(&format!("s{n}"));
    }
    let client = Client::of(&gateway);
    let request = old::openshell::v1::ListSandboxesRequest {
        limit: 2,
        offset: 3,
        all_workspaces: true,
        ..old::openshell::v1::ListSandboxesRequest::default()
    };
    let answer = client.run(client.old_api().list_sandboxes(request));
    let name = |one: old::openshell::v1::Sandbox| one.metadata.unwrap().name;
    let sandboxes = answer.unwrap().into_inner().sandboxes;
    let names: Vec<String> = sandboxes.into_iter().map(name).collect();
    assert_eq!(names, ["s3", "s4"]);
}

#[test]
fn a_request_of_the_other_generation_does_not_fit() {
    let client_of = |settings| {
        let gateway = quiet(settings);
        gateway.create("demo");
        let client = Client::of(&gateway);
        (gateway, client)
    };
    let (_old, client) = client_of(Settings::old());
    let scoped = new::openshell::v1::GetSandboxRequest {
        name: "demo".into(),
        workspace_scope: Some(datamodel::WorkspaceSelector {
            selection: Some(datamodel::workspace_selector::Selection::Workspace(
                "default".into(),
            )),
        }),
    };
    let refused = client.run(client.new_api().get_sandbox(scoped));
    assert_eq!(refused.unwrap_err().code(), Code::NotFound);
    let (_new, client) = client_of(Settings::default());
    let named = old::openshell::v1::GetSandboxRequest {
        name: "demo".into(),
        workspace: "default".into(),
    };
    assert!(client.run(client.old_api().get_sandbox(named)).is_err());
}

#[test]
fn an_upgrade_keeps_the_records_and_nothing_else() {
    let gateway = quiet(Settings::old());
    let id = gateway.create("demo");
    gateway.publish("demo", lines(0..2));
    let client = Client::of(&gateway);
    let watch = client.watch_old(old_logs_of(&id));
    assert_eq!(watch.texts(3)[1..], names(0..2));
    gateway.stop();
    assert!(matches!(watch.next(), Said::Ended(..)));
    let lost = gateway.publish("demo", lines(2..3));
    assert!(!lost[0].is_accepted());
    gateway.start_again(Some("0.1.5"));
    gateway.publish("demo", lines(3..4));
    assert_eq!(client.watch(logs_of("demo")).texts(2)[1], "line 3");
    assert_eq!(gateway.id("demo"), id);
    let accepted = |line: &crate::gateway::Published| line.is_accepted();
    let book = gateway.book();
    let booked: Vec<bool> = book.sandboxes[0].lines.iter().map(accepted).collect();
    assert_eq!(booked, [true, true, false, true]);
}

#[test]
fn a_frozen_connection_says_nothing_and_does_not_end() {
    let gateway = quiet(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch(logs_of("demo"));
    assert_eq!(watch.next(), Said::Sandbox);
    gateway.wait_following("demo", 1);
    gateway.cut_of("demo", Cut::Freeze);
    gateway.publish("demo", lines(0..1));
    assert!(watch.is_silent());
    gateway.cut(Cut::Reset);
    assert!(matches!(watch.next(), Said::Ended(..)));
    let ended = gateway.wait_watch(|view| !view.is_open());
    assert_eq!(ended.stage, Stage::Ended("client gone".into()));
}

#[test]
fn what_is_asked_and_handed_over_can_be_seen() {
    let gateway = Gateway::start(Settings::default());
    gateway.create("demo");
    let client = Client::of(&gateway);
    let watch = client.watch(logs_of("demo"));
    gateway.wait_delivered("demo", 2);
    gateway.wait_idle();
    let said = watch.take(3);
    assert_eq!(said[1].text(), "sandbox created");
    assert_eq!(gateway.watches()[0].last_cursor, said[2].cursor());
    assert!(
        matches!(&gateway.requests()[..], [Call::WatchSandbox(asked)]
        if asked.log_tail_lines == 2_000)
    );
    let book = gateway.book();
    assert_eq!(book.attachments.len(), 1);
    assert_eq!(
        book.sandboxes[0].lines[1].cursor.as_deref(),
        Some(said[2].cursor())
    );
}

#[test]
fn the_control_protocol_is_lines_of_json() {
    let gateway = quiet(Settings::default());
    let obey = |text: &str| gateway.obey(serde_json::from_str::<Command>(text).unwrap());
    assert!(matches!(
        obey(r#"{"do":"create","name":"demo"}"#),
        Answer::Id(_)
    ));
    assert!(matches!(
        obey(r#"{"do":"create","name":"demo"}"#),
        Answer::Error(_)
    ));
    let publish = r#"{"do":"publish","name":"demo","lines":[{"message":"hello"}]}"#;
    let Answer::Published(published) = obey(publish) else {
        panic!("not published")
    };
    assert_eq!(published[0].line.level, "OCSF");
    let nobody = obey(r#"{"do":"delete","name":"other"}"#);
    assert_eq!(
        serde_json::to_string(&nobody).unwrap(),
        r#"{"error":"no sandbox `other`"}"#
    );
    assert!(matches!(
        obey(r#"{"do":"wait_idle","ms":1}"#),
        Answer::Came(false)
    ));
    assert!(matches!(obey(r#"{"do":"stop"}"#), Answer::Done));
    let Answer::Book(book) = obey(r#"{"do":"book"}"#) else {
        panic!("no book")
    };
    assert_eq!((book.sandboxes.len(), book.restarts.len()), (1, 1));
}
