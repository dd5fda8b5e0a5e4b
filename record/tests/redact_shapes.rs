//! The table of shapes and near misses, and the table in `docs/REDACTION.md`: both say what the
//! redactor does, and are held to it.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking and has no readers"
)]

use boundlane_record::redact::{FieldKind, MARK, Redactor, Spans};

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

#[test]
fn a_row_of_the_document_that_is_not_true() {
    // Proves each example of `docs/REDACTION.md`, and that the table is read at all.
    let mut rows = 0;
    for row in DOC.lines().filter(|row| row.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, before, after] = cells[..] else {
            panic!("three cells in {row}");
        };
        let (Some(before), Some(after)) = (code(before), code(after)) else {
            continue;
        };
        assert_eq!(redacted(&filled(before)).0, after, "{row}");
        rows += 1;
    }
    assert!(rows > 45, "{rows} rows");
}

fn code(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

#[test]
fn a_url_field_that_keeps_part_of_its_query() {
    // Proves that a field known to be a URL is cut to its end, whatever characters are in it.
    let fields = [
        ("/x?a=b c]d\"e", "/x?[redacted]"),
        ("/x#a b", "/x#[redacted]"),
        ("https://to ken@h/x", "https://[redacted]@h/x"),
        ("user:pass@h", "[redacted]@h"),
        ("//user@h/x", "//[redacted]@h/x"),
        ("what?no", "what?[redacted]"),
        ("/x?a=REDACTED#[redacted]", "/x?[redacted]"),
        ("/x?a=[CREDENTIAL]&b=", "/x?a=[CREDENTIAL]&b="),
        ("/x?", "/x?"),
        ("/pkg@1.0", "/pkg@1.0"),
    ];
    for (before, after) in fields {
        let line = format!("GET {before}] x");
        let field = 4..4 + before.len();
        let mut spans = Spans::new();
        Redactor::default().field(&line, field.clone(), FieldKind::Url, &mut spans);
        assert_eq!(spans.cut(&line, field), after);
        assert_eq!(spans.cut(&line, 0..4), "GET ");
    }
}

#[test]
fn a_pattern_of_ones_own_is_not_used_or_not_refused() {
    // Proves that patterns cut whole matches, under escapes too, and that a bad one is named by its
    // number alone.
    let redactor = Redactor::new(&["ACME-[0-9]{4}".into(), "(?i)zebra".into()]).unwrap();
    let line = "id ACME-1234, AC%4dE-5678, Zebra";
    let mut spans = Spans::new();
    redactor.line(line, &mut spans);
    assert_eq!(
        spans.cut(line, 0..line.len()),
        format!("id {MARK}, {MARK}, {MARK}")
    );
    for bad in ["hunter2(", "hunter2(?<!x)", "(hunter2{1000}){1000}"] {
        let error = Redactor::new(&["fine".into(), bad.into()]).unwrap_err();
        assert_eq!(error.number, 2);
        let said = error.to_string();
        assert!(
            said.starts_with("`redact` pattern 2 cannot be used: it "),
            "{said}"
        );
        assert!(!said.contains("hunter2"), "{said}");
    }
}
