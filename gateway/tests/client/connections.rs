//! How many connections there are, and what happens when one breaks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use boundlane_gateway::{Auth, Client, GatewayError, Generation, Kind, Limits};
use boundlane_ingest::watch::{StreamEnd, WatchEvent, WatchFrom};
use tokio::net::TcpListener;

use super::message::{health, line, nested, sandbox, text};
use super::peer::{Answer, Call, Peer};
use super::{agent, client, target};

const TAIL: WatchFrom = WatchFrom::Tail(9);

fn open(call: &Call) -> Answer {
    match call.path.ends_with("/WatchSandbox") {
        true => Answer::Open(vec![line("a", "1")]),
        false => Answer::message(nested(1, &sandbox("id-1", "agent"))),
    }
}

/// Watches by connection.
fn spread(peer: &Peer) -> Vec<usize> {
    let mut by_connection = BTreeMap::new();
    for call in peer.calls() {
        if call.path.ends_with("/WatchSandbox") {
            *by_connection.entry(call.connection).or_insert(0) += 1;
        }
    }
    by_connection.into_values().collect()
}

/// The 101st watch is on another connection, the other calls on their own, and a place that is free again
/// is taken.
#[tokio::test]
async fn a_hundred_watches_a_connection() {
    let peer = Peer::start("0.1.0", open).await;
    let client = client(&peer.http());
    client.sandbox("agent").await.unwrap();
    let mut watches = Vec::new();
    for _ in 0..101 {
        watches.push(client.watch(&agent(), &TAIL).await.unwrap());
    }
    assert_eq!(spread(&peer), [100, 1]);
    let calls = peer.calls();
    assert!(
        calls[1..]
            .iter()
            .all(|call| call.connection != calls[0].connection)
    );
    // One version asked for each of the three connections.
    assert_eq!(peer.count("/Health"), 3);
    watches.remove(0);
    watches.push(client.watch(&agent(), &TAIL).await.unwrap());
    assert_eq!(spread(&peer), [101, 1]);
    for watch in &mut watches {
        assert!(matches!(watch.next().await, Ok(WatchEvent::Line(_))));
    }
}

/// A connection that breaks ends its watches, and the next call makes another.
#[tokio::test]
async fn a_cut_connection_is_a_break_and_made_again() {
    let peer = Peer::start("0.1.0", open).await;
    let client = client(&peer.http());
    let mut watch = client.watch(&agent(), &TAIL).await.unwrap();
    assert!(matches!(watch.next().await, Ok(WatchEvent::Line(_))));
    peer.cut();
    let end = watch.next().await.unwrap_err();
    assert!(matches!(end, StreamEnd::Broke(_)), "{end:?}");
    let mut again = client.watch(&agent(), &TAIL).await.unwrap();
    assert!(matches!(again.next().await, Ok(WatchEvent::Line(_))));
    assert_eq!(peer.count("/Health"), 2);
}

/// A gateway that is upgraded in place is spoken to in its new words after the connection was made again,
/// without a call that was read as something else.
#[tokio::test]
async fn a_gateway_upgraded_in_place_is_asked_anew() {
    let is_new = Arc::new(AtomicBool::new(false));
    let upgraded = is_new.clone();
    let peer = Peer::scripted(None, move |call| {
        let is_new = upgraded.load(Ordering::SeqCst);
        match (call.path.rsplit('/').next().unwrap(), is_new) {
            ("Health", false) => Answer::message(health("0.0.116")),
            ("Health", true) => Answer::message(health("0.1.0")),
            ("GetSandbox", false) if call.body == [text(1, "n"), text(2, "team")].concat() => {
                Answer::message(nested(1, &sandbox("old", "n")))
            }
            ("GetSandbox", true)
                if call.body == [text(1, "n"), nested(2, &text(1, "team"))].concat() =>
            {
                Answer::message(nested(1, &sandbox("new", "n")))
            }
            _ => Answer::Status(5, "sandbox not found"),
        }
    })
    .await;
    let client = client(&peer.http());
    assert_eq!(client.sandbox("n").await.unwrap().unwrap().id, "old");
    is_new.store(true, Ordering::SeqCst);
    peer.cut();
    let found = loop {
        // The first call may still find the broken connection.
        match client.sandbox("n").await {
            Ok(found) => break found,
            Err(error) => assert_eq!(error.kind(), Kind::Broke, "{error}"),
        }
    };
    assert_eq!(found.unwrap().id, "new");
    assert_eq!(client.health().await.unwrap().generation, Generation::New);
    assert_eq!(client.identity().version.as_deref(), Some("0.1.0"));
}

/// Nobody listens: the message says where, why and what to do.
#[tokio::test]
async fn a_refused_connection_is_not_running() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = client(&endpoint);
    let error = client.health().await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotRunning, "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains(&endpoint) && text.contains("refused"),
        "{text}"
    );
    let end = client.watch(&agent(), &TAIL).await.unwrap_err();
    assert_eq!(end, StreamEnd::Broke(text));
}

/// A socket that accepts and never speaks does not hold a call beyond its deadline.
#[tokio::test]
async fn a_mute_socket_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let limits = Limits::default().paced(10);
    let client = Client::new(target(&endpoint, Auth::None), limits).unwrap();
    let error = client.health().await.unwrap_err();
    assert!(
        matches!(error, GatewayError::NoAnswer { call: "Health", .. }),
        "{error}"
    );
}

/// A watch that nobody reads does not stop another one of the same connection.
#[tokio::test]
async fn a_slow_reader_does_not_stop_the_others() {
    let peer = Peer::start("0.1.0", |call| {
        let is_slow = call.body.starts_with(&text(1, "slow"));
        let lines = if is_slow { 3 } else { 1 };
        Answer::Open(vec![line(&"x".repeat(100_000), "1"); lines])
    })
    .await;
    let client = client(&peer.http());
    let mut slow = agent();
    slow.name = "slow".to_owned();
    let mut unread = Vec::new();
    for _ in 0..60 {
        unread.push(client.watch(&slow, &TAIL).await.unwrap());
    }
    // From another task, as a program follows many.
    let event = tokio::spawn(async move {
        let mut watch = client.watch(&agent(), &TAIL).await?;
        watch.next().await
    });
    assert!(matches!(event.await.unwrap(), Ok(WatchEvent::Line(_))));
    assert_eq!(spread(&peer), [61]);
}
