//! Values on their way out, whatever they came from: entries or answers of a query.

use std::borrow::Cow;

use boundlane_record::{Column, Micros, PlaceColumn, Row, Seq, Value};

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum<'d> {
    /// Absent.
    Null,
    /// Text of any origin: nothing is escaped yet.
    Text(Cow<'d, str>),
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    #[cfg_attr(
        not(feature = "query"),
        allow(dead_code, reason = "only answers of a query")
    )]
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A moment.
    Time(Micros),
}

impl<'d> From<Option<Value<'d>>> for Datum<'d> {
    fn from(value: Option<Value<'d>>) -> Datum<'d> {
        match value {
            None => Datum::Null,
            Some(Value::Text(text)) => Datum::Text(Cow::Borrowed(text)),
            Some(Value::Int(n)) => Datum::Integer(n.into()),
            Some(Value::Long(n)) => Datum::Integer(n.into()),
            Some(Value::Bool(b)) => Datum::Bool(b),
            Some(Value::Time(at)) => Datum::Time(at),
        }
    }
}

/// An entry and its place.
#[derive(Debug, Clone)]
pub(crate) struct Placed<'r> {
    /// The id of its journal.
    pub(crate) journal: Cow<'r, str>,
    /// Its number there; absent for a loss that still grows, or that the reader met itself.
    pub(crate) seq: Option<Seq>,
    /// What it says.
    pub(crate) row: Row<'r>,
}

impl Placed<'_> {
    /// The same entry, borrowing from nothing.
    pub(crate) fn into_owned(self) -> Placed<'static> {
        Placed {
            journal: Cow::Owned(self.journal.into_owned()),
            seq: self.seq,
            row: self.row.into_owned(),
        }
    }
}

/// A column of entries as they are printed: where an entry stands, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryColumn {
    /// Around the entry.
    Place(PlaceColumn),
    /// Of the entry.
    Own(Column),
}

impl EntryColumn {
    /// Every column, the place first.
    pub(crate) fn all() -> Vec<EntryColumn> {
        let place = [PlaceColumn::journal, PlaceColumn::seq].map(EntryColumn::Place);
        place
            .into_iter()
            .chain(Column::ALL.iter().copied().map(EntryColumn::Own))
            .collect()
    }

    /// The column called `name`.
    pub(crate) fn from_name(name: &str) -> Option<EntryColumn> {
        EntryColumn::all()
            .into_iter()
            .find(|column| column.name() == name)
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            EntryColumn::Place(column) => column.name(),
            EntryColumn::Own(column) => column.name(),
        }
    }

    /// Its value in `entry`.
    pub(crate) fn value<'p>(self, entry: &'p Placed<'_>) -> Datum<'p> {
        match self {
            EntryColumn::Place(PlaceColumn::journal) => Datum::Text(entry.journal.as_ref().into()),
            EntryColumn::Place(PlaceColumn::seq) => entry
                .seq
                .map_or(Datum::Null, |seq| Datum::Integer(seq.0.into())),
            EntryColumn::Place(PlaceColumn::machine | PlaceColumn::rest) => Datum::Null,
            EntryColumn::Own(column) => entry.row.value(column).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_called_otherwise_than_in_the_formats() {
        let names: Vec<&str> = EntryColumn::all()
            .into_iter()
            .map(EntryColumn::name)
            .collect();
        assert_eq!(names[..4], ["journal", "seq", "kind", "outcome"]);
        assert_eq!(names.len(), Column::ALL.len() + 2);
        assert_eq!(
            EntryColumn::from_name("host"),
            Some(EntryColumn::Own(Column::host))
        );
        assert_eq!(EntryColumn::from_name("Host"), None);
    }
}
