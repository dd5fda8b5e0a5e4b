//! What a watch says, and how it ends.

use boundlane_gateway::{Auth, Client, Limits};
use boundlane_ingest::watch::{Refusal, StreamEnd, WatchEvent, WatchFrom, WatchedLine};
use boundlane_record::Micros;

use super::message::{entry, line, nested, number, sandbox, text};
use super::peer::{Answer, Peer};
use super::{agent, client, target};

async fn told(version: &'static str, answer: Answer) -> (Vec<WatchEvent>, StreamEnd) {
    let peer = Peer::start(version, move |_| answer.clone()).await;
    let client = client(&peer.http());
    let mut watch = match client.watch(&agent(), &WatchFrom::Tail(9)).await {
        Ok(watch) => watch,
        Err(end) => return (vec![], end),
    };
    let mut events = Vec::new();
    loop {
        match watch.next().await {
            Ok(event) => events.push(event),
            Err(end) => {
                // It stays ended.
                assert_eq!(watch.next().await, Err(end.clone()));
                return (events, end);
            }
        }
    }
}

fn expected_line(cursor: &str) -> WatchEvent {
    WatchEvent::Line(WatchedLine {
        sandbox_id: "id-1".to_owned(),
        time: Some(Micros(1_700_000_000_123_000)),
        level: "OCSF".to_owned(),
        target: "ocsf".to_owned(),
        message: "NET:OPEN [INFO] ALLOWED".to_owned(),
        source: "sandbox".to_owned(),
        fields: vec![
            ("a".to_owned(), "1".to_owned()),
            ("b".to_owned(), "2".to_owned()),
        ],
        cursor: cursor.to_owned(),
    })
}

/// Lines, warnings and everything else of both generations, unknown fields among them.
#[tokio::test]
async fn events_of_both_generations() {
    let common = [
        text(1, "id-1"),
        text(3, "OCSF"),
        text(4, "ocsf"),
        text(5, "NET:OPEN [INFO] ALLOWED"),
        text(6, "sandbox"),
        entry(7, "b", "2"),
        entry(7, "a", "1"),
        text(900, "newer"),
    ]
    .concat();
    let time = [number(1, 1_700_000_000), number(2, 123_000_000)].concat();
    let new = [
        nested(2, &[common.clone(), nested(102, &time)].concat()),
        text(6, "c7"),
    ]
    .concat();
    let old = nested(2, &[common, number(2, 1_700_000_000_123)].concat());
    let warning = |said: &str| nested(4, &text(1, said));
    let others = vec![
        nested(1, &sandbox("id-1", "agent")),
        nested(
            3,
            &[number(1, 5), text(4, "reason"), entry(6, "a", "b")].concat(),
        ),
        nested(5, &number(1, 3)),
        nested(99, &text(1, "newer")),
        vec![],
        warning("watch stream lagged; dropped 12 messages"),
        warning("something else"),
    ];
    for (version, line, cursor) in [("0.1.5", new, "c7"), ("0.0.113", old, "")] {
        let messages = [others.clone(), vec![line]].concat();
        let (events, end) = told(version, Answer::Messages(messages)).await;
        assert_eq!(events[..5], vec![WatchEvent::Other; 5], "{version}");
        assert_eq!(events[5], WatchEvent::Lagged { dropped: 12 });
        assert_eq!(events[6], WatchEvent::Warning("something else".to_owned()));
        assert_eq!(events[7..], [expected_line(cursor)]);
        assert_eq!(end, StreamEnd::Finished);
    }
}

