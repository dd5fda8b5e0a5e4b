//! Times as people write and read them: one parser for every option, one printer for every format.
//!
//! | written | means |
//! |---|---|
//! | `2026-08-21T19:50:00.123Z`, `2026-08-21 21:50:00+02:00` | RFC 3339, any number of fractional digits |
//! | `2026-08-21 21:50`, `2026-08-21T21:50:00` | that local time |
//! | `2026-08-21` | the first moment of that local day |
//! | `21:50`, `21:50:07.5` | that local time, today |
//! | `10m`, `2h`, `7d`, `2w`, `1h30m`, `1.5h` | so long ago; a day is 24 hours |
//! | `now`, `today`, `yesterday` | now, the first moment of the local day |
//! | `@1775014132.690` | seconds since 1970-01-01T00:00:00Z |
//!
//! A local time that the clock showed twice, or never, is refused. Digits beyond the microsecond are
//! cut off.

pub(crate) mod named;
mod parse;
mod print;
mod window;
mod zone;

pub use parse::{TimeError, date, instant, span};
pub use print::{Civil, civil, push_rfc3339, rfc3339};
pub use window::{WindowError, described, window};
pub use zone::{Local, LocalTime, Utc, Zone};

/// Microseconds in a second.
const SECOND: i64 = 1_000_000;
/// Microseconds in a day of 24 hours.
const DAY: i64 = 86_400 * SECOND;

#[cfg(test)]
pub(crate) mod fake {
    //! Zones that do not depend on the machine.

    use boundlane_record::Micros;

    use super::Zone;

    /// Germany in 2026: an hour is skipped on 29 March and repeated on 25 October, both at 01:00 UTC.
    pub(crate) struct Berlin;

    impl Zone for Berlin {
        fn offset_seconds(&self, at: Micros) -> i32 {
            let summer = 1_774_746_000_000_000..1_792_890_000_000_000;
            if summer.contains(&at.0) { 7200 } else { 3600 }
        }
    }
}
