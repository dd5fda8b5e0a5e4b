//! The canonical bytes: one spelling for each row, and nothing else is read.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking and has no readers"
)]

use std::borrow::Cow;

use boundlane_record::canonical::{NotCanonical, decode, encode, visit};
use boundlane_record::{Column, ColumnType, Row, Value};
use proptest::prelude::*;

fn encoded(row: &Row<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(row, &mut bytes);
    bytes
}

/// A value for a column, before its type is known.
#[derive(Debug, Clone)]
struct Draw {
    text: String,
    long: i64,
    int: i32,
    bool: bool,
}

fn draw() -> impl Strategy<Value = Draw> {
    let character = prop_oneof![
        4 => any::<char>(),
        2 => (0u32..0x20).prop_map(|code| char::from_u32(code).unwrap()),
        1 => Just('"'),
        1 => Just('\\'),
        1 => Just('\u{7f}'),
        1 => Just('\u{2028}'),
    ];
    let text = prop::collection::vec(character, 0..12).prop_map(|text| text.into_iter().collect());
    let long = prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), -9i64..10];
    (text, long, any::<i32>(), any::<bool>()).prop_map(|(text, long, int, bool)| Draw {
        text,
        long,
        int,
        bool,
    })
}

/// JSON text of a row with some columns, written by serde_json, and keys of a newer writer after them.
fn written(draws: &[Option<Draw>], newer: &[(String, serde_json::Value)]) -> String {
    let mut object = serde_json::Map::new();
    for (column, draw) in Column::ALL.iter().zip(draws) {
        let Some(draw) = draw else { continue };
        let value = match column.column_type() {
            ColumnType::Text => draw.text.clone().into(),
            ColumnType::Int => draw.int.into(),
            ColumnType::Long | ColumnType::Time => draw.long.into(),
            ColumnType::Bool => draw.bool.into(),
        };
        object.insert(column.name().to_owned(), value);
    }
    object.extend(newer.iter().cloned());
    serde_json::Value::from(object).to_string()
}

fn draws() -> impl Strategy<Value = Vec<Option<Draw>>> {
    let sparse = prop::collection::vec(prop::option::weighted(0.2, draw()), Column::ALL.len());
    let full = prop::collection::vec(draw().prop_map(Some), Column::ALL.len());
    prop_oneof![4 => sparse, 1 => full]
}

fn newer() -> impl Strategy<Value = Vec<(String, serde_json::Value)>> {
    let scalar = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<i32>().prop_map(|n| (f64::from(n) / 8.0).into()),
        draw().prop_map(|draw| draw.text.into()),
    ];
    let value = scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec(("[a-z\"\\\\]{0,4}", inner), 0..4)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    });
    prop::collection::vec(("newer_[a-z]{1,3}", value), 0..3)
}

fn expected(row: &Row<'_>, draws: &[Option<Draw>]) -> Result<(), TestCaseError> {
    for (column, draw) in Column::ALL.iter().zip(draws) {
        let value = row.value(*column);
        prop_assert_eq!(value.is_some(), draw.is_some(), "{:?}", column);
        let (Some(value), Some(draw)) = (value, draw) else {
            continue;
        };
        match value {
            Value::Text(text) => prop_assert_eq!(text, &draw.text),
            Value::Int(n) => prop_assert_eq!(n, draw.int),
            Value::Long(n) => prop_assert_eq!(n, draw.long),
            Value::Time(micros) => prop_assert_eq!(micros.0, draw.long),
            Value::Bool(b) => prop_assert_eq!(b, draw.bool),
        }
    }
    Ok(())
}

/// What visiting the bytes gives, and what decoding them does.
fn both_ways(bytes: &[u8]) -> [Result<(Vec<String>, String), NotCanonical>; 2] {
    let said = |column: Column, value: Value<'_>| format!("{}: {value:?}", column.name());
    let mut values = Vec::new();
    let rest = visit(bytes, |column, value| values.push(said(column, value)));
    let visited = rest.map(|rest| (values, rest.into_owned()));
    let decoded = decode(bytes).map(|row| {
        let present = |column: &Column| Some(said(*column, row.value(*column)?));
        let values = Column::ALL.iter().filter_map(present).collect();
        (values, row.rest.to_string())
    });
    [visited, decoded]
}

