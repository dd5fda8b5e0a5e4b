//! What holds for every text: nothing secret is left, nothing is cut twice, and the pieces fit.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test fails by panicking and has no readers"
)]

use boundlane_record::redact::{FieldKind, MARK, Redactor, Spans};
use proptest::prelude::*;
use proptest::sample::select;

const CLEAN: &str = include_str!("fixtures/redact/clean-lines.txt");

/// What shapes are made of, whole and in halves, and what may stand around them.
const PIECES: &[&str] = &[
    "token",
    "secret=",
    "passw",
    "api key",
    "api_key",
    "session",
    "signature: ",
    "credential",
    "Authorization",
    "Cookie: ",
    "Set-Cookie",
    "bearer ",
    "Basic ",
    "-u ",
    " -u",
    "--user ",
    "--token ",
    "--",
    "-",
    "=",
    ":",
    ": ",
    " = ",
    "=>",
    "?",
    "??",
    "?a=",
    "&",
    "&b=",
    "#",
    "@",
    "://",
    "http://",
    "https://h/",
    "user:pass@",
    "h.example:443/",
    "/",
    "//",
    "/t/",
    "/bot1:",
    "/services/T0/B0/x",
    "/webhook/",
    "/webhooks/12345678/",
    "/hooks/",
    "[",
    "]",
    "[[",
    "]]",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "\\",
    "\\\"",
    "\\\\",
    "\\n",
    "\\u{",
    "\\u{3d}",
    "\\u{20}",
    "\\u003d",
    "\\ud83d",
    "\\x3d",
    "\\u{5b}",
    "%",
    "%3D",
    "%3F",
    "%20",
    "%25",
    "%253D",
    "%5B",
    "%5D",
    "%22",
    "%5c",
    "ghp_",
    "sk-",
    "sk-ant-",
    "eyJ",
    ".",
    "AKIA",
    "xoxb-",
    "1234567:",
    "-----BEGIN PRIVATE KEY",
    "-----END",
    "-----",
    MARK,
    "[redacted",
    "redacted]",
    "REDACTED",
    "<REDACTED>",
    "[CREDENTIAL]",
    "***",
    " ",
    "  ",
    "\t",
    "\n",
    ",",
    ";",
    "é",
    "\u{1f600}",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => select(PIECES).prop_map(str::to_owned),
        2 => "[a-zA-Z0-9]{1,20}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn kind() -> impl Strategy<Value = FieldKind> {
    select(&[FieldKind::Text, FieldKind::Url, FieldKind::Command][..])
}

fn cut(redactor: &Redactor, text: &str, kind: FieldKind) -> (String, Spans) {
    let mut spans = Spans::new();
    redactor.field(text, 0..text.len(), kind, &mut spans);
    (spans.cut(text, 0..text.len()).into_owned(), spans)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// For all texts of all kinds, redacting the redacted text finds nothing: a place is counted once.
    #[test]
    fn a_marked_place_is_counted_again(text in text(), kind in kind()) {
        let redactor = Redactor::default();
        let (once, _) = cut(&redactor, &text, kind);
        let (twice, spans) = cut(&redactor, &once, kind);
        prop_assert_eq!(&twice, &once);
        prop_assert_eq!(spans.count(), 0);
    }

    /// For all texts, spans are sorted, apart, not empty, on character boundaries and inside the field;
    /// the cut text has one mark more for each, and a text without spans is not copied.
    #[test]
    fn a_span_that_does_not_fit_the_text(text in text(), kind in kind(), around in text()) {
        let line = format!("{around}{text}{around}");
        let field = around.len()..around.len() + text.len();
        let mut spans = Spans::new();
        Redactor::default().field(&line, field.clone(), kind, &mut spans);
        let mut last = None;
        for range in spans.ranges() {
            prop_assert!(range.start < range.end && last < Some(range.start));
            prop_assert!(field.start <= range.start && range.end <= field.end);
            prop_assert!(line.is_char_boundary(range.start) && line.is_char_boundary(range.end));
            last = Some(range.end);
        }
        let kept: usize = spans.ranges().iter().map(|range| range.len()).sum();
        let after = spans.cut(&line, 0..line.len());
        prop_assert_eq!(after.len(), line.len() - kept + spans.count() * MARK.len());
    }

    /// For all texts and patterns of one's own, too, redacting twice is redacting once.
    #[test]
    fn a_pattern_that_matches_the_mark_cuts_it_again(
        text in text(),
        pattern in select(&["[a-z]+", "acted", "(?s).*", "\\[r", "x*", "[^ ]+", "d\\]?."][..]),
    ) {
        let redactor = Redactor::new(&[pattern.to_owned()]).unwrap();
        let (once, _) = cut(&redactor, &text, FieldKind::Text);
        prop_assert_eq!(cut(&redactor, &once, FieldKind::Text).1.count(), 0);
    }
}