/// Each status that the gateway ends a stream with, before its first message and after it.
#[tokio::test]
async fn ends_of_a_stream() {
    let refused = |refusal, text: &str| StreamEnd::Refused(refusal, text.to_owned());
    for (code, text, expected) in [
        (1, "stream closed", StreamEnd::Closed),
        (5, "sandbox not found", StreamEnd::NotFound),
        (7, "scope", refused(Refusal::PermissionDenied, "scope")),
        (16, "bad JWT", refused(Refusal::Unauthenticated, "bad JWT")),
        (
            8,
            "watch stream lagged; dropped 3 messages",
            StreamEnd::Lagged { dropped: 3 },
        ),
        (8, "too many requests", StreamEnd::RateLimited),
        (
            3,
            "resume_after_cursor is not a valid watch cursor",
            StreamEnd::BadCursor,
        ),
        (
            11,
            "resume_after_cursor is ahead of every cursor this",
            StreamEnd::CursorAhead,
        ),
        (
            14,
            "shutting down",
            StreamEnd::Broke("shutting down".to_owned()),
        ),
    ] {
        assert_eq!(
            told("0.1.0", Answer::Status(code, text)).await,
            (vec![], expected.clone())
        );
        let after = Answer::Ends(vec![vec![]], code, text);
        assert_eq!(
            told("0.1.0", after).await,
            (vec![WatchEvent::Other], expected)
        );
    }
}

/// A status without a text is told by its code.
#[tokio::test]
async fn a_status_without_a_text_is_told_by_its_code() {
    let (_, end) = told("0.1.0", Answer::Status(12, "")).await;
    let expected = "Operation is not implemented or not supported".to_owned();
    assert_eq!(end, StreamEnd::Broke(expected));
}

/// What a proxy says is not the gateway's word.
#[tokio::test]
async fn an_http_status_is_a_break() {
    for code in [401, 403, 404, 429, 503] {
        let (_, end) = told("0.1.0", Answer::Http(code)).await;
        assert!(matches!(end, StreamEnd::Broke(_)), "{code}: {end:?}");
    }
}

/// A message beyond 16 MiB ends the stream before its bytes are read; one of 16 MiB does not.
#[tokio::test]
async fn a_message_over_16_mib_is_too_large() {
    let (events, end) = told("0.1.0", Answer::Huge((16 << 20) + 1)).await;
    assert_eq!((events, end), (vec![], StreamEnd::TooLarge));
    let mut filled = line("x", "");
    filled.extend(text(900, &"y".repeat((16 << 20) - filled.len() - 6)));
    assert_eq!(filled.len(), 16 << 20);
    let (events, end) = told("0.1.0", Answer::Messages(vec![filled])).await;
    assert!(matches!(events[..], [WatchEvent::Line(_)]), "{end:?}");
}

/// A stream that does not begin in time is a break, and its place is free again.
#[tokio::test]
async fn an_attach_without_an_answer_is_a_break() {
    let peer = Peer::start("0.1.0", |_| Answer::Silence).await;
    let target = target(&peer.http(), Auth::None);
    let client = Client::new(target, Limits::default().paced(10)).unwrap();
    let end = client
        .watch(&agent(), &WatchFrom::Tail(9))
        .await
        .unwrap_err();
    let StreamEnd::Broke(why) = end else {
        panic!("{end:?}")
    };
    assert!(
        why.contains("did not answer `WatchSandbox` within 1000 ms"),
        "{why}"
    );
}

/// A future that is dropped before an event came loses none.
#[tokio::test]
async fn next_is_cancel_safe() {
    let peer = Peer::start("0.1.0", |_| {
        Answer::Open(vec![line("a", "1"), line("b", "2")])
    })
    .await;
    let client = client(&peer.http());
    let mut watch = client.watch(&agent(), &WatchFrom::Tail(9)).await.unwrap();
    let mut said = Vec::new();
    while said.len() < 2 {
        tokio::select! {
            biased;
            () = tokio::task::yield_now() => {}
            event = watch.next() => said.push(event.unwrap()),
        }
    }
    let text = |event: &WatchEvent| match event {
        WatchEvent::Line(line) => line.message.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(said.iter().map(text).collect::<Vec<_>>(), ["a", "b"]);
}