proptest! {
    /// For all rows, and all keys of newer writers after them: what serde_json writes compactly is
    /// read to the same values, and written again to the same bytes; the row owned, too.
    #[test]
    fn bytes_that_do_not_come_back(draws in draws(), newer in newer()) {
        let text = written(&draws, &newer);
        let row = decode(text.as_bytes()).unwrap();
        expected(&row, &draws)?;
        prop_assert_eq!(row.rest.is_empty(), newer.is_empty());
        prop_assert_eq!(String::from_utf8(encoded(&row)).unwrap(), text.as_str());
        let again = encoded(&row);
        prop_assert_eq!(decode(&again).unwrap(), row.clone());
        prop_assert_eq!(encoded(&row.into_owned()), text.as_bytes());
        let [visited, decoded] = both_ways(text.as_bytes());
        prop_assert_eq!(visited, decoded);
    }

    /// For all rows with one byte changed: what is still read is what encoding writes, bit for bit.
    #[test]
    fn a_changed_byte_is_read_as_another_spelling(draws in draws(), newer in newer(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = written(&draws, &newer).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let [visited, decoded] = both_ways(&bytes);
        prop_assert_eq!(visited, decoded);
        if let Ok(row) = decode(&bytes) {
            prop_assert_eq!(encoded(&row), bytes);
        }
    }

    /// For all bytes, nothing panics, and what is read is what encoding writes.
    #[test]
    fn any_bytes_that_panic(text in "[{}\\[\\]\",:0-9a-z\\\\ -]{0,40}") {
        if let Ok(row) = decode(text.as_bytes()) {
            prop_assert_eq!(encoded(&row), text.as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For all rows and all places: bytes that end too early are refused, and nothing panics.
    #[test]
    fn bytes_that_end_too_early_are_read(draws in draws(), newer in newer()) {
        let text = written(&draws, &newer);
        for end in 0..text.len() {
            prop_assert!(decode(&text.as_bytes()[..end]).is_err(), "{}", end);
        }
    }
}

/// What is not canonical, where, and what is missed there.
const REFUSED: &[(&str, usize, &str)] = &[
    ("", 0, "`{`"),
    ("[]", 0, "`{`"),
    ("{", 1, "a string"),
    ("{}x", 2, "the end"),
    ("{} ", 2, "the end"),
    ("{}{}", 2, "the end"),
    (r#"{"kind":"gap"}x"#, 14, "the end"),
    (r#"{"kind":"gap""#, 13, "`,`"),
    (r#"{"kind":"gap",}"#, 14, "a string"),
    (r#"{,"kind":"gap"}"#, 1, "a string"),
    (
        r#"{"kind": "gap"}"#,
        8,
        "a string, an integer, `true` or `false`",
    ),
    (r#"{ "kind":"gap"}"#, 1, "a string"),
    (r#"{"kind" :"gap"}"#, 7, "`:`"),
    // Keys out of order, or twice, near and far from each other.
    (
        r#"{"outcome":"other","kind":"gap"}"#,
        19,
        "keys in column order, each once",
    ),
    (
        r#"{"kind":"gap","kind":"gap"}"#,
        14,
        "keys in column order, each once",
    ),
    (
        r#"{"expunged":"a","kind":"gap"}"#,
        16,
        "keys in column order, each once",
    ),
    (
        r#"{"newer":1,"kind":"gap"}"#,
        11,
        "no known key after a newer one",
    ),
    (
        r#"{"kind":"gap","newer":1,"kind":"gap"}"#,
        24,
        "no known key after a newer one",
    ),
    // Numbers.
    (
        r#"{"port":0443}"#,
        8,
        "a 64-bit integer in its shortest spelling",
    ),
    (
        r#"{"port":-0}"#,
        8,
        "a 64-bit integer in its shortest spelling",
    ),
    (
        r#"{"port":-}"#,
        8,
        "a 64-bit integer in its shortest spelling",
    ),
    (
        r#"{"port":+1}"#,
        8,
        "a string, an integer, `true` or `false`",
    ),
    (r#"{"port":1.0}"#, 9, "`,`"),
    (r#"{"port":1e3}"#, 9, "`,`"),
    (
        r#"{"time":9223372036854775808}"#,
        8,
        "a 64-bit integer in its shortest spelling",
    ),
    // Values of another type, or beyond it.
    (r#"{"port":"443"}"#, 8, "a value of the column's type"),
    (r#"{"port":2147483648}"#, 8, "a value of the column's type"),
    (r#"{"kind":1}"#, 8, "a value of the column's type"),
    (r#"{"policy_known":1}"#, 16, "a value of the column's type"),
    (r#"{"kind":true}"#, 8, "a value of the column's type"),
    (
        r#"{"kind":null}"#,
        8,
        "a string, an integer, `true` or `false`",
    ),
    (
        r#"{"kind":["gap"]}"#,
        8,
        "a string, an integer, `true` or `false`",
    ),
    (r#"{"policy_known":tru}"#, 16, "true"),
    // Other spellings of a string.
    (r#"{"kind":"\u001F"}"#, 9, "a canonical escape"),
    (r#"{"kind":"\u0041"}"#, 9, "a canonical escape"),
    (r#"{"kind":"\u000a"}"#, 9, "a canonical escape"),
    (r#"{"kind":"\u007f"}"#, 9, "a canonical escape"),
    (r#"{"kind":"\u2028"}"#, 9, "a canonical escape"),
    (r#"{"kind":"\/"}"#, 9, "a canonical escape"),
    (r#"{"kind":"\u00"#, 9, "a canonical escape"),
    (r#"{"kind":"\"#, 9, "a canonical escape"),
    (r#"{"k\u0069nd":"gap"}"#, 3, "a canonical escape"),
    (
        "{\"kind\":\"a\tb\"}",
        10,
        "a closed string without bare controls",
    ),
    (
        "{\"kind\":\"\\\\\u{1}\"}",
        11,
        "a closed string without bare controls",
    ),
    (
        r#"{"kind":"gap}"#,
        13,
        "a closed string without bare controls",
    ),
    // What a newer writer may not write either.
    (r#"{"newer":}"#, 9, "a value"),
    (r#"{"newer":[1,]}"#, 12, "a value"),
    (r#"{"newer":{"a"}}"#, 13, "`:`"),
    (r#"{"newer":"\u0041"}"#, 10, "a canonical escape"),
    (r#"{"newer":1 }"#, 10, "`,`"),
    (r#"{"newer":nul}"#, 9, "null"),
    (r#"{"newer":01}"#, 11, "a number without padding"),
    (r#"{"newer":-}"#, 10, "a digit"),
    (r#"{"newer":1.}"#, 11, "a digit"),
    (r#"{"newer":1e+}"#, 12, "a digit"),
    (r#"{"newer":1-2}"#, 10, "`,`"),
    (r#"{"newer":1,"newer":2}"#, 11, "each newer key once"),
];

#[test]
fn another_spelling_is_read() {
    // Proves each rule of the canonical form: the bytes, where reading stops, and what it missed.
    for &(text, at, what) in REFUSED {
        let refused = decode(text.as_bytes()).unwrap_err();
        assert_eq!((refused.at, refused.what), (at, what), "{text}");
    }
    let refused = decode(b"{\"kind\":\"\xff\"}").unwrap_err();
    assert_eq!((refused.at, refused.what), (9, "valid UTF-8"));
    assert_eq!(
        refused.to_string(),
        "not a canonical entry at byte 9: valid UTF-8"
    );
}

#[test]
fn nesting_without_end_overflows_the_stack() {
    // Proves that depth is bounded: 32 levels are kept verbatim, one more and a million are refused.
    let nested = |depth: usize| format!("{{\"newer\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [1, 32] {
        let text = nested(depth);
        assert_eq!(encoded(&decode(text.as_bytes()).unwrap()), text.as_bytes());
    }
    for depth in [34, 1_000_000] {
        assert_eq!(
            decode(nested(depth).as_bytes()).unwrap_err().what,
            "nesting of at most 32"
        );
    }
}

#[test]
fn a_newer_key_is_lost() {
    // Proves that what a newer writer added stays verbatim, after known keys, alone, and when the row
    // is made by hand.
    let after = br#"{"kind":"gap","newer":{"a":[1.50,null]},"x":"\u001f"}"#;
    let row = decode(after).unwrap();
    assert_eq!(row.kind.as_deref(), Some("gap"));
    assert_eq!(row.rest, r#","newer":{"a":[1.50,null]},"x":"\u001f""#);
    assert_eq!(encoded(&row), after);
    let alone = br#"{"newer":1}"#;
    let row = decode(alone).unwrap();
    assert_eq!(row.rest, r#","newer":1"#);
    assert_eq!(encoded(&row), alone);
    let by_hand = Row {
        kind: Some("gap".into()),
        rest: Cow::Borrowed(r#","newer":1"#),
        ..Row::default()
    };
    assert_eq!(encoded(&by_hand), br#"{"kind":"gap","newer":1}"#);
    assert_eq!(encoded(&Row::default()), b"{}");
    assert_eq!(decode(b"{}"), Ok(Row::default()));
}
