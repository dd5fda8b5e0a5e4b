//! Which streams testify, and up to when.

use std::collections::HashMap;

use super::STREAMS_KEPT_MAX;
use crate::column::Row;
use crate::number::Micros;
use crate::vocabulary::{GapCause, Kind, SessionKind, Source};

/// One source's word about one sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testimony {
    /// The sandbox's name.
    pub sandbox: Option<String>,
    /// The sandbox's id.
    pub sandbox_id: Option<String>,
    /// The source.
    pub source: String,
    /// The newest moment at which one of its entries was written.
    pub newest: Micros,
    /// Whether the newest entry that says how the stream stands says that nothing more will come.
    pub is_ended: bool,
    /// When that entry was written.
    stood: Micros,
}

impl Testimony {
    /// Whether it came from a file or a pipe that somebody gave, not from watching.
    pub fn is_import(&self) -> bool {
        self.source == Source::Import.word()
    }

    /// Whether more could have come after its newest entry.
    pub(super) fn is_followed(&self) -> bool {
        !self.is_ended && !self.is_import()
    }

    fn is_of(&self, row: &Row<'_>) -> bool {
        row.source.as_deref() == Some(&self.source)
            && row.sandbox.as_deref() == self.sandbox.as_deref()
            && row.sandbox_id.as_deref() == self.sandbox_id.as_deref()
    }
}

type Key = (Option<String>, Option<String>, String);

/// All testimonies, found again by their labels.
#[derive(Debug, Clone, Default)]
pub(super) struct Streams {
    all: Vec<Testimony>,
    places: HashMap<Key, usize>,
    last: usize,
    not_kept: u64,
}

impl Streams {
    /// Moves the stream of `row` on to the moment it was observed. Rows about the journal itself have
    /// no stream.
    pub(super) fn see(&mut self, kind: Option<Kind>, row: &Row<'_>) {
        let (Some(source), Some(observed)) = (row.source.as_deref(), row.observed) else {
            return;
        };
        let Some(stream) = self.place(source, row) else {
            self.not_kept += 1;
            return;
        };
        stream.newest = stream.newest.max(observed);
        if is_aside(kind, row.cause.as_deref()) {
            return;
        }
        let is_end = ends_its_stream(kind, row.cause.as_deref());
        if observed > stream.stood {
            (stream.stood, stream.is_ended) = (observed, is_end);
        } else if observed == stream.stood {
            stream.is_ended |= is_end;
        }
    }

    fn place(&mut self, source: &str, row: &Row<'_>) -> Option<&mut Testimony> {
        if self.all.get(self.last).is_none_or(|last| !last.is_of(row)) {
            self.last = self.find_or_add(source, row)?;
        }
        self.all.get_mut(self.last)
    }

    fn find_or_add(&mut self, source: &str, row: &Row<'_>) -> Option<usize> {
        let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let key: Key = (
            owned(&row.sandbox),
            owned(&row.sandbox_id),
            source.to_owned(),
        );
        if let Some(&at) = self.places.get(&key) {
            return Some(at);
        }
        if self.all.len() == STREAMS_KEPT_MAX {
            return None;
        }
        let at = self.all.len();
        self.places.insert(key.clone(), at);
        self.all.push(Testimony {
            sandbox: key.0,
            sandbox_id: key.1,
            source: key.2,
            newest: Micros(i64::MIN),
            is_ended: false,
            stood: Micros(i64::MIN),
        });
        Some(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Testimony> {
        self.all.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Rows of streams beyond the limit.
    pub(super) fn not_kept(&self) -> u64 {
        self.not_kept
    }
}

/// That somebody stopped watching, or saved what there was: a stream that has ended stays so.
fn is_aside(kind: Option<Kind>, cause: Option<&str>) -> bool {
    let aside = [SessionKind::Detached, SessionKind::Saved];
    kind == Some(Kind::Session) && aside.iter().any(|session| cause == Some(session.word()))
}

/// A gateway that ended the stream, or a transport that broke before the sandbox was gone: what follows
/// is nothing, not silence.
fn ends_its_stream(kind: Option<Kind>, cause: Option<&str>) -> bool {
    match kind {
        Some(Kind::Session) => cause == Some(SessionKind::End.word()),
        Some(Kind::Gap) => cause == Some(GapCause::StreamEnded.word()),
        _ => false,
    }
}
