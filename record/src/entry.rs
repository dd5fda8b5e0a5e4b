//! Typed entries that the program itself writes between records: losses and sessions.
//!
//! A consumer reads entries as [`Row`]s in number order, so it cannot read records without meeting
//! the losses between them.

use std::borrow::Cow;

use crate::column::Row;
use crate::number::Micros;
use crate::vocabulary::{DropCause, Extent, GapCause, Kind, SessionKind};

/// Which stream an entry is about, as the columns say it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StreamName {
    /// Unique within the journal: see `docs/FORMATS.md`.
    pub stream: String,
    /// The sandbox's name.
    pub sandbox: Option<String>,
    /// The sandbox's id, where the source states one.
    pub sandbox_id: Option<String>,
    /// The gateway's workspace.
    pub workspace: Option<String>,
    /// A [`crate::Source`] word.
    pub source: String,
}

impl StreamName {
    /// Fills the identifying columns of `row`.
    pub fn label<'a>(&'a self, row: &mut Row<'a>) {
        row.stream = Some(Cow::Borrowed(&self.stream));
        row.sandbox = self.sandbox.as_deref().map(Cow::Borrowed);
        row.sandbox_id = self.sandbox_id.as_deref().map(Cow::Borrowed);
        row.workspace = self.workspace.as_deref().map(Cow::Borrowed);
        row.source = Some(Cow::Borrowed(&self.source));
    }
}

/// Lines that never reached us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Why.
    pub cause: GapCause,
    /// How many lines.
    pub extent: Extent,
    /// The last moment the stream was known to be whole; `None` when it never was.
    pub from: Option<Micros>,
    /// The moment it was attached again; `None` while it has no end.
    pub to: Option<Micros>,
    /// The last cursor before.
    pub after_cursor: Option<String>,
    /// The first cursor after.
    pub before_cursor: Option<String>,
    /// A JSON object: event times of the neighbours (`after_time`, `before_time`), what was compared.
    pub evidence: Option<String>,
}

impl Gap {
    /// The row of this gap, seen at `observed`.
    pub fn row<'a>(&'a self, stream: &'a StreamName, observed: Micros) -> Row<'a> {
        let (extent, count) = self.extent.columns();
        let mut row = Row {
            kind: Some(Cow::Borrowed(Kind::Gap.word())),
            observed: Some(observed),
            cause: Some(Cow::Borrowed(self.cause.word())),
            extent: Some(Cow::Borrowed(extent.word())),
            count: count.map(saturating),
            from: self.from,
            to: self.to,
            after_cursor: self.after_cursor.as_deref().map(Cow::Borrowed),
            before_cursor: self.before_cursor.as_deref().map(Cow::Borrowed),
            evidence: self.evidence.as_deref().map(Cow::Borrowed),
            ..Row::default()
        };
        stream.label(&mut row);
        row
    }
}

/// Lines that we shed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drops {
    /// Why.
    pub cause: DropCause,
    /// How many lines, exactly.
    pub count: u64,
    /// How many of them were denials.
    pub denied: u64,
    /// When the first was shed.
    pub from: Micros,
    /// When the last was shed.
    pub to: Micros,
    /// A JSON object: counts by outcome, event times of the neighbours.
    pub evidence: Option<String>,
}

impl Drops {
    /// The row of these drops, written at `observed`.
    pub fn row<'a>(&'a self, stream: &'a StreamName, observed: Micros) -> Row<'a> {
        let mut row = Row {
            kind: Some(Cow::Borrowed(Kind::Drops.word())),
            observed: Some(observed),
            cause: Some(Cow::Borrowed(self.cause.word())),
            extent: Some(Cow::Borrowed("exact")),
            count: Some(saturating(self.count)),
            denied: Some(saturating(self.denied)),
            from: Some(self.from),
            to: Some(self.to),
            evidence: self.evidence.as_deref().map(Cow::Borrowed),
            ..Row::default()
        };
        stream.label(&mut row);
        row
    }
}

/// What was watched, and how it began and ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// What happened.
    pub what: SessionKind,
    /// The span it is about, where it has one.
    pub from: Option<Micros>,
    /// The end of that span.
    pub to: Option<Micros>,
    /// How many entries or lines it speaks of.
    pub count: Option<u64>,
    /// A JSON object with the details; its keys are listed in `docs/FORMATS.md`.
    pub evidence: Option<String>,
}

impl Session {
    /// The row of this session entry. `stream` is absent for what is about the journal itself.
    pub fn row<'a>(&'a self, stream: Option<&'a StreamName>, observed: Micros) -> Row<'a> {
        let mut row = Row {
            kind: Some(Cow::Borrowed(Kind::Session.word())),
            observed: Some(observed),
            cause: Some(Cow::Borrowed(self.what.word())),
            count: self.count.map(saturating),
            from: self.from,
            to: self.to,
            evidence: self.evidence.as_deref().map(Cow::Borrowed),
            ..Row::default()
        };
        if let Some(stream) = stream {
            stream.label(&mut row);
        }
        row
    }
}

fn saturating(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
