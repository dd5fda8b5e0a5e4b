//! JSON: one object a line, or one document.
//!
//! Keys come in the order of the columns, absent values are left out, times are RFC 3339 in UTC with
//! microseconds, integers beyond 2^53 are texts: a reader with floating-point numbers loses nothing.

use super::cell::Datum;
use super::out::Out;
use crate::exit::Outcome;
use crate::time::push_rfc3339;

/// The largest integer that every JSON reader keeps exactly.
const EXACT_MAX: i128 = 1 << 53;

/// Appends `{"name":value,…}`, with or without what is absent.
pub(crate) fn push_object<'c, 'd>(
    line: &mut String,
    columns: impl IntoIterator<Item = (&'c str, Datum<'d>)>,
    keep_null: bool,
) {
    line.push('{');
    let mut is_first = true;
    for (name, value) in columns {
        if value == Datum::Null && !keep_null {
            continue;
        }
        if !std::mem::replace(&mut is_first, false) {
            line.push(',');
        }
        push_text(line, name);
        line.push(':');
        push_value(line, &value);
    }
    line.push('}');
}

fn push_value(line: &mut String, value: &Datum<'_>) {
    match value {
        Datum::Null => line.push_str("null"),
        Datum::Text(text) => push_text(line, text),
        Datum::Integer(n) if (-EXACT_MAX..=EXACT_MAX).contains(n) => line.push_str(&n.to_string()),
        Datum::Integer(n) => push_text(line, &n.to_string()),
        Datum::Float(n) if n.is_finite() => line.push_str(&n.to_string()),
        Datum::Float(n) => push_text(line, &n.to_string()),
        Datum::Bool(b) => line.push_str(if *b { "true" } else { "false" }),
        Datum::Time(at) => {
            line.push('"');
            push_rfc3339(line, *at);
            line.push('"');
        }
    }
}

/// Appends `text` in quotes. DEL and the C1 codes are escaped too, as are the separators and bidi
/// controls that a terminal or a script would act on: JSON allows it, and a reader gets the same text.
pub(crate) fn push_text(line: &mut String, text: &str) {
    use std::fmt::Write as _;
    line.push('"');
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            c if c.is_control() || is_active(c) => "",
            _ => continue,
        };
        line.push_str(&text[copied..at]);
        copied = at + c.len_utf8();
        if short.is_empty() {
            // Writing to a text cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push_str(short);
        }
    }
    line.push_str(&text[copied..]);
    line.push('"');
}

fn is_active(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{61c}')
}

/// `-o json`: `{"rows":[` … `],` and what is known about the whole. Rows are printed as they come.
#[derive(Debug, Default)]
pub(crate) struct Document {
    rows: u64,
}

impl Document {
    /// Adds a row, an object as text.
    pub(crate) fn row(&mut self, object: &str, out: &mut Out) -> Outcome<()> {
        out.text(if self.rows == 0 {
            "{\"rows\":[\n"
        } else {
            ",\n"
        })?;
        self.rows += 1;
        out.text(object)
    }

    /// Ends the document with the coverage of what was asked, a JSON value as text.
    pub(crate) fn finish(&mut self, coverage: &str, out: &mut Out) -> Outcome<()> {
        out.text(if self.rows == 0 { "{\"rows\":[" } else { "\n" })?;
        out.line(&format!("],\"coverage\":{coverage}}}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use boundlane_record::Micros;
    use proptest::prelude::*;

    use super::*;
    use crate::output::out::captured::Captured;

    fn object(columns: &[(&'static str, Datum<'static>)]) -> String {
        let mut line = String::new();
        push_object(&mut line, columns.iter().cloned(), false);
        line
    }

    #[test]
    fn a_value_is_spelled_otherwise_than_promised() {
        let text = |text: &'static str| Datum::Text(text.into());
        assert_eq!(
            object(&[
                ("a", text("x\"\\\n\u{1b}\u{9b}\u{202e}é")),
                ("none", Datum::Null),
                ("t", Datum::Time(Micros(0))),
                ("n", Datum::Integer(1 << 53)),
                ("big", Datum::Integer((1 << 53) + 1)),
                ("low", Datum::Integer(-(1 << 53) - 1)),
                ("f", Datum::Float(0.5)),
                ("nan", Datum::Float(f64::NAN)),
                ("b", Datum::Bool(true)),
            ]),
            "{\"a\":\"x\\\"\\\\\\n\\u001b\\u009b\\u202eé\",\"t\":\"1970-01-01T00:00:00.000000Z\",\
             \"n\":9007199254740992,\"big\":\"9007199254740993\",\"low\":\"-9007199254740993\",\
             \"f\":0.5,\"nan\":\"NaN\",\"b\":true}"
        );
        assert_eq!(object(&[]), "{}");
    }

    /// A document is one JSON value, with rows and without.
    #[test]
    fn a_document_is_no_json() {
        for count in 0..3 {
            let captured = Captured::default();
            let mut out = captured.out(false);
            let mut document = Document::default();
            for n in 0..count {
                document.row(&format!("{{\"n\":{n}}}"), &mut out).unwrap();
            }
            document.finish("{\"complete\":true}", &mut out).unwrap();
            out.flush_now().unwrap();
            let value: serde_json::Value = serde_json::from_str(&captured.text()).unwrap();
            assert_eq!(value["rows"].as_array().unwrap().len(), count);
            assert_eq!(value["coverage"]["complete"], true);
        }
    }

    proptest! {
        /// For all texts: a JSON reader gets exactly the text, and the line has no control character.
        #[test]
        fn for_all_texts_a_reader_gets_the_text(text in any::<String>()) {
            let mut line = String::new();
            push_text(&mut line, &text);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
