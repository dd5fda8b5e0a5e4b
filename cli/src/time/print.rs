//! Printing times. Written out rather than through a formatter: an export prints millions.

use std::fmt::Write as _;

use boundlane_record::Micros;

use super::{DAY, SECOND};

/// 0001-01-01T00:00:00Z: RFC 3339 spells no earlier year.
const FIRST: i64 = -62_135_596_800_000_000;
/// 9999-12-31T23:59:59.999999Z: it spells no later one.
const LAST: i64 = 253_402_300_799_999_999;

/// The fields of a clock and a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// The year, also before 1 and after 9999.
    pub year: i64,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Microseconds of the second.
    pub micros: u32,
}

/// The UTC calendar and clock at `at`. For a local one, add the offset before.
pub fn civil(at: Micros) -> Civil {
    let (days, in_day) = (at.0.div_euclid(DAY), at.0.rem_euclid(DAY));
    let (year, month, day) = date_of(days);
    let seconds = in_day / SECOND;
    Civil {
        year,
        month,
        day,
        hour: small(seconds / 3600),
        minute: small(seconds / 60 % 60),
        second: small(seconds % 60),
        micros: u32::try_from(in_day % SECOND).unwrap_or_default(),
    }
}

/// Appends RFC 3339 in UTC with six fractional digits: `2026-04-01T04:04:32.690000Z`. What lies before
/// the year 1 or after 9999 becomes the nearest that can be spelled.
pub fn push_rfc3339(text: &mut String, at: Micros) {
    let Civil {
        year,
        month,
        day,
        hour,
        minute,
        second,
        micros,
    } = civil(Micros(at.0.clamp(FIRST, LAST)));
    // Writing to a text cannot fail.
    let _ = write!(
        text,
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z"
    );
}

/// RFC 3339 in UTC with six fractional digits.
pub fn rfc3339(at: Micros) -> String {
    let mut text = String::with_capacity(27);
    push_rfc3339(&mut text, at);
    text
}

/// Year, month and day of a count of days since 1970-01-01, in the proleptic Gregorian calendar.
/// Years are counted from March, so that the leap day ends one; 400 of them have 146,097 days.
fn date_of(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, small(month), small(day))
}

fn small(n: i64) -> u8 {
    u8::try_from(n).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, SecondsFormat};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_known_time_prints_otherwise() {
        assert_eq!(
            rfc3339(Micros(1_775_014_132_690_000)),
            "2026-04-01T03:28:52.690000Z"
        );
        assert_eq!(rfc3339(Micros(0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(rfc3339(Micros(-1)), "1969-12-31T23:59:59.999999Z");
        assert_eq!(
            rfc3339(Micros(951_782_400_000_000)),
            "2000-02-29T00:00:00.000000Z"
        );
    }

    proptest! {
        /// For all instants of the years 1 to 9999 the printed text is what chrono prints.
        #[test]
        fn for_all_instants_it_prints_what_chrono_prints(
            at in FIRST..=LAST,
        ) {
            let theirs = DateTime::from_timestamp_micros(at).map(|t| t.to_rfc3339_opts(SecondsFormat::Micros, true));
            prop_assert_eq!(Some(rfc3339(Micros(at))), theirs);
        }
    }
}
