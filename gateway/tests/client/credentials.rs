//! Who both sides are.

use std::path::Path;

use boundlane_gateway::{Auth, Client, DiscoverError, Fault, GatewayError, Kind, Limits, Target};
use boundlane_ingest::watch::{Refusal, StreamEnd, WatchFrom};
use boundlane_record::Micros;
use sha2::{Digest as _, Sha256};

use super::authority::{Authority, der};
use super::message::{nested, sandbox};
use super::peer::{Answer, Call, Peer};
use super::{agent, target};

fn any(_: &Call) -> Answer {
    Answer::message(nested(1, &sandbox("id-1", "agent")))
}

fn connect(target: Target) -> Client {
    Client::new(target, Limits::default()).unwrap()
}

/// The error of a call, which is the same for a watch.
async fn refused(target: Target) -> GatewayError {
    let client = connect(target);
    let error = client.sandbox("agent").await.unwrap_err();
    let end = client.watch(&agent(), &WatchFrom::Tail(1)).await;
    assert!(matches!(end, Err(StreamEnd::Broke(_))), "{end:?}");
    error
}

/// Both sides prove who they are, and the hash is the one of the server's certificate.
#[tokio::test]
async fn mutual_certificates() {
    let (dir, authority) = (tempfile::tempdir().unwrap(), Authority::new("gateway"));
    let server = authority.server();
    let config = Authority::server_config(&server, Some(&authority));
    let peer = Peer::secure(config, "0.1.5", any).await;
    let files = authority.client_files(dir.path());
    let client = connect(target(&peer.https(), Auth::Mtls(files)));
    assert_eq!(client.identity().certificate_sha256, None);
    client.sandbox("agent").await.unwrap().unwrap();
    let hash: String = Sha256::digest(der(&server.crt))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let identity = client.identity();
    assert_eq!(identity.certificate_sha256, Some(hash));
    assert_eq!(identity.authenticated, "mtls");
    assert_eq!(identity.version.as_deref(), Some("0.1.5"));
    assert!(!identity.verification_skipped);
}

/// A server of another authority is refused, and not one byte is said to it, unless verification is
/// skipped; then its certificate is kept all the same.
#[tokio::test]
async fn a_certificate_of_another_authority() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let server = theirs.server();
    let peer = Peer::secure(Authority::server_config(&server, None), "0.1.0", any).await;
    let ca = ours.ca_file(dir.path());
    let trusting = target(&peer.https(), Auth::ServerCaOnly { ca });
    let error = refused(trusting.clone()).await;
    let GatewayError::WrongCertificate { fault, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*fault, Fault::Server);
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
    assert_eq!(peer.count(""), 0);

    let client = connect(Target {
        skip_verification: true,
        ..trusting
    });
    client.sandbox("agent").await.unwrap().unwrap();
    let identity = client.identity();
    assert!(identity.verification_skipped && identity.certificate_sha256.is_some());
}

/// A certificate for another name than the one in the address is refused.
#[tokio::test]
async fn a_certificate_for_another_name() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new("gateway");
    let server = authority.server_named(&["localhost"]);
    let config = Authority::server_config(&server, None);
    let peer = Peer::secure(config, "0.1.0", any).await;
    let ca = authority.ca_file(dir.path());
    let by_name = format!("https://localhost:{}", peer.address.port());
    let named = connect(target(&by_name, Auth::ServerCaOnly { ca: ca.clone() }));
    named.sandbox("agent").await.unwrap().unwrap();
    let error = refused(target(&peer.https(), Auth::ServerCaOnly { ca })).await;
    assert_eq!(error.kind(), Kind::WrongCertificate, "{error}");
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

