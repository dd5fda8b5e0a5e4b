//! The client against a peer on a real socket that answers as each test says.
//!
//! The peer knows HTTP/2 and the framing of gRPC, and no message: requests are compared byte by byte with
//! what [`message`] writes by field number, so that the `.proto` is not checked against itself.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod authority;
mod connections;
mod credentials;
mod failures;
mod message;
mod peer;
mod requests;
mod streams;

use boundlane_gateway::{Auth, Client, Found, Limits, Names, Sandbox, Target};

fn target(endpoint: &str, auth: Auth) -> Target {
    Target {
        name: Some("local".to_owned()),
        endpoint: endpoint.to_owned(),
        auth,
        workspace: "team".to_owned(),
        skip_verification: false,
        names: Names::default(),
        found: Found::Flag,
    }
}

fn client(endpoint: &str) -> Client {
    Client::new(target(endpoint, Auth::None), Limits::default()).unwrap()
}

/// A sandbox as a listing gives it.
fn agent() -> Sandbox {
    Sandbox {
        id: "id-1".to_owned(),
        name: "agent".to_owned(),
        workspace: "team".to_owned(),
        created: None,
        deleting: None,
        labels: Default::default(),
        phase: "ready",
        policy_version: 0,
    }
}
