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
    Text(Box<Fields<'a>>),
    /// As `Text`, read from the text with its last group closed.
    Closed(Box<Fields<'a>>),
    Json(Event<'a>),
    Unparsed(UnparsedReason, Option<Box<Fields<'a>>>),
}

/// Decides. `continued` says that the line has no prefix and follows one that had; `closed` is the
/// text of a line that was cut, its last group closed.
pub(super) fn classify<'a>(
    line: &Line<'a>,
    format: Format,
    continued: bool,
    closed: Option<&'a str>,
) -> Reading<'a> {
    let is_cut = closed.is_some();
    let reading = match line.body {
        Body::Blank => Reading::Ignored(Ignored::Blank),
        Body::Event(head) if format.takes_shorthand(line.prefix) => event(head, closed),
        Body::Headless if format.takes_shorthand(line.prefix) => {
            Reading::Unparsed(UnparsedReason::BadHead, None)
        }
        Body::Event(_) | Body::Headless => other_format(),
        Body::Json(_) if !matches!(format, Format::Auto | Format::Ocsf) => other_format(),
        Body::Json(text) => match ocsf_json::read(text) {
            Ok(event) => Reading::Json(event),
            Err(reason) => Reading::Unparsed(reason, None),
        },
        Body::Tracing(text) => match key_value(text, format, line) {
            Some(reading) => reading,
            // Behind a record it may be the rest of that record, so it is kept.
            None if continued => Reading::Unparsed(UnparsedReason::UnknownForm, None),
            None => Reading::Ignored(Ignored::Tracing),
        },
        Body::Other(text) => key_value(text, format, line)
            .unwrap_or(Reading::Unparsed(UnparsedReason::UnknownForm, None)),
    };
    match reading {
        Reading::Unparsed(reason, fields) if is_cut && reason != UnparsedReason::OtherFormat => {
            Reading::Unparsed(UnparsedReason::Oversize, fields)
        }
        reading => reading,
    }
}

fn other_format<'a>() -> Reading<'a> {
    Reading::Unparsed(UnparsedReason::OtherFormat, None)
}

fn key_value<'a>(text: &'a str, format: Format, line: &Line<'_>) -> Option<Reading<'a>> {
    let fields = key_value::read(text)?;
    Some(match format.takes_key_value(line.prefix) {
        true => Reading::Text(Box::new(fields)),
        false => other_format(),
    })
}

fn event<'a>(head: Head<'a>, closed: Option<&'a str>) -> Reading<'a> {
    let fields = fields_of(head);
    if fields.body == fields::Body::Clear {
        return Reading::Text(fields);
    }
    // A cut line once more, now that its last group is closed; only if that makes it whole.
    if let Some(Body::Event(head)) = closed.map(|closed| Line::read(closed).body) {
        let fields = fields_of(head);
        if fields.body == fields::Body::Clear {
            return Reading::Closed(fields);
        }
    }
    if fields.body == fields::Body::Broken && !fields.is_decision() {
        return Reading::Unparsed(UnparsedReason::BadBody, Some(fields));
    }
    Reading::Text(fields)
}

fn fields_of(head: Head<'_>) -> Box<Fields<'_>> {
    let mut fields = Box::<Fields<'_>>::default();
    shorthand::read(head, &mut fields);
    fields
}
