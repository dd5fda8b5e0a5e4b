//! Where a followed stream stands, as its checkpoint keeps it.

use boundlane_record::Micros;
use serde::{Deserialize, Serialize};

use super::cursor;
use crate::place::PlaceError;

/// The version that is written.
const VERSION: u32 = 1;
/// Numberings whose greatest cursor is kept: the replicas of one gateway.
pub const SPACES_MAX: usize = 4;

/// The durable position of a followed stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WatchPlace {
    /// The greatest cursor of each numbering, the one that was read last at the end.
    pub cursors: Vec<String>,
    /// Holes between numbers of the last numbering, ascending: a warning that comes late may say that
    /// something lay there. Each is the number before and the number after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<(u64, u64)>,
    /// Lines without a cursor that were taken since the greatest cursor.
    #[serde(skip_serializing_if = "is_zero")]
    pub blind_lines: u64,
    /// The first cursor behind such lines, while a warning may be on its way: what was left out in front of
    /// it cannot be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_blind: Option<String>,
    /// Everything published before this moment was received, by this machine's clock.
    #[serde(with = "micros")]
    pub whole: Option<Micros>,
    /// Lines passed, ignored ones included.
    pub lines: u64,
    /// The event time of the last line that has one.
    #[serde(with = "micros", skip_serializing_if = "Option::is_none")]
    pub last_time: Option<Micros>,
    /// When exactly 100 lines came at once after a silence: a push of a supervisor that the gateway may have
    /// cut. A suspicion, shown by `doctor`; no gap is made of it.
    #[serde(with = "micros", skip_serializing_if = "Option::is_none")]
    pub cut_push: Option<Micros>,
    /// What came before the first line is settled: the stream begins there, or a gap says so.
    pub begun: bool,
    /// Nothing more will come, and how that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<StreamOver>,
}

/// How a stream came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamOver {
    /// The gateway ended it: it is whole.
    Ended,
    /// The sandbox was gone.
    Gone,
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u32,
    #[serde(flatten)]
    place: T,
}

/// The version alone, which a newer text still has.
#[derive(Deserialize)]
struct Nothing {}

impl WatchPlace {
    /// The text for the checkpoint: one JSON object.
    pub fn to_json(&self) -> String {
        let text = Versioned {
            v: VERSION,
            place: self,
        };
        // A struct of numbers and strings always has a text.
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// Reads what any released version wrote.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn from_json(json: &str) -> Result<WatchPlace, PlaceError> {
        let damaged = |error: serde_json::Error| PlaceError::Damaged { at: error.column() };
        let versioned: Versioned<Nothing> = serde_json::from_str(json).map_err(damaged)?;
        if versioned.v > VERSION {
            return Err(PlaceError::Newer {
                version: versioned.v,
            });
        }
        let text: Versioned<WatchPlace> = serde_json::from_str(json).map_err(damaged)?;
        Ok(text.place)
    }

    /// The greatest cursor of the numbering that was read last.
    pub fn greatest(&self) -> Option<&str> {
        self.cursors.last().map(String::as_str)
    }

    /// Whether everything up to `cursor` was passed, in its numbering.
    pub fn has_reached(&self, cursor: &str) -> bool {
        self.space_index(cursor)
            .is_some_and(|index| self.cursors[index].as_str() >= cursor)
    }

    /// The numbering's index among those that are kept.
    pub(crate) fn space_index(&self, of: &str) -> Option<usize> {
        let space = cursor::space(of);
        self.cursors
            .iter()
            .position(|known| cursor::space(known) == space)
    }

    /// Makes the numbering of `cursor` the one that was read last, at this cursor.
    pub(crate) fn enter(&mut self, cursor: &str) {
        if let Some(index) = self.space_index(cursor) {
            self.cursors.remove(index);
        }
        self.cursors.push(cursor.to_owned());
        let surplus = self.cursors.len().saturating_sub(SPACES_MAX);
        self.cursors.drain(..surplus);
    }
}

/// Moments as numbers.
mod micros {
    use boundlane_record::Micros;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(
        moment: &Option<Micros>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        moment.map(|moment| moment.0).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Micros>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(Micros))
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_a_newer_one_is_refused() {
        let place = WatchPlace {
            cursors: vec!["a".into(), "b".into()],
            holes: vec![(3, 5)],
            whole: Some(Micros(7)),
            lines: 9,
            begun: true,
            ..WatchPlace::default()
        };
        assert_eq!(WatchPlace::from_json(&place.to_json()), Ok(place));
        assert_eq!(
            WatchPlace::from_json(r#"{"v":2}"#),
            Err(PlaceError::Newer { version: 2 })
        );
        assert!(matches!(
            WatchPlace::from_json("{"),
            Err(PlaceError::Damaged { .. })
        ));
        let old = WatchPlace::from_json(r#"{"v":1}"#);
        assert_eq!(
            old,
            Ok(WatchPlace::default()),
            "fields that are absent have defaults"
        );
    }
}
