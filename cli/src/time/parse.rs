//! Reading times.

use boundlane_record::Micros;
use chrono::NaiveDate;

use super::print::{civil, rfc3339};
use super::zone::{LocalTime, Zone};
use super::{DAY, SECOND};

mod scan;

use scan::Scan;

/// Why a text is not one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeError {
    /// It is in no known form.
    Unknown,
    /// It has the form of a time and no such time exists, or it is too far away.
    OutOfRange,
    /// The clock was put back and showed it twice.
    Twice(Micros, Micros),
    /// The clock was put forward over it: it went from the first local time to the second.
    Never(String, String),
}

impl std::fmt::Display for TimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TimeError::Unknown => f.write_str(
                "not a time; write `2h`, `7d`, `today`, `2026-08-21`, `2026-08-21 21:50` \
                 or RFC 3339",
            ),
            TimeError::OutOfRange => f.write_str("there is no such time"),
            TimeError::Twice(first, second) => write!(
                f,
                "the clock showed this twice; write `{}` or `{}`",
                rfc3339(*first),
                rfc3339(*second)
            ),
            TimeError::Never(from, to) => write!(
                f,
                "the clock never showed this: it went from `{from}` to `{to}`"
            ),
        }
    }
}

impl std::error::Error for TimeError {}

/// The instant that `text` means at `now` for a person in `zone`.
///
/// # Errors
/// [`TimeError`], which says what would be understood.
pub fn instant(text: &str, now: Micros, zone: &dyn Zone) -> Result<Micros, TimeError> {
    let text = text.trim();
    if let Some(epoch) = text.strip_prefix('@') {
        return since_epoch(epoch);
    }
    match text.to_ascii_lowercase().as_str() {
        "now" => return Ok(now),
        "today" | "yesterday" => return Ok(day_start(date(text, now, zone)?, zone)),
        _ => {}
    }
    if let Some(ago) = duration(text)? {
        return now
            .0
            .checked_sub(ago)
            .map(Micros)
            .ok_or(TimeError::OutOfRange);
    }
    let mut scan = Scan::new(text);
    let day = match scan.date()? {
        Some(day) if scan.is_at_end() => return Ok(day_start(day, zone)),
        Some(day) if scan.one_of(b"Tt ") => day,
        Some(_) => return Err(TimeError::Unknown),
        None => local_day(now, zone)?,
    };
    let dated = text.len() >= 10 && text.as_bytes()[4] == b'-';
    let clock = scan.clock()?.ok_or(TimeError::Unknown)?;
    let local = micros_of_day(day)
        .checked_add(clock)
        .ok_or(TimeError::OutOfRange)?;
    match scan.offset()? {
        Some(offset) if dated && scan.is_at_end() => Ok(Micros(local - offset)),
        None if scan.is_at_end() => once(local, zone),
        _ => Err(TimeError::Unknown),
    }
}

/// The day that `text` means: a date, `today` or `yesterday`.
///
/// # Errors
/// [`TimeError`].
pub fn date(text: &str, now: Micros, zone: &dyn Zone) -> Result<NaiveDate, TimeError> {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "today" => local_day(now, zone),
        "yesterday" => local_day(now, zone)?
            .pred_opt()
            .ok_or(TimeError::OutOfRange),
        _ => {
            let mut scan = Scan::new(text);
            let day = scan.date()?.ok_or(TimeError::Unknown)?;
            if scan.is_at_end() {
                Ok(day)
            } else {
                Err(TimeError::Unknown)
            }
        }
    }
}

fn local_day(now: Micros, zone: &dyn Zone) -> Result<NaiveDate, TimeError> {
    let local = now.0 + i64::from(zone.offset_seconds(now)) * SECOND;
    let days = i32::try_from(local.div_euclid(DAY)).map_err(|_| TimeError::OutOfRange)?;
    NaiveDate::from_epoch_days(days).ok_or(TimeError::OutOfRange)
}

fn micros_of_day(day: NaiveDate) -> i64 {
    i64::from(day.to_epoch_days()) * DAY
}

/// The first instant of a local day, also where the clock is changed at midnight.
fn day_start(day: NaiveDate, zone: &dyn Zone) -> Micros {
    match zone.resolve(micros_of_day(day)) {
        LocalTime::Once(at) | LocalTime::Twice(at, _) => at,
        LocalTime::Never { change, .. } => change,
    }
}

fn once(local: i64, zone: &dyn Zone) -> Result<Micros, TimeError> {
    match zone.resolve(local) {
        LocalTime::Once(at) => Ok(at),
        LocalTime::Twice(first, second) => Err(TimeError::Twice(first, second)),
        LocalTime::Never {
            change,
            before,
            after,
        } => Err(TimeError::Never(
            wall(change.0 + before),
            wall(change.0 + after),
        )),
    }
}

/// A local time to the minute.
fn wall(local: i64) -> String {
    let c = civil(Micros(local));
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}",
        c.year, c.month, c.day, c.hour, c.minute
    )
}

/// `1775014132.690`, also negative.
fn since_epoch(text: &str) -> Result<Micros, TimeError> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let mut scan = Scan::new(digits);
    let seconds = scan.number()?.ok_or(TimeError::Unknown)?;
    let fraction = scan.fraction()?.unwrap_or(0);
    if !scan.is_at_end() {
        return Err(TimeError::Unknown);
    }
    let micros = seconds
        .checked_mul(SECOND)
        .and_then(|micros| micros.checked_add(fraction));
    micros
        .map(|micros| Micros(sign * micros))
        .ok_or(TimeError::OutOfRange)
}

/// The length of `30s`, `1h30m`; `None` for anything else.
pub fn span(text: &str) -> Option<std::time::Duration> {
    let micros = duration(text.trim()).ok()??;
    Some(std::time::Duration::from_micros(
        u64::try_from(micros).ok()?,
    ))
}

/// Microseconds of `1h30m`, `1.5h`, `7d`; `None` when the text is not a duration.
fn duration(text: &str) -> Result<Option<i64>, TimeError> {
    let mut scan = Scan::new(text);
    let mut total: i64 = 0;
    loop {
        let Some(whole) = scan.number()? else {
            return Ok(None);
        };
        let fraction = scan.fraction()?.unwrap_or(0);
        let Some(unit) = scan.unit() else {
            return Ok(None);
        };
        let part = i128::from(whole) * i128::from(unit)
            + i128::from(fraction) * i128::from(unit) / i128::from(SECOND);
        let part = i64::try_from(part).map_err(|_| TimeError::OutOfRange)?;
        total = total.checked_add(part).ok_or(TimeError::OutOfRange)?;
        if scan.is_at_end() {
            return Ok(Some(total));
        }
    }
}

#[cfg(test)]
mod tests;
