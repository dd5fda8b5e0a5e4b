//! `docs/FORMATS.md` and the code say the same: every column and every word, in the same order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use boundlane_record::{
    Action, ClassTag, Column, Disposition, DropCause, ExtentKind, Flag, GapCause, Kind, Origin,
    Outcome, PlaceColumn, SessionKind, Severity, Source, TimeFrom, Trust, UnparsedReason,
};

/// The rows of the first table under `heading`, each as its cells without backticks.
fn table(heading: &str) -> Vec<Vec<String>> {
    let page = include_str!("../../docs/FORMATS.md");
    let section = page
        .split(&format!("\n{heading}\n"))
        .nth(1)
        .unwrap_or_else(|| {
            panic!("docs/FORMATS.md has no heading `{heading}`");
        });
    let rows = section.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect())
        .collect()
}

fn cell(text: &str) -> String {
    text.trim().trim_matches('`').to_owned()
}

fn first_cells(heading: &str) -> Vec<String> {
    table(heading)
        .into_iter()
        .map(|row| row[0].clone())
        .collect()
}

#[test]
fn every_column_stands_in_the_document_with_its_type_and_id() {
    let said = |heading: &str| -> Vec<[String; 3]> {
        table(heading)
            .into_iter()
            .map(|row| [row[0].clone(), row[1].clone(), row[2].clone()])
            .collect()
    };
    let entry = Column::ALL.iter().map(|column| {
        [
            column.name(),
            column.column_type().word(),
            &column.field_id().to_string(),
        ]
        .map(String::from)
    });
    assert_eq!(said("### Columns of the entry"), entry.collect::<Vec<_>>());
    let around = PlaceColumn::ALL.iter().map(|column| {
        [
            column.name(),
            column.column_type().word(),
            &column.field_id().to_string(),
        ]
        .map(String::from)
    });
    assert_eq!(
        said("### Columns around the entry"),
        around.collect::<Vec<_>>()
    );
}

#[test]
fn field_ids_are_never_used_twice() {
    let mut ids: Vec<i32> = Column::ALL.iter().map(|column| column.field_id()).collect();
    ids.extend(PlaceColumn::ALL.iter().map(|column| column.field_id()));
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

macro_rules! same_words {
    ($($name:ident under $heading:literal;)+) => {
        #[test]
        fn every_word_stands_in_the_document() {
            $(
                let words: Vec<&str> = $name::ALL.iter().map(|value| value.word()).collect();
                assert_eq!(first_cells(concat!("### ", $heading)), words, $heading);
            )+
        }
    };
}

same_words! {
    Kind under "kind";
    Outcome under "outcome";
    Action under "action";
    Disposition under "disposition";
    Severity under "severity";
    ClassTag under "class_tag";
    TimeFrom under "time_from";
    Source under "source";
    Origin under "origin";
    Trust under "trust";
    SessionKind under "cause of a session";
    GapCause under "cause of a gap";
    DropCause under "cause of drops";
    UnparsedReason under "cause of an unparsed line";
    ExtentKind under "extent";
    Flag under "flags";
}

#[test]
fn ocsf_numbers_stand_in_the_document() {
    let numbers = |heading: &str| -> Vec<i32> {
        table(heading)
            .iter()
            .map(|row| row[1].parse().unwrap())
            .collect()
    };
    let ids: Vec<i32> = Action::ALL.iter().map(|action| action.id()).collect();
    assert_eq!(numbers("### action"), ids);
    let ids: Vec<i32> = Disposition::ALL
        .iter()
        .map(|disposition| disposition.id())
        .collect();
    assert_eq!(numbers("### disposition"), ids);
    let ids: Vec<i32> = Severity::ALL.iter().map(|severity| severity.id()).collect();
    assert_eq!(numbers("### severity"), ids);
    let said = table("### class_tag");
    let said: Vec<_> = said
        .iter()
        .map(|row| (row[1].clone(), row[2].as_str()))
        .collect();
    let classes: Vec<_> = ClassTag::ALL
        .iter()
        .map(|tag| (tag.uid().to_string(), tag.caption()))
        .collect();
    assert_eq!(said, classes);
}
