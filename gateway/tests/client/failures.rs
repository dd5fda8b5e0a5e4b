//! What goes wrong with a call, and what is said of it.

use boundlane_gateway::{Auth, Client, GatewayError, Kind, Limits, Selection};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::peer::{Answer, Peer};
use super::{agent, client, target};

async fn listing(answer: Answer) -> GatewayError {
    let peer = Peer::start("0.1.0", move |_| answer.clone()).await;
    let selection = Selection {
        workspace: Some("lab".to_owned()),
        labels: None,
    };
    client(&peer.http())
        .sandboxes(&selection)
        .await
        .unwrap_err()
}

/// Each status by its kind; the message has the gateway's text and what to do.
#[tokio::test]
async fn statuses_of_a_call() {
    for (answer, kind, says) in [
        (
            Answer::Status(16, "bad JWT"),
            Kind::Unauthenticated,
            "bad JWT; sign in",
        ),
        (
            Answer::Status(7, "no role"),
            Kind::PermissionDenied,
            "no role; ask for the role",
        ),
        (
            Answer::Status(5, "workspace 'lab' not found"),
            Kind::NoSuchWorkspace,
            "no workspace `lab`",
        ),
        (
            Answer::Status(12, ""),
            Kind::NotAGateway,
            "has no `openshell.v1.OpenShell/ListSandboxes`",
        ),
        (
            Answer::Status(8, "rate limit"),
            Kind::RateLimited,
            "rate limit; try again later",
        ),
        (Answer::Status(13, "db"), Kind::Broke, "failed: db"),
        (
            Answer::Status(4, "late"),
            Kind::NoAnswer,
            "did not answer `ListSandboxes`",
        ),
        (Answer::Http(403), Kind::NotAGateway, "HTTP status code 403"),
        (Answer::Http(502), Kind::Broke, "HTTP status code 502"),
        (
            Answer::Huge((16 << 20) + 1),
            Kind::TooMuch,
            "larger than 16777216 bytes",
        ),
        (Answer::Messages(vec![vec![0xff]]), Kind::Broke, "decode"),
    ] {
        let error = listing(answer).await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains(['\n', '\u{1b}']), "{error}");
    }
}

/// A sandbox that is unknown, or not ours to see, is no error; another `NOT_FOUND` is.
#[tokio::test]
async fn an_unknown_sandbox_is_none() {
    let peer = Peer::start("0.1.0", |_| Answer::Status(5, "sandbox not found")).await;
    assert_eq!(client(&peer.http()).sandbox("x").await, Ok(None));
    let peer = Peer::start("0.1.0", |_| Answer::Status(5, "not here")).await;
    let error = client(&peer.http()).sandbox("x").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Broke, "{error}");
}

/// A call that is never answered ends at its deadline and says which it was.
#[tokio::test]
async fn a_deadline_ends_a_call() {
    let peer = Peer::start("0.1.0", |_| Answer::Silence).await;
    let target = target(&peer.http(), Auth::None);
    let client = Client::new(target, Limits::default().paced(10)).unwrap();
    let error = client.snapshot(&agent(), 5).await.unwrap_err();
    let GatewayError::NoAnswer { call, after, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((call, after.as_millis()), ("GetSandboxLogs", 1000));
}

/// An answer that stops in its middle is bounded too.
#[tokio::test]
async fn a_deadline_ends_a_half_answer() {
    let peer = Peer::start("0.1.0", |_| Answer::Open(vec![])).await;
    let target = target(&peer.http(), Auth::None);
    let client = Client::new(target, Limits::default().paced(10)).unwrap();
    let error = client.snapshot(&agent(), 5).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NoAnswer, "{error}");
}

/// A version that is none is not guessed: the wrong requests would be taken for something else.
#[tokio::test]
async fn an_unreadable_version_is_no_gateway() {
    let peer = Peer::start("next\u{1b}[2J", |_| Answer::Messages(vec![vec![]])).await;
    let client = client(&peer.http());
    let error = client.sandboxes(&Selection::default()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotAGateway, "{error}");
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
    assert!(peer.calls().is_empty());
}

/// Something that speaks no HTTP/2 is not taken for a gateway that is down.
#[tokio::test]
async fn another_server_is_no_gateway() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            socket.write_all(answer).await.unwrap();
            tokio::spawn(async move { tokio::io::copy(&mut socket, &mut tokio::io::sink()).await });
        }
    });
    let error = client(&endpoint).health().await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotAGateway, "{error:?}");
}
