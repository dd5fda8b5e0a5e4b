//! Which form a line has, told by its content: the prefix, and what stands behind it.

mod bracketed;

use crate::clock::{self, LineTime};
use crate::shorthand::Head;
use crate::tracing_line;

/// What stands behind a line's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// Nothing.
    Blank,
    /// The shorthand of an OCSF event.
    Event(Head<'a>),
    /// What stands where an event should, without an event's head.
    Headless,
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
    /// How many bytes it begins with that are the program's own words and hold no secret.
    pub(crate) own_bytes: usize,
}

impl<'a> Line<'a> {
    /// Takes `line` apart. Never fails: what has no known form is `Body::Other`.
    pub(crate) fn read(line: &'a str) -> Line<'a> {
        match line.as_bytes().first() {
            Some(b'[') => bracketed::read(line),
            Some(b'0'..=b'9') => timed(line),
            Some(b'A'..=b'Z') => bare(untimed(line)),
            Some(b'{') => bare(Body::Json(line)),
            Some(b' ' | b'\t' | 0xef) => indented(line),
            _ if line.trim_end().is_empty() => bare(Body::Blank),
            _ => bare(untimed(line)),
        }
    }

    /// Whether the line begins as a record of its stream does: with a time.
    pub(crate) fn is_prefixed(&self) -> bool {
        self.prefix != Prefix::None
    }
}

/// A line behind spaces or a byte order mark, or one that has its first byte in common with it.
fn indented(line: &str) -> Line<'_> {
    let text = line.trim_start_matches([' ', '\t', '\u{feff}']);
    match text.len() < line.len() {
        true => Line {
            own_bytes: 0,
            ..Line::read(text)
        },
        false => bare(untimed(text)),
    }
}

fn bare(body: Body<'_>) -> Line<'_> {
    Line {
        prefix: Prefix::None,
        time: LineTime::None,
        origin: None,
        body,
        own_bytes: 0,
    }
}

/// Behind no prefix at all.
fn untimed(text: &str) -> Body<'_> {
    if let Some(shorthand) = after_ocsf(text) {
        return event(shorthand);
    }
    if let Some(head) = Head::read_bare(text) {
        return Body::Event(head);
    }
    match tracing_line::after_level(text) {
        Some(rest) => Body::Tracing(rest),
        None => Body::Other(text),
    }
}

/// Where the line says that an event stands.
#[inline]
fn event(text: &str) -> Body<'_> {
    Head::read(text).map_or(Body::Headless, Body::Event)
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
            own_bytes: 0,
        };
    }
    let clocked = clock::clock(text).filter(|(_, rest)| rest.starts_with(' '));
    let Some((time, rest)) = clocked else {
        return bare(Body::Other(text));
    };
    let rest = rest.trim_start_matches(' ');
    let body = Head::read_letter(rest).map_or_else(|| untimed(rest), Body::Event);
    match body {
        Body::Other(_) | Body::Tracing(_) => bare(Body::Other(text)),
        body => Line {
            prefix: Prefix::Clock,
            time,
            origin: None,
            body,
            own_bytes: 0,
        },
    }
}

/// What follows the word `OCSF`.
fn after_ocsf(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("OCSF")?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start_matches(' '))
}
