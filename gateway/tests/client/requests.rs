//! What is asked, in both generations, by field number.

use boundlane_gateway::{Client, GatewayError, Generation, Limits, Selection};
use boundlane_ingest::watch::WatchFrom;
use boundlane_record::Micros;

use super::message::{entry, nested, number, sandbox, text};
use super::peer::{Answer, Call, Peer};
use super::{agent, client, target};

const CURSOR: &str = "v1:0b9c0e5e-6a3a-4a57-9a0e-1f9a7f1d2c3b:00000000000000000042";

fn any(call: &Call) -> Answer {
    match call.path.rsplit('/').next().unwrap() {
        "ListSandboxes" => Answer::Messages(vec![vec![]]),
        "GetSandbox" => Answer::message(nested(1, &sandbox("id-1", "agent"))),
        "GetSandboxLogs" => Answer::Messages(vec![vec![]]),
        "WatchSandbox" => Answer::Messages(vec![]),
        other => panic!("{other}"),
    }
}

/// Every call once.
async fn ask_everything(client: &Client) {
    let labelled = Selection {
        workspace: Some("team".to_owned()),
        labels: Some("a=b".to_owned()),
    };
    client.sandboxes(&Selection::default()).await.unwrap();
    client.sandboxes(&labelled).await.unwrap();
    let agent = client.sandbox("agent").await.unwrap().unwrap();
    client.snapshot(&agent, 0).await.unwrap();
    for from in [
        WatchFrom::Tail(0),
        WatchFrom::Tail(7),
        WatchFrom::After(CURSOR.to_owned()),
    ] {
        client.watch(&agent, &from).await.unwrap();
    }
}

fn arrived(peer: &Peer) -> Vec<(String, Vec<u8>)> {
    let calls = peer.calls().into_iter();
    calls.map(|call| (call.path, call.body)).collect()
}

fn expected(calls: Vec<(&str, Vec<Vec<u8>>)>) -> Vec<(String, Vec<u8>)> {
    let path = |rpc| format!("/openshell.v1.OpenShell/{rpc}");
    let calls = calls.into_iter();
    calls
        .map(|(rpc, fields)| (path(rpc), fields.concat()))
        .collect()
}

/// From 0.1.0 a sandbox is its name, a workspace is a message, and pages have a token.
#[tokio::test]
async fn requests_of_the_new_generation() {
    let peer = Peer::start("0.1.0", any).await;
    let client = client(&peer.http());
    ask_everything(&client).await;
    let team = |field| nested(field, &text(1, "team"));
    let watch = |tail, rest: &[Vec<u8>]| {
        let fields = [text(1, "agent"), number(3, 1), number(5, tail), team(11)];
        [&fields[..], rest].concat()
    };
    let list = [number(1, 500)];
    assert_eq!(
        arrived(&peer),
        expected(vec![
            (
                "ListSandboxes",
                [&list[..], &[nested(4, &nested(2, &[]))]].concat()
            ),
            (
                "ListSandboxes",
                [&list[..], &[text(3, "a=b"), team(4)]].concat()
            ),
            ("GetSandbox", vec![text(1, "agent"), team(2)]),
            (
                "GetSandboxLogs",
                vec![text(1, "agent"), number(2, 1), team(6)]
            ),
            ("WatchSandbox", watch(1, &[])),
            ("WatchSandbox", watch(7, &[])),
            ("WatchSandbox", watch(2000, &[text(12, CURSOR)])),
        ])
    );
    let health = client.health().await.unwrap();
    assert_eq!(
        (health.status, health.generation),
        ("healthy", Generation::New)
    );
}

/// Up to 0.0.116 a sandbox is its id, a workspace is a string, and pages have an offset.
#[tokio::test]
async fn requests_of_the_old_generation() {
    let peer = Peer::start("0.0.116", any).await;
    ask_everything(&client(&peer.http())).await;
    let watch = |tail| vec![text(1, "id-1"), number(3, 1), number(5, tail)];
    assert_eq!(
        arrived(&peer),
        expected(vec![
            ("ListSandboxes", vec![number(1, 500), number(5, 1)]),
            (
                "ListSandboxes",
                vec![number(1, 500), text(3, "a=b"), text(4, "team")]
            ),
            ("GetSandbox", vec![text(1, "agent"), text(2, "team")]),
            (
                "GetSandboxLogs",
                vec![text(1, "id-1"), number(2, 1), text(6, "team")]
            ),
            ("WatchSandbox", watch(1)),
            ("WatchSandbox", watch(7)),
            ("WatchSandbox", watch(2000)),
        ])
    );
}

/// The names of a renamed product are in the path of every call.
#[tokio::test]
async fn names_are_in_the_path() {
    let peer = Peer::start("0.1.0", any).await;
    let mut target = target(&peer.http(), boundlane_gateway::Auth::None);
    target.names.package = "ryno.v1".to_owned();
    target.names.service = "Ryno".to_owned();
    let client = Client::new(target, Limits::default()).unwrap();
    client.sandbox("agent").await.unwrap();
    assert_eq!(peer.calls()[0].path, "/ryno.v1.Ryno/GetSandbox");
    assert_eq!(peer.count("/ryno.v1.Ryno/Health"), 1);
}

/// A call tells the gateway its deadline; a watch has none.
#[tokio::test]
async fn only_unary_calls_have_a_deadline() {
    let peer = Peer::start("0.1.0", any).await;
    ask_everything(&client(&peer.http())).await;
    for call in peer.calls() {
        let has = call.headers.contains_key("grpc-timeout");
        assert_eq!(has, !call.path.ends_with("/WatchSandbox"), "{}", call.path);
    }
}

