//! The parsers against everything that the grammar can print, and against everything else.

use boundlane_ingest::{DecodeOptions, Decoded};
use boundlane_record::{Column, Row, Value};
use proptest::prelude::*;

use super::generator::{Event, event, hostile};
use super::support::{attributes, decode_all, decoder, row};

fn printed(row: &Row<'_>, name: &str) -> Option<String> {
    if name == "text" {
        return Some(free_text(row));
    }
    Some(match row.value(Column::from_name(name)?)? {
        Value::Text(text) => text.to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Long(n) => n.to_string(),
        Value::Time(micros) => micros.0.to_string(),
        Value::Bool(flag) => flag.to_string(),
    })
}

/// Message and suffix as they were printed.
fn free_text(row: &Row<'_>) -> String {
    let message = row.message.as_deref().unwrap_or_default().to_owned();
    let is_suffix = matches!(row.class_tag.as_deref(), Some("CONFIG" | "EVENT"));
    let values = attributes(row);
    let pairs: Vec<_> = values
        .iter()
        .map(|(key, value)| format!("{key}:{}", value.as_str().unwrap()))
        .collect();
    match is_suffix && !pairs.is_empty() {
        true => format!("{message} [{}]", pairs.join(" ")),
        false => message,
    }
}

fn check(event: &Event, row: &Row<'_>) -> Result<(), TestCaseError> {
    for (name, expected) in &event.head {
        prop_assert_eq!(
            &printed(row, name),
            expected,
            "{} of {:?}",
            name,
            event.text
        );
    }
    prop_assert_eq!(row.cause.as_deref(), None, "{:?}", event.text);
    prop_assert_eq!(row.raw.as_deref(), Some(event.text.as_str()));
    if let Some(flags) = row.flags.as_deref() {
        prop_assert_eq!(flags, "ambiguous", "{:?}", event.text);
        return Ok(());
    }
    for (name, expected) in &event.body {
        let expected = match *name {
            // Spaces at the end of a line's text are not part of it.
            "text" if row.class_tag.as_deref() == Some("LIFECYCLE") => expected
                .as_ref()
                .map(|text| text.trim_end_matches(' ').to_owned()),
            _ => expected.clone(),
        };
        prop_assert_eq!(printed(row, name), expected, "{} of {:?}", name, event.text);
    }
    Ok(())
}

/// A found bug becomes a named case here, not a file of seeds.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// For all events of the grammar, whatever names, commands and reasons they hold: the head is
    /// right, no event is unparsed, and the body is right or flagged as ambiguous.
    #[test]
    fn event_is_right_or_flagged(event in event()) {
        check(&event, &row(&event.text))?;
    }

    /// For all events, behind the prefix of the CLI and of the file they read the same.
    #[test]
    fn event_reads_the_same_behind_every_prefix(event in event()) {
        let bare = row(&event.text);
        for prefix in ["[1791068681.547] [sandbox] [OCSF ] [ocsf] ", "2026-10-03T21:44:41.547Z OCSF "] {
            let mut prefixed = row(&format!("{prefix}{}", event.text));
            prop_assert!(prefixed.time.is_some());
            (prefixed.time, prefixed.time_from, prefixed.raw) = (None, None, bare.raw.clone());
            prop_assert_eq!(&prefixed, &bare);
        }
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// For all bytes: each physical line has exactly one outcome, and nothing panics.
    #[test]
    fn each_physical_line_has_one_outcome(input in prop::collection::vec(any::<u8>(), 0..300)) {
        let lines = input.split(|byte| *byte == b'\n').count();
        let lines = lines - usize::from(input.is_empty() || input.ends_with(b"\n"));
        let outcomes = decode_all(&mut decoder(DecodeOptions::default()), &input);
        prop_assert_eq!(outcomes.len(), lines);
    }

    /// For all texts that a sandbox could put into a record, newlines too: the first line is counted as
    /// what it is, and every line behind it is kept as a continuation or had a prefix of its own.
    #[test]
    fn newline_in_a_name_never_hides_the_denial(before in hostile(), after in hostile()) {
        let prefix = "[1791068681.547] [sandbox] [OCSF ] [ocsf] ";
        let input = format!("{prefix}NET:OPEN [MED] DENIED /{before}\nx{after}(7) -> evil.example:443 [policy:- engine:opa]\n");
        let outcomes = decode_all(&mut decoder(DecodeOptions::default()), input.as_bytes());
        let first = outcomes[0].1.as_ref().unwrap();
        prop_assert_eq!(first.outcome.as_deref(), Some("denied"));
        let second = outcomes[1].1.as_ref().unwrap();
        prop_assert_eq!(second.continuation, Some(true));
    }

    /// For all pieces of lines put together at random: nothing panics, and what is kept has its raw text.
    #[test]
    fn pieces_of_lines_are_kept_or_ignored(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..10),
        text in hostile(),
    ) {
        let line = pieces.concat() + &text;
        for (decoded, row) in decode_all(&mut decoder(DecodeOptions::default()), line.as_bytes()) {
            match decoded {
                Decoded::Record { .. } => prop_assert!(row.unwrap().raw.is_some()),
                Decoded::Ignored(_) | Decoded::OtherSandbox(_) => prop_assert!(row.is_none()),
            }
        }
    }
}

const PIECES: [&str; 26] = [
    "[1791068681.547] ",
    "[sandbox] ",
    "[gateway] ",
    "[OCSF ] ",
    "[INFO ] ",
    "[ocsf] ",
    "OCSF ",
    "2026-10-03T21:44:41.547Z ",
    "14:00:00.000 ",
    "I ",
    "NET:OPEN ",
    "HTTP:GET ",
    "EVENT ",
    "CONFIG:LOADED ",
    "[INFO] ",
    "[MED] ",
    "DENIED ",
    "action=deny ",
    "dst_host=a ",
    "l7_decision=",
    "{\"class_uid\":",
    "4001}",
    "\"",
    "=",
    "\u{1b}[31m",
    "INFO a::b: ",
];
