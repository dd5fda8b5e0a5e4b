//! Real lines, each against columns that were checked by hand.

use boundlane_ingest::{DecodeOptions, Decoded, Ignored};
use boundlane_record::{Column, Value};
use serde_json::{Map, Value as Json};

use super::support::{OBSERVED, decode_all, decoder};

const LINES: &str = include_str!("../fixtures/openshell-lines.txt");
const EXPECTED: &str = include_str!("../fixtures/openshell-lines.expected.jsonl");

/// Lines that nobody's grammar prints: their authors wrote `(…)` for a pid or `...` for a host, or they
/// come from documentation that no program can print. Each with what is still right about it.
const NOT_PRINTED: [(usize, &str); 8] = [
    (14, "bad_body"),
    (15, "bad_body"),
    (84, "unknown_form"),
    (93, "bad_body"),
    (94, "bad_body"),
    (97, "bad_body"),
    (120, "bad_body"),
    (121, "bad_body"),
];

fn columns(row: &boundlane_record::Row<'_>) -> Map<String, Json> {
    let mut columns = Map::new();
    row.each_present(|column, value| {
        let json = match value {
            Value::Text(text) => Json::from(text),
            Value::Int(n) => Json::from(n),
            Value::Long(n) => Json::from(n),
            Value::Time(micros) => Json::from(micros.0),
            Value::Bool(flag) => Json::from(flag),
        };
        columns.insert(column.name().to_owned(), json);
    });
    columns
}

/// Columns that are the same for every line, taken off.
fn own_columns(row: &boundlane_record::Row<'_>, line: &str) -> Map<String, Json> {
    let mut columns = columns(row);
    let mut take = |column: Column| columns.remove(column.name());
    assert_eq!(take(Column::observed), Some(Json::from(OBSERVED.0)));
    assert_eq!(take(Column::stream), Some(Json::from("import/demo/1")));
    assert_eq!(take(Column::sandbox), Some(Json::from("demo")));
    assert_eq!(take(Column::source), Some(Json::from("import")));
    assert_eq!(take(Column::trust), Some(Json::from("text")));
    let raw = take(Column::raw);
    if row.redactions.is_none() {
        assert_eq!(raw, Some(Json::from(line)));
    }
    columns
}

/// Every real line gives all of its columns and no other, or is passed over or unparsed as written
/// down beside it.
#[test]
fn real_lines_give_the_columns_that_were_checked_by_hand() {
    let mut records = 0;
    for (line, expected) in LINES.lines().zip(EXPECTED.lines()) {
        let mut expected: Map<String, Json> = serde_json::from_str(expected).unwrap();
        let number = expected.remove("line").unwrap();
        let mut fresh = decoder(DecodeOptions::default());
        let (decoded, row) = decode_all(&mut fresh, format!("{line}\n").as_bytes()).remove(0);
        match row {
            Some(row) => {
                assert_eq!(own_columns(&row, line), expected, "line {number}: {line}");
                records += usize::from(row.cause.is_none());
            }
            None => {
                assert_eq!(decoded, Decoded::Ignored(Ignored::Tracing), "line {number}");
                assert_eq!(
                    expected.get("ignored"),
                    Some(&Json::from("tracing")),
                    "line {number}"
                );
            }
        }
    }
    assert_eq!(LINES.lines().count(), EXPECTED.lines().count());
    assert!(records >= 100, "{records}");
}

/// No line that the grammar allows is unparsed or flagged.
#[test]
fn only_lines_that_no_gateway_prints_are_unparsed_or_flagged() {
    let mut found = Vec::new();
    for (number, expected) in EXPECTED.lines().enumerate() {
        let expected: Map<String, Json> = serde_json::from_str(expected).unwrap();
        let why = expected.get("cause").or(expected.get("flags"));
        if let Some(why) = why.and_then(Json::as_str) {
            found.push((number + 1, why.to_owned()));
        }
    }
    let allowed: Vec<_> = NOT_PRINTED
        .iter()
        .map(|(line, why)| (*line, why.to_string()))
        .collect();
    assert_eq!(found, allowed);
}
