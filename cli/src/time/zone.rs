//! Time zones, as far as they are needed: an offset for every instant.

use boundlane_record::Micros;
use chrono::{DateTime, Offset, TimeZone};

use super::{DAY, SECOND};

/// A time zone. Local times are resolved from offsets alone, so that a test can bring its own zone.
pub trait Zone {
    /// Seconds east of UTC at `at`.
    fn offset_seconds(&self, at: Micros) -> i32;

    /// The instants at which a clock here shows `local` (microseconds as if the clock showed UTC).
    fn resolve(&self, local: i64) -> LocalTime {
        let offset_at = |at: i64| i64::from(self.offset_seconds(Micros(at))) * SECOND;
        let (before, after) = (offset_at(local - DAY), offset_at(local + DAY));
        let shows = |offset: i64| (offset_at(local - offset) == offset).then_some(local - offset);
        match (shows(before), shows(after)) {
            (Some(first), Some(second)) if first != second => {
                LocalTime::Twice(Micros(first.min(second)), Micros(first.max(second)))
            }
            (Some(once), _) | (_, Some(once)) => LocalTime::Once(Micros(once)),
            (None, None) => LocalTime::Never {
                change: change(&offset_at, local),
                before,
                after,
            },
        }
    }
}

/// What a local time stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalTime {
    /// One instant.
    Once(Micros),
    /// The clock was put back: two instants, in order.
    Twice(Micros, Micros),
    /// The clock was put forward over it, at `change`, from offset `before` to `after` (microseconds).
    Never {
        /// The first instant after the skipped times.
        change: Micros,
        /// East of UTC until then, in microseconds.
        before: i64,
        /// East of UTC from then on, in microseconds.
        after: i64,
    },
}

/// The first instant within a day of `local` that has the offset of the day after.
fn change(offset_at: &impl Fn(i64) -> i64, local: i64) -> Micros {
    let (mut old, mut new) = (local - DAY, local + DAY);
    let after = offset_at(new);
    while new - old > 1 {
        let middle = old + (new - old) / 2;
        if offset_at(middle) == after {
            new = middle;
        } else {
            old = middle;
        }
    }
    Micros(new)
}

/// The zone of the environment (`TZ`, else the machine's).
#[derive(Debug, Clone, Copy)]
pub struct Local;

impl Zone for Local {
    fn offset_seconds(&self, at: Micros) -> i32 {
        let Some(utc) = DateTime::from_timestamp_micros(at.0) else {
            return 0;
        };
        chrono::Local
            .offset_from_utc_datetime(&utc.naive_utc())
            .fix()
            .local_minus_utc()
    }
}

/// No zone: `--utc`.
#[derive(Debug, Clone, Copy)]
pub struct Utc;

impl Zone for Utc {
    fn offset_seconds(&self, _: Micros) -> i32 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::fake::Berlin;

    /// Around both changes of a year every local time is once, twice or never, as a calendar says.
    #[test]
    fn a_change_of_the_clock_is_misread() {
        let hour = 3600 * SECOND;
        let spring = 1_774_746_000_000_000; // 2026-03-29T01:00Z, 02:00 becomes 03:00
        let local = spring + hour + hour / 2;
        let skipped = LocalTime::Never {
            change: Micros(spring),
            before: hour,
            after: 2 * hour,
        };
        assert_eq!(Berlin.resolve(local), skipped);
        assert_eq!(
            Berlin.resolve(local - hour),
            LocalTime::Once(Micros(spring - hour / 2))
        );
        assert_eq!(
            Berlin.resolve(local + hour),
            LocalTime::Once(Micros(spring + hour / 2))
        );

        let autumn = 1_792_890_000_000_000; // 2026-10-25T01:00Z, 03:00 becomes 02:00
        let local = autumn + hour + hour / 2;
        let (first, second) = (Micros(autumn - hour / 2), Micros(autumn + hour / 2));
        assert_eq!(Berlin.resolve(local), LocalTime::Twice(first, second));
        assert_eq!(Utc.resolve(local), LocalTime::Once(Micros(local)));
    }
}
