//! Canonical bytes, to Parquet, to canonical bytes.

use std::sync::Arc;

use boundlane_archive::{Archiver, OsDisk, list};
use boundlane_record::canonical::{decode, encode_text};
use boundlane_record::tree::Edge;
use boundlane_record::{Column, ColumnType};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{DAY, SMALL, assert_holds, journal, new_root, numbered, read_all, workload};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("\0".to_owned()),
        Just("\u{0}\u{1f}\"\\\u{7f}\u{85}\u{2028}\u{202e}\u{10ffff}".to_owned()),
        "[a-z./:-]{0,30}",
        ".{0,20}",
        vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ]
}

fn spelled(text: &str) -> String {
    let mut bytes = Vec::new();
    encode_text(text, &mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn long() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(0),
        Just(-1),
        any::<i64>(),
    ]
}

/// A value of the column's type, spelled canonically.
fn value(column_type: ColumnType) -> BoxedStrategy<String> {
    match column_type {
        ColumnType::Text => text().prop_map(|text| spelled(&text)).boxed(),
        ColumnType::Int => prop_oneof![Just(i32::MIN), Just(i32::MAX), any::<i32>()]
            .prop_map(|n| n.to_string())
            .boxed(),
        ColumnType::Long | ColumnType::Time => long().prop_map(|n| n.to_string()).boxed(),
        ColumnType::Bool => any::<bool>().prop_map(|b| b.to_string()).boxed(),
    }
}

/// A pair `"key":value` of a known column, `observed` mostly within three days.
fn known(index: usize) -> impl Strategy<Value = (usize, String)> {
    let column = Column::ALL[index];
    let moment = prop_oneof![9 => -DAY..2 * DAY, 1 => long()].prop_map(|n| n.to_string());
    let spelled = if column == Column::observed {
        moment.boxed()
    } else {
        value(column.column_type())
    };
    spelled.prop_map(move |value| (index, format!("\"{}\":{value}", column.name())))
}

/// Pairs of a newer writer.
fn newer() -> impl Strategy<Value = Vec<String>> {
    let value = prop_oneof![
        text().prop_map(|text| spelled(&text)),
        Just("1.50e-7".to_owned()),
        Just("null".to_owned()),
        Just(r#"{"observed":[{"kind":null},"\u0001",-0.0],"b":{}}"#.to_owned()),
        long().prop_map(|n| n.to_string()),
    ];
    // No writer gives a key twice: the number keeps them apart.
    vec(("new_[a-z]{1,6}", value), 0..4).prop_map(|pairs| {
        let numbered = pairs.into_iter().enumerate();
        numbered
            .map(|(n, (key, value))| format!("\"{key}_{n}\":{value}"))
            .collect()
    })
}

fn entry() -> impl Strategy<Value = Vec<u8>> {
    let pairs = vec((0..Column::ALL.len()).prop_flat_map(known), 0..14);
    let word = prop_oneof![Just("gap"), Just("decision"), Just("kind of tomorrow")];
    (pairs, newer(), word).prop_map(|(pairs, newer, kind)| {
        let mut known: std::collections::BTreeMap<_, _> = pairs.into_iter().collect();
        if known.len() % 2 == 0 {
            known.insert(0, format!("\"kind\":\"{kind}\""));
        }
        let pairs: Vec<String> = known.into_values().chain(newer).collect();
        format!("{{{}}}", pairs.join(",")).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// For all canonical entries, in whatever files and row groups they fall: what is read is what was written.
    #[test]
    fn entries_come_back_bit_for_bit(entries in vec(entry(), 1..60)) {
        for entry in &entries {
            prop_assert!(decode(entry).is_ok(), "{}", String::from_utf8_lossy(entry));
        }
        let (_directory, root) = new_root();
        let archiver = Archiver::open_with(root.clone(), Arc::new(OsDisk), SMALL).unwrap();
        let archived = archiver.write(&journal(), &Edge::new(), numbered(0, &entries)).unwrap();
        prop_assert_eq!(archived.edge, crate::support::edge_over(&entries));
        assert_holds(&root, &entries);
        for file in list(&root).files {
            prop_assert_eq!(file.open().unwrap().verify(2), Ok(file.footer.head()));
        }
    }

    /// For all numbers to begin from: reading gives exactly the entries from there on.
    #[test]
    fn reading_begins_where_it_is_asked_to(from in 0u64..70) {
        let (_directory, root) = new_root();
        let entries = workload(60);
        let limits = boundlane_archive::Limits { file_entries_max: 1000, ..SMALL };
        let archiver = Archiver::open_with(root.clone(), Arc::new(OsDisk), limits).unwrap();
        archiver.write(&journal(), &Edge::new(), numbered(0, &entries)).unwrap();
        let file = list(&root).files[0].open().unwrap();
        let mut seen = file.entries(boundlane_record::Seq(from));
        let mut found = Vec::new();
        while let Some(entry) = seen.next() {
            found.push(entry.unwrap().0.0);
        }
        prop_assert_eq!(found, (from.max(1)..=60).collect::<Vec<_>>());
    }
}

#[test]
fn an_empty_text_is_not_a_missing_one() {
    // Three entries that differ only in what is absent and what is empty stay three different entries.
    let entries: Vec<Vec<u8>> = [
        r#"{"kind":"event"}"#,
        r#"{"kind":"event","host":""}"#,
        "{}",
        r#"{"a":""}"#,
    ]
    .map(|entry| entry.as_bytes().to_vec())
    .to_vec();
    let (_directory, root) = new_root();
    let archiver = Archiver::open(root.clone()).unwrap();
    archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    assert_holds(&root, &entries);
}

#[test]
fn one_entry_larger_than_a_row_group_may_be_is_a_row_group() {
    // A limit of bytes cuts row groups and never an entry.
    let (_directory, root) = new_root();
    let entries: Vec<Vec<u8>> = (1..6)
        .map(|n| format!(r#"{{"kind":"event","raw":"{}"}}"#, "x".repeat(n * 30_000)).into_bytes())
        .collect();
    let archiver = Archiver::open_with(root.clone(), Arc::new(OsDisk), SMALL).unwrap();
    archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    assert_eq!(read_all(&list(&root)).len(), 5);
    assert_holds(&root, &entries);
}

#[test]
fn what_is_not_canonical_is_refused_by_its_number() {
    let (_directory, root) = new_root();
    let mut entries = workload(50);
    entries[40] = br#"{"kind": "event"}"#.to_vec();
    let archiver = Archiver::open_with(root.clone(), Arc::new(OsDisk), SMALL).unwrap();
    let refused = archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("entry 41 is not a canonical entry at byte 8"),
        "{refused}"
    );
    // The file before was still open when its successor failed.
    assert_holds(&root, &entries[..20]);
}
