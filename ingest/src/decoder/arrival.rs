//! One line or message on its way through the decoder, and where it came from.

use std::borrow::Cow;

use boundlane_record::redact::{Redactor, Spans};
use boundlane_record::{Micros, Row, StreamName, TimeFrom};

use crate::escape::Plain;
use crate::framer::FramedLine;
use crate::line::Line;

/// One message of a followed stream.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// As `openshell logs` prints it, whatever is in it.
    pub text: &'a str,
    /// When it was written, more exactly than the text says it.
    pub time: Option<Micros>,
    /// Empty when it has none.
    pub cursor: &'a str,
    /// Whether it says whose it is.
    pub names_sandbox: bool,
}

impl<'a> Message<'a> {
    pub(super) fn label(&self, row: &mut Row<'a>) {
        row.time = self.time;
        row.time_from = self.time.map(|_| TimeFrom::Line.word().into());
        row.cursor = (!self.cursor.is_empty()).then_some(Cow::Borrowed(self.cursor));
        if !self.names_sandbox {
            row.sandbox_id = None;
        }
    }
}

/// One line and where it came from.
#[derive(Debug)]
pub(super) struct Arrival<'a> {
    pub(super) framed: &'a FramedLine<'a>,
    pub(super) message: Option<&'a Message<'a>>,
    pub(super) raw: RawText<'a>,
    pub(super) line: Line<'a>,
    /// Some bytes were not UTF-8.
    pub(super) escaped: bool,
    /// It has no prefix and follows a line that had one.
    pub(super) continued: bool,
    pub(super) stream: &'a StreamName,
    pub(super) observed: Micros,
}

/// The line as text, with and without colours.
#[derive(Debug)]
pub(super) struct RawText<'a> {
    /// What was parsed.
    pub(super) text: &'a str,
    /// The line with its colours.
    pub(super) spelled: &'a str,
    pub(super) plain: Option<&'a Plain<'a>>,
}

impl<'a> RawText<'a> {
    /// The line, without what `spans` has of `text`.
    pub(super) fn cut(&self, spans: &mut Spans, redactor: &Redactor) -> Cow<'a, str> {
        if let Some(plain) = self.plain {
            let mut coloured = Spans::new();
            redactor.line(self.spelled, &mut coloured);
            for range in spans.ranges() {
                coloured.add(plain.origin(range));
            }
            *spans = coloured;
        }
        spans.cut(self.spelled, 0..self.spelled.len())
    }
}
