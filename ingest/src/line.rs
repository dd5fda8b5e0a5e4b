//! Which form a line has, told by its content: the prefix, and what stands behind it.

mod bracketed;

use crate::clock::{self, LineTime};
use crate::shorthand;
use crate::tracing_line;

/// What stands behind a line's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// Nothing.
    Blank,
    /// The shorthand of an OCSF event.
    Shorthand(&'a str),
    /// The first shorthand: one letter for the severity, in front.
    LetterShorthand {
        /// The letter.
        severity: &'a str,
        /// From the class on.
        text: &'a str,
    },
    /// One JSON value.
    Json(&'a str),
    /// A line of the program's own tracing: everything behind the level.
    Tracing(&'a str),
    /// Anything else.
    Other(&'a str),
}

/// What stands in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// `[secs.ms] [source] [LEVEL] [target]`, as `openshell logs` prints it.
    Cli,
    /// A date and time.
    File,
    /// A time of day.
    Clock,
    /// No time; `OCSF`, `[ocsf]` or nothing.
    None,
}

/// A line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Its prefix.
    pub(crate) prefix: Prefix,
    /// The time in the prefix.
    pub(crate) time: LineTime<'a>,
    /// Who spoke, where the prefix says so.
    pub(crate) origin: Option<&'a str>,
    /// The rest.
    pub(crate) body: Body<'a>,
}

impl<'a> Line<'a> {
    /// Takes `line` apart. Never fails: what has no known form is `Body::Other`.
    pub(crate) fn read(line: &'a str) -> Line<'a> {
        let text = line.trim_start_matches([' ', '\t', '\u{feff}']);
        match text.as_bytes().first() {
            Some(b'[') => bracketed::read(text),
            Some(b'0'..=b'9') => timed(text),
            Some(b'{') => bare(Body::Json(text)),
            _ if text.trim_end().is_empty() => bare(Body::Blank),
            _ => bare(untimed(text)),
        }
    }

    /// Whether the line begins as a record of its stream does: with a time.
    pub(crate) fn is_prefixed(&self) -> bool {
        self.prefix != Prefix::None
    }
}

fn bare(body: Body<'_>) -> Line<'_> {
    Line {
        prefix: Prefix::None,
        time: LineTime::None,
        origin: None,
        body,
    }
}

/// Behind no prefix at all.
fn untimed(text: &str) -> Body<'_> {
    if let Some(shorthand) = after_ocsf(text) {
        return Body::Shorthand(shorthand);
    }
    if shorthand::begins(text) {
        return Body::Shorthand(text);
    }
    match tracing_line::after_level(text) {
        Some(rest) => Body::Tracing(rest),
        None => Body::Other(text),
    }
}

/// A line that begins with a digit.
fn timed(text: &str) -> Line<'_> {
    if let Some((time, rest)) = clock::date_time(text).filter(|(_, rest)| rest.starts_with(' ')) {
        let body = untimed(rest.trim_start_matches(' '));
        return Line {
            prefix: Prefix::File,
            time,
            origin: None,
            body,
        };
    }
    let clocked = clock::clock(text).filter(|(_, rest)| rest.starts_with(' '));
    let Some((time, rest)) = clocked else {
        return bare(Body::Other(text));
    };
    let rest = rest.trim_start_matches(' ');
    let body = letter_shorthand(rest).unwrap_or_else(|| untimed(rest));
    match body {
        Body::Other(_) | Body::Tracing(_) => bare(Body::Other(text)),
        body => Line {
            prefix: Prefix::Clock,
            time,
            origin: None,
            body,
        },
    }
}

/// What follows the word `OCSF`.
fn after_ocsf(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("OCSF")?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start_matches(' '))
}

/// `S CLASS:…` with the severity's letter.
fn letter_shorthand(text: &str) -> Option<Body<'_>> {
    let (severity, rest) = text.split_at_checked(1)?;
    let rest = rest.strip_prefix(' ')?.trim_start_matches(' ');
    let is_known = shorthand::severity_of_letter(severity).is_some();
    (is_known && shorthand::begins_with_class(rest)).then_some(Body::LetterShorthand {
        severity,
        text: rest,
    })
}
