//! Times as lines print them: exact integer arithmetic, nothing invented.

use boundlane_record::Micros;

const MICROS_OF_SECOND: i64 = 1_000_000;
const SECONDS_OF_DAY: i64 = 86_400;
/// The last second of the year 9999: a later one is no time but a forgery or a mistake.
const LAST_SECOND: i64 = 253_402_300_799;

/// A calendar day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateYmd {
    year: u16,
    month: u8,
    day: u8,
}

impl DateYmd {
    /// The day, `None` when the calendar does not have it. Years 1 to 9999.
    pub fn new(year: u16, month: u8, day: u8) -> Option<DateYmd> {
        let fits = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && day >= 1
            && day <= days_in_month(year, month);
        fits.then_some(DateYmd { year, month, day })
    }

    /// Its first moment, UTC.
    pub fn start(self) -> Micros {
        // Days since 1970-01-01, counted in years that begin in March, so that the leap day is last.
        let (year, month) = match self.month {
            1 | 2 => (i64::from(self.year) - 1, i64::from(self.month) + 9),
            _ => (i64::from(self.year), i64::from(self.month) - 3),
        };
        let of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468;
        Micros(days * SECONDS_OF_DAY * MICROS_OF_SECOND)
    }
}

fn days_in_month(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The time of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineTime<'a> {
    /// It prints none.
    None,
    /// This moment.
    Moment(Micros),
    /// Microseconds into a day that the line does not name.
    OfDay(i64),
    /// What it prints is no time that can be kept.
    Unusable(&'a str),
}

/// `secs.mmm` as the CLI prints it, to the end of `text`.
pub(crate) fn epoch(text: &str) -> Option<LineTime<'_>> {
    let (seconds, millis) = text
        .as_bytes()
        .split_at_checked(text.len().checked_sub(4)?)?;
    let [b'.', hundreds, tens, ones] = *millis else {
        return None;
    };
    let millis = number(&[hundreds, tens, ones])?;
    if seconds.is_empty() || !seconds.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let moment = number(seconds)
        .filter(|seconds| *seconds <= LAST_SECOND)
        .map(|seconds| Micros(seconds * MICROS_OF_SECOND + millis * 1000));
    Some(moment.map_or(LineTime::Unusable(text), LineTime::Moment))
}

/// `ssssssssss.mmm`, as [`epoch`] reads it: ten digits of seconds are the years 2001 to 2286. `None` for
/// any other text.
pub(crate) fn usual_epoch(text: &[u8; 14]) -> Option<Micros> {
    let (eight, [tens, ones, b'.', millis @ ..]) = text.split_first_chunk::<8>()? else {
        return None;
    };
    let seconds = eight_digits(*eight)? * 100 + number(&[*tens, *ones])?;
    Some(Micros(seconds * MICROS_OF_SECOND + number(millis)? * 1000))
}

/// Eight decimal digits, all at once in the lanes of one word: digits to pairs, pairs to fours, fours to
/// the number.
fn eight_digits(eight: [u8; 8]) -> Option<i64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let ones = u64::from_le_bytes(eight).wrapping_sub(ZEROS);
    // Above 9 in any lane: the addition reaches the high bit, or it is set already.
    if (ones | ones.wrapping_add(HIGHS - 0x0a0a_0a0a_0a0a_0a0a)) & HIGHS != 0 {
        return None;
    }
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    i64::try_from((fours * 10_000 + (fours >> 32)) & 0xffff_ffff).ok()
}

/// `YYYY-MM-DDTHH:MM:SS.fZ` at the start of `text`, with three or six digits after the point, and what follows.
pub(crate) fn date_time(text: &str) -> Option<(LineTime<'_>, &str)> {
    let bytes = text.as_bytes();
    let [b'-', b'-', b'T'] = [*bytes.get(4)?, *bytes.get(7)?, *bytes.get(10)?] else {
        return None;
    };
    let year = number(&bytes[..4])?;
    let month = number(&bytes[5..7])?;
    let day = number(&bytes[8..10])?;
    let (of_day, len) = time_of_day(&bytes[11..])?;
    let (is_z, end) = (bytes.get(11 + len) == Some(&b'Z'), 11 + len + 1);
    if !is_z {
        return None;
    }
    let date = DateYmd::new(
        u16::try_from(year).ok()?,
        u8::try_from(month).ok()?,
        u8::try_from(day).ok()?,
    );
    let time = match date {
        Some(date) => LineTime::Moment(Micros(date.start().0 + of_day)),
        None => LineTime::Unusable(&text[..end]),
    };
    Some((time, &text[end..]))
}