/// A target that was made by hand is held to the same rule as one that was found.
#[tokio::test]
async fn a_token_never_crosses_a_network_in_clear() {
    let dir = tempfile::tempdir().unwrap();
    for endpoint in ["http://10.0.0.1:1", "http://gateway.example:1"] {
        let auth = token(dir.path(), r#"{"access_token":"one"}"#);
        let error = Client::new(target(endpoint, auth), Limits::default()).unwrap_err();
        let clear = matches!(
            error,
            GatewayError::Discover(DiscoverError::TokenInClear { .. })
        );
        assert!(clear, "{error}");
        assert!(Client::new(target(endpoint, Auth::None), Limits::default()).is_ok());
    }
    let error = Client::new(
        target("http://u:hunter2@localhost:1", Auth::None),
        Limits::default(),
    );
    assert!(!format!("{:?}", error.unwrap_err()).contains("hunter2"));
}

/// A gateway that does not take our certificate, or wants one, is told from one that we do not trust.
#[tokio::test]
async fn our_certificate_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (server, other) = (Authority::new("server"), Authority::new("other"));
    let config = Authority::server_config(&server.server(), Some(&server));
    let peer = Peer::secure(config, "0.1.0", any).await;
    let mut wrong = other.client_files(dir.path());
    wrong.ca = dir.path().join("server.crt");
    std::fs::rename(server.ca_file(dir.path()), &wrong.ca).unwrap();
    let none = Auth::ServerCaOnly {
        ca: wrong.ca.clone(),
    };
    for auth in [Auth::Mtls(wrong), none] {
        let error = refused(target(&peer.https(), auth)).await;
        let GatewayError::WrongCertificate { fault, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(fault, Fault::Client);
    }
}

/// TLS to a server without it, and the reverse.
#[tokio::test]
async fn a_wrong_scheme_is_no_gateway() {
    let (dir, authority) = (tempfile::tempdir().unwrap(), Authority::new("gateway"));
    let ca = authority.ca_file(dir.path());
    let plain = Peer::start("0.1.0", any).await;
    let error = refused(target(&plain.https(), Auth::ServerCaOnly { ca })).await;
    assert_eq!(error.kind(), Kind::NotAGateway, "{error:?}");
    let config = Authority::server_config(&authority.server(), None);
    let secure = Peer::secure(config, "0.1.0", any).await;
    let error = refused(target(&secure.http(), Auth::None)).await;
    // Whether its alert or the end of the connection comes first is not ours to say.
    let kinds = [Kind::NotAGateway, Kind::Broke];
    assert!(kinds.contains(&error.kind()), "{error:?}");
}

/// A file that is missing or is no certificate is named before anything is asked.
#[tokio::test]
async fn unusable_certificates_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let good = Authority::new("gateway").client_files(dir.path());
    let broken = dir.path().join("broken");
    std::fs::write(&broken, "hunter2").unwrap();
    for path in [broken, dir.path().join("missing")] {
        for at in 0..3 {
            let mut files = good.clone();
            *[&mut files.ca, &mut files.crt, &mut files.key][at] = path.clone();
            let made = Client::new(
                target("https://localhost:1", Auth::Mtls(files)),
                Limits::default(),
            );
            let error = made.unwrap_err();
            assert_eq!(error.kind(), Kind::Setup, "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }
}

fn token(dir: &Path, text: &str) -> Auth {
    let token = dir.join("oidc_token.json");
    std::fs::write(&token, text).unwrap();
    Auth::Oidc {
        token,
        mtls: None,
        ca: None,
    }
}

/// The token goes with each call but `Health`, as it is on disk at that moment, and is in no message.
#[tokio::test]
async fn a_token_is_read_for_each_call() {
    let dir = tempfile::tempdir().unwrap();
    let peer = Peer::start("0.1.0", any).await;
    let auth = token(
        dir.path(),
        r#"{"access_token":"one","expires_at":99999999999}"#,
    );
    let client = connect(target(&peer.http(), auth));
    client.sandbox("agent").await.unwrap();
    token(dir.path(), r#"{"access_token":"two"}"#);
    client.sandbox("agent").await.unwrap();
    client.watch(&agent(), &WatchFrom::Tail(1)).await.unwrap();
    let sent: Vec<_> = peer
        .calls()
        .into_iter()
        .map(|call| call.headers["authorization"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["Bearer one", "Bearer two", "Bearer two"]);
    assert_eq!(client.identity().authenticated, "oidc");
    assert!(!format!("{client:?}").contains("two"));
}

/// An expired token is not sent; the error says since when, and that lines are being lost.
#[tokio::test]
async fn an_expired_token_is_not_sent() {
    let dir = tempfile::tempdir().unwrap();
    let peer = Peer::start("0.1.0", any).await;
    let auth = token(
        dir.path(),
        r#"{"access_token":"hunter2","expires_at":1700000000}"#,
    );
    let client = connect(target(&peer.http(), auth));
    let error = client.sandbox("agent").await.unwrap_err();
    let GatewayError::ExpiredToken { since, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*since, Micros(1_700_000_000_000_000));
    let text = error.to_string();
    assert!(
        text.contains("2023-11-14T22:13:20") && text.contains("lost"),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
    let end = client
        .watch(&agent(), &WatchFrom::Tail(1))
        .await
        .unwrap_err();
    assert_eq!(end, StreamEnd::Refused(Refusal::Unauthenticated, text));
    assert!(peer.calls().is_empty());
    // A gateway that is up says so to anyone.
    client.health().await.unwrap();
}

/// No token at all says where it should be.
#[tokio::test]
async fn a_missing_token_says_where() {
    let dir = tempfile::tempdir().unwrap();
    let peer = Peer::start("0.1.0", any).await;
    let auth = Auth::Oidc {
        token: dir.path().join("none.json"),
        mtls: None,
        ca: None,
    };
    let error = connect(target(&peer.http(), auth))
        .sandbox("agent")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::NoToken, "{error}");
    assert!(error.to_string().contains("none.json"), "{error}");
}
