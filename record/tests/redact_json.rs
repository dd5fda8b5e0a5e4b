//! Lines that are one JSON value: cut by key and by shape, and still JSON.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking and has no readers"
)]

use boundlane_record::redact::{MARK, Redactor, Spans};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

fn cut(line: &str) -> (String, usize) {
    let mut spans = Spans::new();
    Redactor::default().json(line, &mut spans);
    (spans.cut(line, 0..line.len()).into_owned(), spans.count())
}

/// A line, what it becomes, and how many places are cut.
const LINES: &[(&str, &str, usize)] = &[
    // By key, in any spelling, whatever the value is.
    (
        r#"{"token":"abc","n":1}"#,
        r#"{"token":"[redacted]","n":1}"#,
        1,
    ),
    (
        r#"{"\u0074oken":"abc"}"#,
        r#"{"\u0074oken":"[redacted]"}"#,
        1,
    ),
    (r#"{"%74oken":"abc"}"#, r#"{"%74oken":"[redacted]"}"#, 1),
    (
        r#"{ "apiKey" : 12.5e3 , "b":2}"#,
        r#"{ "apiKey" : "[redacted]" , "b":2}"#,
        1,
    ),
    (
        r#"{"session_uid":7,"secret":true,"passwd":null}"#,
        r#"{"session_uid":"[redacted]","secret":"[redacted]","passwd":null}"#,
        2,
    ),
    (
        r#"{"credentials":{"id":"a","deep":[1,"b",null,{"c":false}]},"d":1}"#,
        r#"{"credentials":{"id":"[redacted]","deep":["[redacted]","[redacted]",null,{"c":"[redacted]"}]},"d":1}"#,
        4,
    ),
    (
        r#"{"Authorization":"Bearer abc","Cookie":"a=b"}"#,
        r#"{"Authorization":"[redacted]","Cookie":"[redacted]"}"#,
        2,
    ),
    (
        r#"{"url":{"path":"/x","query_string":"a=1","fragment":"f"}}"#,
        r#"{"url":{"path":"/x","query_string":"[redacted]","fragment":"[redacted]"}}"#,
        2,
    ),
    // A name that holds an assignment is cut as text is, and its value as the name says.
    (
        r#"{"token=hunter22":1,"a":2}"#,
        r#"{"token=[redacted]":"[redacted]","a":2}"#,
        2,
    ),
    (
        r#"{"password: hunter22":null,"Authorization: Bearer abcdefgh":""}"#,
        r#"{"password: [redacted]":null,"Authorization: [redacted]":""}"#,
        2,
    ),
    (
        r#"{"credentials":{"api_key=hunter22":{"token%3Dhunter22":"x"}}}"#,
        r#"{"credentials":{"api_key=[redacted]":{"token%3D[redacted]":"[redacted]"}}}"#,
        3,
    ),
    (
        r#"{"query":"a","userinfo":"b:c"}"#,
        r#"{"query":"[redacted]","userinfo":"[redacted]"}"#,
        2,
    ),
    // By the name beside it, in either order.
    (
        r#"[{"name":"Authorization","value":"abc"},{"value":"abc","name":"X-Api-Key"}]"#,
        r#"[{"name":"Authorization","value":"[redacted]"},{"value":"[redacted]","name":"X-Api-Key"}]"#,
        2,
    ),
    // By shape, as the string decodes.
    (
        r#"{"m":"GET \/x?a=b c"}"#,
        r#"{"m":"GET \/x?[redacted] c"}"#,
        1,
    ),
    (
        r#"{"m":"token\u003dabc"}"#,
        r#"{"m":"token\u003d[redacted]"}"#,
        1,
    ),
    (
        r#"{"m":"a \"token\": \"abc\" b"}"#,
        r#"{"m":"a \"token\": \"[redacted]\" b"}"#,
        1,
    ),
    (
        r#"{"m":"-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nx"}"#,
        r#"{"m":"[redacted]\nx"}"#,
        1,
    ),
    (
        r#"{"url_string":"https://h/x?a b#c"}"#,
        r#"{"url_string":"https://h/x?[redacted]"}"#,
        1,
    ),
    (
        r#"{"url":{"path":"/x?a b"}}"#,
        r#"{"url":{"path":"/x?[redacted]"}}"#,
        1,
    ),
    (
        r#"{"cmd_line":"sshpass -p hunter2 ssh h"}"#,
        r#"{"cmd_line":"sshpass -p [redacted] ssh h"}"#,
        1,
    ),
    (
        r#"{"https://u:p@h/":1}"#,
        r#"{"https://[redacted]@h/":1}"#,
        1,
    ),
    // By the argument before it.
    (
        r#"{"argv":["curl","-u","user:pass","--token","abc","-v"]}"#,
        r#"{"argv":["curl","-u","[redacted]","--token","[redacted]","-v"]}"#,
        2,
    ),
    (
        r#"["sudo","-u","root","id"]"#,
        r#"["sudo","-u","root","id"]"#,
        0,
    ),
    // Marked already, or not secret.
    (
        r#"{"token":"[redacted]","secret":"<REDACTED>","m":"token=REDACTED"}"#,
        r#"{"token":"[redacted]","secret":"<REDACTED>","m":"token=REDACTED"}"#,
        0,
    ),
    (
        r#"{"dst_endpoint":{"domain":"secret-service.example.com","port":443},"name":"tokens","values":[1]}"#,
        r#"{"dst_endpoint":{"domain":"secret-service.example.com","port":443},"name":"tokens","values":[1]}"#,
        0,
    ),
    // No JSON: looked at as text, and what its keys said stays cut.
    (
        r#"{"query":"abc","token":"abc" x}"#,
        r#"{"query":"[redacted]","token":"[redacted]" x}"#,
        2,
    ),
    (r#"{"query":"abc cut sho"#, r#"{"query":"[redacted]"#, 1),
    (r#"{"a":1} token=abc"#, r#"{"a":1} token=[redacted]"#, 1),
    ("not json token=abc", "not json token=[redacted]", 1),
];

#[test]
fn a_json_line_that_is_cut_wrongly() {
    // Proves each rule for JSON on one line: what is cut, what stays, how many places are counted.
    for &(line, after, count) in LINES {
        assert_eq!(cut(line), (after.to_owned(), count), "{line}");
        assert_eq!(cut(after), (after.to_owned(), 0), "again: {after}");
    }
}

#[test]
fn a_line_nested_deeper_than_readers_go_overflows() {
    // Proves that depth costs no stack: 100,000 open brackets are looked at as text.
    let line = format!("{}\"token=abc\"", "[".repeat(100_000));
    assert!(!cut(&line).0.contains("abc"));
}

const KEYS: &[&str] = &[
    "token",
    "X-Session-Id",
    "query",
    "cookie",
    "secret",
    "passwordHash",
    "a",
    "name",
    "value",
    "url",
    "path",
    "cmd_line",
    "é\"\\",
    "port",
    "",
];

fn key() -> impl Strategy<Value = String> {
    select(KEYS).prop_map(str::to_owned)
}

fn string() -> impl Strategy<Value = String> {
    let pieces = [
        "token=",
        "abc",
        "?q=1",
        " ",
        "/x",
        "https://u:p@h/",
        "\"",
        "\\",
        "\n",
        "é",
        "\u{1f600}",
        "%3D",
        "%20",
        "\\u{3d}",
        "secret",
        "[redacted]",
        "[",
        "]",
        "--token",
        "-u",
        "a:b",
        "Bearer ",
        "]",
        "'",
        "-----BEGIN PRIVATE KEY-----",
        "\u{1}",
    ];
    prop::collection::vec(select(pieces.to_vec()), 0..8).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 4.0)),
        string().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// JSON text of `value`; `which` chooses the characters that are spelled `\uXXXX`.
fn spelled(value: &Value, which: u64) -> String {
    let list = |items: Vec<String>| items.join(",");
    match value {
        Value::Array(items) => {
            format!(
                "[{}]",
                list(items.iter().map(|item| spelled(item, which)).collect())
            )
        }
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| {
                format!("{}: {}", spelled_text(key, which), spelled(value, which))
            });
            format!("{{{}}}", list(pairs.collect()))
        }
        Value::String(text) => spelled_text(text, which),
        scalar => scalar.to_string(),
    }
}

