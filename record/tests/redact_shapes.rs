//! The table of shapes and near misses, and the table in `docs/REDACTION.md`: both say what the
//! redactor does, and are held to it.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking and has no readers"
)]

use boundlane_record::redact::{FieldKind, Redactor, Spans};

const SHAPES: &str = include_str!("fixtures/redact/shapes.txt");
const DOC: &str = include_str!("../../docs/REDACTION.md");

fn redacted(text: &str) -> (String, usize) {
    let mut spans = Spans::new();
    Redactor::default().line(text, &mut spans);
    (spans.cut(text, 0..text.len()).into_owned(), spans.count())
}

/// `<36>` becomes 36 letters and digits, `<U16>` 16 capitals and digits.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        filled.push_str(before);
        let (inner, tail) = after.split_once('>').unwrap_or((after, ""));
        let (letters, count) = match inner.strip_prefix('U') {
            Some(count) => ("Q7W2E9R4T1Y6", count),
            None => ("q7W2e9R4t1Y6", inner),
        };
        match count.parse() {
            Ok(count) => {
                filled.extend(letters.chars().cycle().take(count));
                rest = tail;
            }
            Err(_) => {
                filled.push('<');
                rest = after;
            }
        }
    }
    filled + rest
}

#[test]
fn a_shape_that_is_not_cut_or_a_near_miss_that_is() {
    // Proves every row of the table: a positive is cut to exactly what stands below it, a near miss
    // stays byte for byte and counts nothing; and every shape has both.
    let (mut shape, mut before) = ("", None);
    let (mut positives, mut near_misses) = (Vec::new(), Vec::new());
    let mut wrong = Vec::new();
    for row in SHAPES.lines() {
        match row.split_once(' ') {
            Some(("##", name)) => shape = name,
            Some(("+", text)) => before = Some(filled(text)),
            Some((">", after)) => {
                let text = before.take().unwrap();
                positives.push(shape);
                if redacted(&text).0 != after {
                    wrong.push(format!(
                        "{shape}: {text}\n  wanted {after}\n  got    {}",
                        redacted(&text).0
                    ));
                }
            }
            Some(("-", text)) => {
                near_misses.push(shape);
                if redacted(&filled(text)) != (filled(text), 0) {
                    wrong.push(format!(
                        "{shape}: near miss {text}\n  got {}",
                        redacted(&filled(text)).0
                    ));
                }
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(positives.len() > 80 && near_misses.len() > 80);
    positives.dedup();
    near_misses.dedup();
    assert_eq!(positives, near_misses);
}