/// Both layouts of a sandbox are read, with fields that this program does not know among them.
#[tokio::test]
async fn sandboxes_of_both_layouts() {
    let time = |field, seconds| nested(field, &number(1, seconds));
    let unknown = [text(777, "x"), number(778, 5)].concat();
    let status = [text(2, "pod"), number(6, 2), number(7, 9), unknown.clone()].concat();
    let named = [text(1, "i"), text(2, "n"), entry(4, "k", "v"), text(7, "w")].concat();
    let new = [named.clone(), time(103, 3), time(108, 4), unknown.clone()].concat();
    let old = [named, number(3, 3000), number(8, 4000)].concat();
    let spec = nested(2, &text(1, "spec"));
    for (version, meta) in [("0.1.5", new), ("0.0.116", old)] {
        let sandbox = [
            nested(1, &meta),
            spec.clone(),
            nested(3, &status),
            unknown.clone(),
        ]
        .concat();
        let peer = Peer::start(version, move |_| {
            Answer::message([nested(1, &sandbox), entry(2, "a", "b")].concat())
        })
        .await;
        let sandbox = client(&peer.http()).sandbox("n").await.unwrap().unwrap();
        assert_eq!((sandbox.id.as_str(), sandbox.name.as_str()), ("i", "n"));
        assert_eq!((sandbox.workspace.as_str(), sandbox.phase), ("w", "ready"));
        assert_eq!(sandbox.created, Some(Micros(3_000_000)));
        assert_eq!(sandbox.deleting, Some(Micros(4_000_000)));
        assert_eq!(sandbox.labels.get("k").map(String::as_str), Some("v"));
        assert_eq!(sandbox.policy_version, 9);
    }
}

fn page(ids: &[&str], next: &str) -> Answer {
    let rows: Vec<Vec<u8>> = ids.iter().map(|id| nested(1, &sandbox(id, id))).collect();
    Answer::message([rows.concat(), text(2, next)].concat())
}

async fn ids(client: &Client) -> Result<Vec<String>, GatewayError> {
    let listed = client.sandboxes(&Selection::default()).await?;
    Ok(listed.into_iter().map(|sandbox| sandbox.id).collect())
}

/// A listing goes on until there is no token, over an empty page and without a sandbox twice.
#[tokio::test]
async fn pages_of_the_new_generation() {
    let peer = Peer::start("0.1.0", |call| {
        let has = |token: &str| {
            call.body
                .windows(token.len())
                .any(|w| w == token.as_bytes())
        };
        match () {
            () if has("third") => page(&["b", "c"], ""),
            () if has("second") => page(&[], "third"),
            () => page(&["a", "b"], "second"),
        }
    })
    .await;
    assert_eq!(ids(&client(&peer.http())).await.unwrap(), ["a", "b", "c"]);
    assert_eq!(
        peer.calls()[1].body[3..],
        [text(2, "second"), nested(4, &nested(2, &[]))].concat()
    );
}

/// A gateway that sends the same token for ever does not hold us.
#[tokio::test]
async fn a_listing_that_goes_in_a_circle_ends() {
    for version in ["0.1.0", "0.0.116"] {
        let peer = Peer::start(version, |_| page(&["a"], "again")).await;
        assert_eq!(
            ids(&client(&peer.http())).await.unwrap(),
            ["a"],
            "{version}"
        );
    }
}

/// The old generation is asked from the number of rows received: it may send fewer than asked for.
#[tokio::test]
async fn pages_of_the_old_generation() {
    let peer = Peer::start("0.0.90", |call| match call.body.get(3..5) {
        Some([0x10, 2]) => page(&["c"], ""),
        Some([0x10, 3]) => page(&[], ""),
        _ => page(&["a", "b"], ""),
    })
    .await;
    assert_eq!(ids(&client(&peer.http())).await.unwrap(), ["a", "b", "c"]);
    assert_eq!(peer.count("/ListSandboxes"), 3);
}

/// A listing has an end even when the gateway has none.
#[tokio::test]
async fn a_listing_beyond_the_limit_is_refused() {
    let peer = Peer::start("0.1.0", |_| page(&["a", "b", "c"], "more")).await;
    let limits = Limits {
        sandboxes_max: 2,
        ..Limits::default()
    };
    let target = target(&peer.http(), boundlane_gateway::Auth::None);
    let error = ids(&Client::new(target, limits).unwrap())
        .await
        .unwrap_err();
    assert!(
        matches!(error, GatewayError::TooMany { max: 2, .. }),
        "{error}"
    );
}

/// Lines of a snapshot, and how many there are.
#[tokio::test]
async fn a_snapshot_has_lines_and_a_number() {
    let peer = Peer::start("0.0.116", |_| {
        let line = |message| nested(1, &[number(2, 5), text(5, message)].concat());
        Answer::message([line("a"), line("b"), number(2, 2)].concat())
    })
    .await;
    let snapshot = client(&peer.http()).snapshot(&agent(), 10).await.unwrap();
    let lines: Vec<&str> = snapshot
        .lines
        .iter()
        .map(|line| line.message.as_str())
        .collect();
    assert_eq!((lines, snapshot.buffered), (vec!["a", "b"], 2));
    assert_eq!(snapshot.lines[0].time, Some(Micros(5000)));
}