/// Every shape once, with `CANARY` where the secret stands.
const CARRIERS: &[&str] = &[
    "http://h/x?CANARY",
    "http://h/x?a=1&b=CANARY",
    "api.github.com:443/x?token=CANARY",
    "/x?CANARY=1",
    "?q=CANARY",
    "https://h/x#CANARY",
    "https://user:CANARY@h/",
    "https://CANARY@h/x",
    "https://CANARY:x@h/",
    "amqp://u:CANARY@h:5672",
    "user:CANARY@h.example:443/x",
    "Authorization: CANARY",
    "Authorization: Bearer CANARY",
    "Proxy-Authorization: Basic CANARY",
    "-H \"Authorization: X CANARY\"",
    "Cookie: a=b; c=CANARY",
    "Set-Cookie: c=CANARY; Path=/",
    "bearer CANARY",
    "Basic CANARY",
    "-u user:CANARY",
    "-uuser:CANARY",
    "--user 'a:CANARY'",
    "token=CANARY",
    "my_secret = CANARY",
    "PASSWORD: CANARY",
    "passwd:CANARY",
    "\"apiKey\": \"CANARY\"",
    "'access key': 'x CANARY'",
    "--api-key CANARY",
    "--client-secret=CANARY",
    "-token \"a CANARY\"",
    "credentials=[a, CANARY]",
    "signature=CANARY",
    "session: CANARY",
    "ghp_CANARY",
    "gho_CANARY",
    "ghu_CANARY",
    "ghs_CANARY",
    "ghr_CANARY",
    "github_pat_CANARY_CANARY",
    "glpat-CANARY",
    "xoxb-1-CANARY",
    "xapp-1-CANARY",
    "sk-ant-CANARY",
    "sk-CANARY",
    "sk-proj-CANARY",
    "ya29.CANARY",
    "npm_CANARY",
    "pypi-CANARY",
    "hf_CANARY",
    "sk_live_CANARY",
    "whsec_CANARY",
    "12345678:CANARY",
    "/bot1:CANARY/send",
    "eyJhbGciOi.eyJzdWIiOi.CANARY",
    "-----BEGIN EC PRIVATE KEY----- CANARY -----END EC PRIVATE KEY-----",
    "AIzaCANARY",
    "GOCSPX-CANARY",
    "/t/CANARY/pkg",
    "/services/T0/B0/CANARY",
    "https://h/webhook/CANARY",
    "https://h/api/webhooks/12345678/CANARY",
    "https://h/hooks/CANARY",
    "user[password]=CANARY",
];

/// How the characters of a carrier around its canary are spelled.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    Plain,
    Percent,
    PercentTwice,
    Braced,
    Json,
    PercentInJson,
}

const SPELLINGS: [Spelling; 6] = [
    Spelling::Plain,
    Spelling::Percent,
    Spelling::PercentTwice,
    Spelling::Braced,
    Spelling::Json,
    Spelling::PercentInJson,
];

fn spelled(character: char, spelling: Spelling) -> String {
    let code = u32::from(character);
    match spelling {
        Spelling::Plain => character.into(),
        Spelling::Percent => format!("%{code:02x}"),
        Spelling::PercentTwice => format!("%25{code:02X}"),
        Spelling::Braced => format!("\\u{{{code:x}}}"),
        Spelling::Json => format!("\\u{code:04X}"),
        Spelling::PercentInJson => format!("\\u0025{code:02x}"),
    }
}

/// `carrier` with some of its characters spelled otherwise, and letters of its words in another case.
fn disguised(carrier: &str, canary: &str, spelling: Spelling, which: u64) -> String {
    let is_chosen = |at: usize| which >> (at % 64) & 1 == 1;
    let mut at = 0;
    let spell = |part: &str, at: &mut usize| -> String {
        let spelled = part.chars().map(|character| {
            *at += 1;
            match is_chosen(*at) {
                true => spelled(character, spelling),
                false => character.into(),
            }
        });
        spelled.collect()
    };
    let parts: Vec<String> = carrier
        .split("CANARY")
        .map(|part| spell(part, &mut at))
        .collect();
    parts.join(canary)
}

/// Places of a line where a text can stand by itself.
fn gaps(line: &str) -> Vec<usize> {
    let inner = line
        .char_indices()
        .filter(|(_, character)| *character == ' ');
    [0].into_iter()
        .chain(inner.map(|(at, _)| at + 1))
        .chain([line.len()])
        .collect()
}

fn lines() -> Vec<&'static str> {
    CLEAN.lines().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// For all shapes, spellings and places of a line, no eight characters of the secret are left.
    #[test]
    fn a_secret_that_gets_through(
        carrier in select(CARRIERS),
        canary in "[A-Z][a-z][0-9][A-Za-z0-9]{32}",
        spelling in select(&SPELLINGS[..]),
        which in any::<u64>(),
        line in select(lines()),
        place in any::<prop::sample::Index>(),
    ) {
        let secret = disguised(carrier, &canary, spelling, which);
        let gaps = gaps(line);
        let (head, tail) = line.split_at(gaps[place.index(gaps.len())]);
        let space = if head.is_empty() || head.ends_with(' ') { "" } else { " " };
        let text = format!("{head}{space}{secret} {tail}");
        let (after, spans) = cut(&Redactor::default(), &text, FieldKind::Text);
        for part in canary.as_bytes().windows(8) {
            let part = std::str::from_utf8(part).unwrap();
            prop_assert!(!after.contains(part), "{text}\n{after}");
        }
        prop_assert!(spans.count() >= 1);
    }
}

#[test]
fn a_real_line_without_a_secret_is_cut() {
    // Proves that what auditors read stays: the real lines of the gateway, byte for byte.
    let redactor = Redactor::default();
    for line in CLEAN.lines() {
        let (after, spans) = cut(&redactor, line, FieldKind::Text);
        assert_eq!((after.as_str(), spans.count()), (line, 0));
    }
}