/// `HH:MM:SS.mmm` at the start of `text`, and what follows.
pub(crate) fn clock(text: &str) -> Option<(LineTime<'_>, &str)> {
    let (of_day, len) = time_of_day(text.as_bytes())?;
    Some((LineTime::OfDay(of_day), &text[len..]))
}

/// `HH:MM:SS.f` in microseconds, and its length.
fn time_of_day(bytes: &[u8]) -> Option<(i64, usize)> {
    let [b':', b':', b'.'] = [*bytes.get(2)?, *bytes.get(5)?, *bytes.get(8)?] else {
        return None;
    };
    let hour = number(&bytes[..2])?;
    let minute = number(&bytes[3..5])?;
    let second = number(&bytes[6..8])?;
    // A leap second counts as the first one of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let digits = bytes[9..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let fraction = match digits {
        3 => number(&bytes[9..12])? * 1000,
        6 => number(&bytes[9..15])?,
        _ => return None,
    };
    let seconds = hour * 3600 + minute * 60 + second;
    Some((seconds * MICROS_OF_SECOND + fraction, 9 + digits))
}

/// Decimal digits only, up to 18 of them.
fn number(digits: &[u8]) -> Option<i64> {
    if digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0i64, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Option<i64> {
        match date_time(text) {
            Some((LineTime::Moment(moment), "")) => Some(moment.0),
            _ => None,
        }
    }

    /// Days are counted as the calendar counts them, leap years and centuries too.
    #[test]
    fn dates_are_the_days_of_the_calendar() {
        assert_eq!(moment("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(
            moment("2000-02-29T12:00:00.001Z"),
            Some(951_825_600_001_000)
        );
        assert_eq!(
            moment("2026-08-18T12:46:59.157274Z"),
            Some(1_787_057_219_157_274)
        );
        assert_eq!(moment("1969-12-31T23:59:59.999Z"), Some(-1000));
        assert_eq!(
            moment("9999-12-31T23:59:59.999Z"),
            Some(LAST_SECOND * 1_000_000 + 999_000)
        );
    }

    #[test]
    fn days_that_do_not_exist_are_no_times() {
        for text in [
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "0000-01-01T00:00:00.000Z",
        ] {
            assert_eq!(date_time(text), Some((LineTime::Unusable(text), "")));
        }
        for text in [
            "2026-02-28T24:00:00.000Z",
            "2026-02-28T00:00:00.00Z",
            "2026-02-28T00:00:00.000",
            "2026-0",
        ] {
            assert_eq!(date_time(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_take_three_digits_after_the_point_and_no_other_number() {
        assert_eq!(
            epoch("1775014132.118"),
            Some(LineTime::Moment(Micros(1_775_014_132_118_000)))
        );
        assert_eq!(epoch("0.000"), Some(LineTime::Moment(Micros(0))));
        for text in [
            "1775014132.1",
            "1775014132.1180",
            ".118",
            "-1.500",
            "1775014132",
            "é.000",
            "1.é0",
        ] {
            assert_eq!(epoch(text), None, "{text}");
        }
        let far = "99999999999999999999.000";
        assert_eq!(epoch(far), Some(LineTime::Unusable(far)));
        assert_eq!(
            epoch("253402300800.000"),
            Some(LineTime::Unusable("253402300800.000"))
        );
    }

    /// For all bytes at all places, the usual time is the one that the general way reads.
    #[test]
    fn usual_seconds_are_read_as_any_other() {
        for time in ["1775014132.118", "0000000000.000", "9999999999.999"] {
            for at in 0..14 {
                for byte in 0..0x80 {
                    let mut bytes = [0; 14];
                    bytes.copy_from_slice(time.as_bytes());
                    bytes[at] = byte;
                    let text = String::from_utf8_lossy(&bytes);
                    let usual = usual_epoch(&bytes).map(LineTime::Moment);
                    assert_eq!(usual, epoch(&text), "{text}");
                }
            }
        }
    }

    #[test]
    fn time_of_day_is_read_with_what_follows() {
        assert_eq!(
            clock("14:00:00.250 I NET"),
            Some((LineTime::OfDay(50_400_250_000), " I NET"))
        );
        assert_eq!(clock("14:61:00.250 I"), None);
    }
}
