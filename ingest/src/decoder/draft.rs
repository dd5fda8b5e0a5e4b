//! A row that is not complete yet.

use std::borrow::Cow;

use boundlane_record::{Flag, Kind, Outcome, Row};

use super::arrival::Arrival;
use super::state::StatedSandbox;
use crate::attributes::NamedValues;
use crate::fields::{Body, Fields};

/// A row that is not complete yet.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) row: Row<'a>,
    pub(super) values: NamedValues<'a>,
    pub(super) kind: Kind,
    pub(super) outcome: Option<Outcome>,
    pub(super) flags: Flags,
    /// One JSON value is one record.
    pub(super) framed: bool,
    /// `gateway` or `sandbox`, where the body says who spoke.
    pub(super) origin: Option<&'static str>,
    pub(super) stated: Option<StatedSandbox>,
}

impl Default for Draft<'_> {
    fn default() -> Self {
        Draft {
            row: Row::default(),
            values: NamedValues::default(),
            kind: Kind::Unparsed,
            outcome: None,
            flags: Flags::default(),
            framed: false,
            origin: None,
            stated: None,
        }
    }
}

impl<'a> Draft<'a> {
    pub(super) fn origin(&self, arrival: &Arrival<'a>) -> Cow<'a, str> {
        let from_prefix = arrival.line.origin.map(Cow::Borrowed);
        let word = from_prefix.or(self.origin.map(Cow::Borrowed));
        word.unwrap_or(Cow::Borrowed(boundlane_record::Origin::Sandbox.word()))
    }
}

/// What a reader of the row has to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) ambiguous: bool,
    pub(super) bad_body: bool,
    pub(super) unterminated: bool,
    pub(super) cut_field: bool,
    pub(super) nuls: bool,
}

impl Flags {
    pub(super) fn of(fields: &Fields<'_>) -> Flags {
        Flags {
            ambiguous: fields.body == Body::Ambiguous,
            bad_body: fields.body == Body::Broken,
            cut_field: fields.attributes.is_cut(),
            ..Flags::default()
        }
    }

    pub(super) fn words(self) -> Option<Cow<'static, str>> {
        if self == Flags::default() {
            return None;
        }
        let all = [
            (self.ambiguous, Flag::Ambiguous.word()),
            (self.bad_body, Flag::BadBody.word()),
            (self.unterminated, Flag::Unterminated.word()),
            (self.cut_field, Flag::CutField.word()),
            (self.nuls, Flag::Nuls.word()),
        ];
        let mut set = all
            .iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, word)| *word);
        let first = set.next()?;
        Some(set.fold(Cow::Borrowed(first), |words, word| {
            Cow::Owned(format!("{words},{word}"))
        }))
    }
}
