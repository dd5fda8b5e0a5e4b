//! Losses without a number, as the table `open_losses` holds them.

use std::borrow::Cow;

use boundlane_record::{Extent, Kind, Micros, Row, StreamName};
use rusqlite::Connection;

use crate::block::StreamId;

/// The columns that [`GrowingLoss::read`] expects.
pub(crate) const COLUMNS: &str = "stream, kind, cause, extent, lines, denied, \"from\", \"to\", \
     after_cursor, before_cursor, evidence, opened, grown";

/// A loss that still grows. Words are kept as they are stored: a newer writer's stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowingLoss {
    /// The stream that it is of.
    pub stream: StreamId,
    /// `gap` or `drops`.
    pub kind: String,
    /// Why.
    pub cause: String,
    /// How many lines so far.
    pub extent: Extent,
    /// How many of them were denials; of drops.
    pub denied: Option<u64>,
    /// The near end.
    pub from: Option<Micros>,
    /// The far end; `None` while there is none.
    pub to: Option<Micros>,
    /// The last cursor before.
    pub after_cursor: Option<String>,
    /// The first cursor after.
    pub before_cursor: Option<String>,
    /// A JSON object.
    pub evidence: Option<String>,
    /// When it began.
    pub opened: Micros,
    /// When it last grew.
    pub grown: Micros,
}

impl GrowingLoss {
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<GrowingLoss> {
        let extent: String = row.get(3)?;
        Ok(GrowingLoss {
            stream: StreamId(row.get(0)?),
            kind: row.get(1)?,
            cause: row.get(2)?,
            extent: Extent::from_columns(Some(&extent), row.get(4)?),
            denied: row.get(5)?,
            from: row.get::<_, Option<i64>>(6)?.map(Micros),
            to: row.get::<_, Option<i64>>(7)?.map(Micros),
            after_cursor: row.get(8)?,
            before_cursor: row.get(9)?,
            evidence: row.get(10)?,
            opened: Micros(row.get(11)?),
            grown: Micros(row.get(12)?),
        })
    }

    /// Lines, as far as they are counted.
    pub fn lines(&self) -> u64 {
        self.extent.columns().1.unwrap_or(0)
    }

    /// The loss as an entry's row, seen at `observed`.
    pub fn row<'a>(&'a self, name: &'a StreamName, observed: Micros) -> Row<'a> {
        let (extent, count) = self.extent.columns();
        let long = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let mut row = Row {
            kind: Some(Cow::Borrowed(match self.kind.as_str() {
                "drops" => Kind::Drops.word(),
                _ => Kind::Gap.word(),
            })),
            observed: Some(observed),
            cause: Some(Cow::Borrowed(&self.cause)),
            extent: Some(Cow::Borrowed(extent.word())),
            count: count.map(long),
            denied: self.denied.map(long),
            from: self.from,
            to: self.to,
            after_cursor: self.after_cursor.as_deref().map(Cow::Borrowed),
            before_cursor: self.before_cursor.as_deref().map(Cow::Borrowed),
            evidence: self.evidence.as_deref().map(Cow::Borrowed),
            ..Row::default()
        };
        name.label(&mut row);
        row
    }
}

/// All of them, oldest first.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Vec<GrowingLoss>> {
    db.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM open_losses ORDER BY opened, stream, kind, cause"
    ))?
    .query_map([], GrowingLoss::read)?
    .collect()
}