fn spelled_text(text: &str, which: u64) -> String {
    let characters = text.chars().enumerate().map(|(at, character)| {
        let plain = Value::from(character.to_string()).to_string();
        let units = character
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        match which >> (at % 64) & 1 {
            0 => plain[1..plain.len() - 1].to_owned(),
            _ => units,
        }
    });
    format!("\"{}\"", characters.collect::<String>())
}

/// Whether the two differ in nothing but scalars that were cut, wholly or in part, and keys likewise.
fn is_same_but_cut(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(a, b)| is_same_but_cut(a, b))
        }
        (Value::Object(before), Value::Object(after)) => {
            let mut pairs = before.iter().zip(after);
            before.len() == after.len() && pairs.all(|((_, a), (_, b))| is_same_but_cut(a, b))
        }
        (before, Value::String(after)) if after.contains(MARK) => {
            !before.is_object() && !before.is_array()
        }
        (before, after) => before == after,
    }
}

/// Whether a value under a key that makes it secret is something else than a mark or null.
fn leaks(value: &Value, is_secret: bool) -> bool {
    let names = ["token", "session", "cookie", "secret", "passw"];
    match value {
        Value::Object(pairs) => pairs.iter().any(|(key, value)| {
            let key = key.to_lowercase();
            leaks(
                value,
                is_secret || key == "query" || names.iter().any(|name| key.contains(name)),
            )
        }),
        Value::Array(items) => items.iter().any(|item| leaks(item, is_secret)),
        Value::Null => false,
        Value::String(text) => is_secret && text != MARK && !text.is_empty(),
        _ => is_secret,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// For all JSON values, however spelled: the cut line is JSON of the same form, nothing is left
    /// under a secret key, and cutting it again finds nothing.
    #[test]
    fn a_cut_line_that_is_not_json(value in value(), which in any::<u64>()) {
        let line = spelled(&value, which);
        prop_assert_eq!(&serde_json::from_str::<Value>(&line).unwrap(), &value);
        let (after, _) = cut(&line);
        let read: Value = serde_json::from_str(&after).map_err(|error| TestCaseError::fail(format!("{error}: {line}\n{after}")))?;
        prop_assert!(is_same_but_cut(&value, &read), "{line}\n{after}");
        prop_assert!(!leaks(&read, false), "{line}\n{after}");
        prop_assert_eq!(cut(&after), (after, 0));
    }

    /// For all places where a line may be cut short, no eight characters of a secret are left.
    #[test]
    fn a_secret_in_a_line_that_was_cut_short(end in 0usize..400, shape in 0usize..6) {
        let canary = "Zq7W2e9R4t1Y6u8I3o5P0";
        let line = [
            format!(r#"{{"a":[1,{{"session":{{"b":"{canary}"}}}}]}}"#),
            format!(r#"{{"query_string":"x {canary} y","z":1}}"#),
            format!(r#"{{"m":"GET /x?q={canary} z","n":"{canary}=?x"}}"#).replace(&format!("\"{canary}=?x\""), "1"),
            format!(r#"{{"m":"a\n\u0074oken\u003d{canary}"}}"#),
            format!(r#"{{"headers":[{{"name":"Cookie","value":"token={canary}"}}]}}"#),
            format!(r#"{{"argv":["x","--token","{canary}"]}}"#),
        ];
        let line = &line[shape];
        let (after, _) = cut(&line[..end.min(line.len())]);
        for part in canary.as_bytes().windows(8) {
            prop_assert!(!after.contains(std::str::from_utf8(part).unwrap()), "{after}");
        }
    }
}
