//! Bounds that every writer of the state directory keeps, as the table `limits` holds them.

use std::ops::RangeInclusive;

use rusqlite::{Connection, params};

/// The bounds of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries that may wait for a consumer.
    pub queued_entries_max: u64,
    /// Bytes of their bodies in the file.
    pub queued_stored_bytes_max: u64,
    /// For how long entries that every consumer has are kept.
    pub kept_age_seconds_max: u64,
    /// Bytes of their bodies in the file.
    pub kept_stored_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            queued_entries_max: 10_000_000,
            queued_stored_bytes_max: 1024 * 1024 * 1024,
            kept_age_seconds_max: 7 * 24 * 3600,
            kept_stored_bytes_max: 1024 * 1024 * 1024,
        }
    }
}

/// A bound that no journal can keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` has to be from {} to {}, not {value}", range.start(), range.end())]
pub struct LimitFault {
    /// Which.
    pub name: &'static str,
    /// What was asked for.
    pub value: u64,
    /// What is possible.
    pub range: RangeInclusive<u64>,
}

const MIB: u64 = 1024 * 1024;
const CENTURY_SECONDS: u64 = 100 * 366 * 24 * 3600;

impl Limits {
    /// Every bound: its name, what it may be, its value.
    pub fn all(&self) -> [(&'static str, RangeInclusive<u64>, u64); 4] {
        // The least leaves room for a whole item in the last tenth; the most is what no disk holds.
        let bytes = MIB..=1024 * 1024 * 1024 * MIB;
        [
            (
                "queued_entries_max",
                5000..=1_000_000_000_000,
                self.queued_entries_max,
            ),
            (
                "queued_stored_bytes_max",
                bytes.clone(),
                self.queued_stored_bytes_max,
            ),
            (
                "kept_age_seconds_max",
                0..=CENTURY_SECONDS,
                self.kept_age_seconds_max,
            ),
            (
                "kept_stored_bytes_max",
                0..=*bytes.end(),
                self.kept_stored_bytes_max,
            ),
        ]
    }

    /// Whether a journal can keep them.
    ///
    /// # Errors
    /// The first that it cannot keep.
    pub fn check(&self) -> Result<(), LimitFault> {
        let bad = self
            .all()
            .into_iter()
            .find(|(_, range, value)| !range.contains(value));
        match bad {
            Some((name, range, value)) => Err(LimitFault { name, value, range }),
            None => Ok(()),
        }
    }
}

/// The bounds in force; a missing row is the usual one.
pub(crate) fn read(db: &Connection) -> rusqlite::Result<Limits> {
    let mut limits = Limits::default();
    let mut select = db.prepare_cached("SELECT name, value FROM limits")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let value = row.get(1)?;
        match row.get_ref(0)?.as_str().unwrap_or_default() {
            "queued_entries_max" => limits.queued_entries_max = value,
            "queued_stored_bytes_max" => limits.queued_stored_bytes_max = value,
            "kept_age_seconds_max" => limits.kept_age_seconds_max = value,
            "kept_stored_bytes_max" => limits.kept_stored_bytes_max = value,
            // A newer writer's.
            _ => {}
        }
    }
    Ok(limits)
}

/// Puts them in force for every writer.
pub(crate) fn write(db: &Connection, limits: &Limits) -> rusqlite::Result<()> {
    let mut insert =
        db.prepare_cached("INSERT OR REPLACE INTO limits (name, value) VALUES (?1, ?2)")?;
    for (name, _, value) in limits.all() {
        insert.execute(params![name, value])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_bound_that_cannot_be_kept_is_taken() {
        Limits::default().check().unwrap();
        let fault = |change: fn(&mut Limits)| {
            let mut limits = Limits::default();
            change(&mut limits);
            limits.check().unwrap_err().to_string()
        };
        assert_eq!(
            fault(|limits| limits.queued_entries_max = 0),
            "`queued_entries_max` has to be from 5000 to 1000000000000, not 0"
        );
        assert!(fault(|limits| limits.queued_stored_bytes_max = u64::MAX).contains("not 18446"));
    }

    #[test]
    fn the_schema_begins_with_other_bounds() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(crate::schema::SQL).unwrap();
        db.execute("UPDATE limits SET value = value + 1", [])
            .unwrap();
        let moved = read(&db).unwrap();
        let usual = Limits::default();
        let pairs = moved.all().into_iter().zip(usual.all());
        for ((name, _, moved), (_, _, usual)) in pairs {
            assert_eq!(moved, usual + 1, "{name}");
        }
    }
}
