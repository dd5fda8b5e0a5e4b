//! OCSF JSON lines of every class, against columns that were checked by hand.

use boundlane_ingest::{DecodeOptions, Decoded, StatedSandbox};
use boundlane_record::{Column, Row, Value};
use serde_json::{Map, Value as Json};

use super::support::{attributes, decode_all, decoder, row, rows, stream};

const SANDBOX: &str = "5f0c1c1e-7a55-4a5e-9f44-0d6c6f1f2a10";

const SCHEMAS: [(&str, &str); 2] = [
    (
        include_str!("../fixtures/ocsf-1.7.0.jsonl"),
        include_str!("../fixtures/ocsf-1.7.0.expected.jsonl"),
    ),
    (
        include_str!("../fixtures/ocsf-1.8.0.jsonl"),
        include_str!("../fixtures/ocsf-1.8.0.expected.jsonl"),
    ),
];

fn json(row: &Row<'_>, name: &str) -> Json {
    match row.value(Column::from_name(name).unwrap()) {
        Some(Value::Text(text)) => Json::from(text),
        Some(Value::Int(n)) => Json::from(n),
        Some(Value::Long(n)) => Json::from(n),
        Some(Value::Time(micros)) => Json::from(micros.0),
        Some(Value::Bool(flag)) => Json::from(flag),
        None => Json::Null,
    }
}

/// Every class of both schemas gives the columns written down beside it.
#[test]
fn events_of_every_class_give_the_columns_that_were_checked_by_hand() {
    let mut classes = std::collections::BTreeSet::new();
    for (lines, expected) in SCHEMAS {
        assert_eq!(lines.lines().count(), expected.lines().count());
        for (line, expected) in lines.lines().zip(expected.lines()) {
            let row = row(line);
            let expected: Map<String, Json> = serde_json::from_str(expected).unwrap();
            for (name, expected) in &expected {
                match name.as_str() {
                    "attributes" => assert_eq!(&Json::Object(attributes(&row)), expected, "{line}"),
                    name => assert_eq!(&json(&row, name), expected, "{name} of {line}"),
                }
            }
            assert_eq!(row.trust.as_deref(), Some("framed"));
            assert_eq!(row.time_from.as_deref(), Some("line"));
            classes.extend(row.class_tag.map(|tag| tag.into_owned()));
        }
    }
    assert_eq!(classes.len(), 9, "{classes:?}");
}

/// The sandbox's id is the container's; where an older schema has it in the metadata too, it is no
/// second id, and a newer one's own event id is kept apart.
#[test]
fn sandbox_id_and_event_id_are_told_apart() {
    for line in SCHEMAS[0].0.lines() {
        let row = row(line);
        assert_eq!(row.sandbox_id.as_deref(), Some(SANDBOX));
        assert!(!attributes(&row).contains_key("event_uid"));
    }
    let newer = row(SCHEMAS[1].0.lines().next().unwrap());
    assert_eq!(newer.sandbox_id.as_deref(), Some(SANDBOX));
    assert!(
        attributes(&newer)["event_uid"]
            .as_str()
            .unwrap()
            .starts_with("0198f3c2-4001")
    );
    let bare = |version: &str| {
        row(&format!(
            r#"{{"class_uid":0,"metadata":{{"uid":"u-1","version":"{version}"}}}}"#
        ))
    };
    assert_eq!(bare("1.7.0").sandbox_id.as_deref(), Some("u-1"));
    assert_eq!(bare("1.8.0").sandbox_id, None);
}

#[test]
fn stated_sandbox_contradicts_another_name() {
    let mut decoder = decoder(DecodeOptions::default());
    assert_eq!(decoder.stated_sandbox(), None);
    decode_all(&mut decoder, SCHEMAS[0].0.as_bytes());
    let stated = StatedSandbox {
        id: Some(SANDBOX.into()),
        name: Some("demo".into()),
    };
    assert_eq!(decoder.stated_sandbox(), Some(&stated));
    assert!(!stated.contradicts(&stream()));
    let other = r#"{"class_uid":0,"container":{"name":"other"}}"#;
    let (decoded, row) = decode_all(&mut decoder, other.as_bytes()).remove(0);
    assert!(matches!(decoded, Decoded::OtherSandbox(_)) && row.is_none());
}

/// A LOADED event's named hash is the policy of the decisions behind it.
#[test]
fn policy_follows_json_events_too() {
    let loaded = SCHEMAS[1].0.lines().nth(3).unwrap();
    let denied = SCHEMAS[0].0.lines().next().unwrap();
    let rows = rows(&format!("{denied}\n{loaded}\n{denied}\n"));
    assert_eq!(rows[0].policy_known, Some(false));
    assert_eq!(rows[2].policy_hash.as_deref(), Some("0cc0c2b525573c07"));
    assert_eq!(rows[2].policy_version.as_deref(), Some("v4"));
}

#[test]
fn what_is_no_event_is_unparsed_with_its_reason() {
    for (line, cause) in [
        (r#"{"class_uid":4001"#, "bad_json"),
        (r#"{"class_uid":4001} x"#, "bad_json"),
        (r#"{"verdict":"allow"}"#, "not_ocsf"),
        (r#"{"class_uid":"4001"}"#, "not_ocsf"),
    ] {
        let row = row(line);
        assert_eq!(
            (row.kind.as_deref(), row.cause.as_deref()),
            (Some("unparsed"), Some(cause))
        );
        assert_eq!(row.raw.as_deref(), Some(line));
    }
}

/// Values of another type than their column's become named values, as spelled.
#[test]
fn value_that_does_not_fit_its_column_is_named() {
    let row = row(
        r#"{"action_id":2,"actor":{"process":{"name":"x","pid":4294967296}},"class_uid":4001,"dst_endpoint":{"ip":"::1","port":70000},"time":1.5e12}"#,
    );
    let attributes = attributes(&row);
    assert_eq!((row.pid, row.port, row.time), (None, None, None));
    assert_eq!(attributes["pid"], "4294967296");
    assert_eq!(attributes["port"], "70000");
    assert_eq!(attributes["time"], "1.5e12");
    assert_eq!(
        (row.host.as_deref(), row.outcome.as_deref()),
        (Some("::1"), Some("denied"))
    );
}

/// Half a surrogate pair is no text: it stays as spelled, and the event is read.
#[test]
fn half_a_surrogate_pair_stays_as_spelled() {
    let row = row(r#"{"class_uid":0,"message":"a\ud800b","severity_id":2}"#);
    assert_eq!(row.message.as_deref(), Some(r"a\ud800b"));
    assert_eq!(row.severity.as_deref(), Some("Low"));
}
