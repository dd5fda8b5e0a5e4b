//! The test gateway as a program: the control protocol over its standard input.

use std::process::Command;

use boundlane_tests::gateway::{self, Answer, GatewayControl, Line};
use boundlane_tests::world::ChildGateway;

#[test]
fn a_gateway_in_another_process_does_what_it_is_told() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fake-gateway"));
    let mut gateway = ChildGateway::start(&mut program);
    let create = gateway::Command::Create {
        name: "demo".into(),
        workspace: "default".into(),
        labels: std::collections::BTreeMap::new(),
    };
    let Answer::Id(id) = gateway.call(create) else {
        panic!("not made")
    };
    let publish = gateway::Command::Publish {
        name: "demo".into(),
        lines: vec![Line::ocsf("hello")],
        replica: 0,
        burst: false,
    };
    let Answer::Published(published) = gateway.call(publish) else {
        panic!("not published")
    };
    assert!(published[0].is_accepted());
    let Answer::Book(book) = gateway.call(gateway::Command::Book) else {
        panic!("no book")
    };
    assert_eq!(book.sandbox(&id).unwrap().lines[2].line.message, "hello");
    assert!(gateway.url().starts_with("http://127.0.0.1:"));
}
