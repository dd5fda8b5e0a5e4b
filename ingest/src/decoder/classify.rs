//! What a line is: record, ignored, or unparsed with its reason.

use boundlane_record::UnparsedReason;

use crate::fields::{self, Fields};
use crate::key_value;
use crate::line::{Body, Line, Prefix};
use crate::ocsf_json::{self, Event};
use crate::shorthand::{self, Head};

/// The form that lines must have; any other form is then unparsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Any known form, told by each line's content.
    #[default]
    Auto,
    /// `openshell logs` text.
    CliText,
    /// The sandbox's own log file, or bare shorthand.
    Shorthand,
    /// OCSF JSON lines.
    Ocsf,
    /// The key=value fields of older gateways, behind any prefix.
    KeyValue,
}

impl Format {
    /// Every value, in the order of the documentation's table.
    pub const ALL: &'static [Format] = &[
        Format::Auto,
        Format::CliText,
        Format::Shorthand,
        Format::Ocsf,
        Format::KeyValue,
    ];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::CliText => "cli",
            Format::Shorthand => "shorthand",
            Format::Ocsf => "ocsf",
            Format::KeyValue => "keyvalue",
        }
    }

    /// The format called `word`.
    pub fn from_word(word: &str) -> Option<Format> {
        Format::ALL
            .iter()
            .copied()
            .find(|format| format.word() == word)
    }

    fn takes_shorthand(self, prefix: Prefix) -> bool {
        match self {
            Format::Auto => true,
            Format::CliText => prefix == Prefix::Cli,
            Format::Shorthand => prefix != Prefix::Cli,
            Format::Ocsf | Format::KeyValue => false,
        }
    }

    fn takes_key_value(self, prefix: Prefix) -> bool {
        match self {
            Format::Auto | Format::KeyValue => true,
            Format::CliText => prefix == Prefix::Cli,
            Format::Shorthand => prefix == Prefix::File,
            Format::Ocsf => false,
        }
    }
}

/// Why a line is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Nothing but spaces.
    Blank,
    /// The gateway's own tracing, without a decision in it.
    Tracing,
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Reading<'a> {
    Ignored(Ignored),
    /// A record; the fields say what.
    Text,
    /// As `Text`, read from the text with its last group closed.
    Closed,
    Json(Event<'a>),
    /// The fields say what could be read all the same: the head, or nothing.
    Unparsed(UnparsedReason),
}

/// Decides, and fills `fields`, which are empty, with what a line of text says. (They are large: to return
/// them would copy them on every line.) `continued` says that the line has no prefix and follows one that had; `closed` is the
/// text of a line that was cut, its last group closed.
pub(super) fn classify<'a>(
    line: &Line<'a>,
    format: Format,
    continued: bool,
    closed: Option<&'a str>,
    fields: &mut Fields<'a>,
) -> Reading<'a> {
    let is_cut = closed.is_some();
    let reading = match line.body {
        Body::Blank => Reading::Ignored(Ignored::Blank),
        Body::Event(head) if format.takes_shorthand(line.prefix) => event(head, closed, fields),
        Body::Headless if format.takes_shorthand(line.prefix) => {
            Reading::Unparsed(UnparsedReason::BadHead)
        }
        Body::Event(_) | Body::Headless => other_format(),
        Body::Json(_) if !matches!(format, Format::Auto | Format::Ocsf) => other_format(),
        Body::Json(text) => match ocsf_json::read(text) {
            Ok(event) => Reading::Json(event),
            Err(reason) => Reading::Unparsed(reason),
        },
        Body::Tracing(text) => match key_value(text, format, line, fields) {
            Some(reading) => reading,
            // Behind a record it may be the rest of that record, so it is kept.
            None if continued => Reading::Unparsed(UnparsedReason::UnknownForm),
            None => Reading::Ignored(Ignored::Tracing),
        },
        Body::Other(text) => key_value(text, format, line, fields)
            .unwrap_or(Reading::Unparsed(UnparsedReason::UnknownForm)),
    };
    match reading {
        Reading::Unparsed(reason) if is_cut && reason != UnparsedReason::OtherFormat => {
            Reading::Unparsed(UnparsedReason::Oversize)
        }
        reading => reading,
    }
}

fn other_format<'a>() -> Reading<'a> {
    Reading::Unparsed(UnparsedReason::OtherFormat)
}

fn key_value<'a>(
    text: &'a str,
    format: Format,
    line: &Line<'_>,
    fields: &mut Fields<'a>,
) -> Option<Reading<'a>> {
    let read = key_value::read(text)?;
    if !format.takes_key_value(line.prefix) {
        return Some(other_format());
    }
    *fields = read;
    Some(Reading::Text)
}

fn event<'a>(head: Head<'a>, closed: Option<&'a str>, fields: &mut Fields<'a>) -> Reading<'a> {
    shorthand::read(head, fields);
    if fields.body == fields::Body::Clear {
        return Reading::Text;
    }
    // A cut line once more, now that its last group is closed; only if that makes it whole.
    if let Some(Body::Event(head)) = closed.map(|closed| Line::read(closed).body) {
        let mut whole = Fields::default();
        shorthand::read(head, &mut whole);
        if whole.body == fields::Body::Clear {
            *fields = whole;
            return Reading::Closed;
        }
    }
    match fields.body == fields::Body::Broken && !fields.is_decision() {
        true => Reading::Unparsed(UnparsedReason::BadBody),
        false => Reading::Text,
    }
}
