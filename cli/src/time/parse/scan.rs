//! The pieces that times are made of.

use chrono::NaiveDate;

use super::TimeError;
use crate::time::SECOND;

/// Digits of a number that are read; more are no time.
const DIGITS_MAX: usize = 18;

/// Reads a text from left to right.
pub(super) struct Scan<'t> {
    rest: &'t [u8],
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Scan<'t> {
        Scan {
            rest: text.as_bytes(),
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes one byte that is one of `bytes`.
    pub(super) fn one_of(&mut self, bytes: &[u8]) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if bytes.contains(first) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn digits(&mut self) -> &'t [u8] {
        let count = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        digits
    }

    /// A whole number; `None` where there are no digits.
    pub(super) fn number(&mut self) -> Result<Option<i64>, TimeError> {
        let digits = self.digits();
        if digits.len() > DIGITS_MAX {
            return Err(TimeError::OutOfRange);
        }
        let number = digits
            .iter()
            .fold(0i64, |n, digit| n * 10 + i64::from(digit - b'0'));
        Ok((!digits.is_empty()).then_some(number))
    }

    /// `.5` in millionths; `None` where there is no point. Further digits are cut off.
    pub(super) fn fraction(&mut self) -> Result<Option<i64>, TimeError> {
        if !self.one_of(b".") {
            return Ok(None);
        }
        let digits = self.digits();
        if digits.is_empty() {
            return Err(TimeError::Unknown);
        }
        let six = (0..6).map(|place| digits.get(place).map_or(0, |digit| i64::from(digit - b'0')));
        Ok(Some(six.fold(0, |n, digit| n * 10 + digit)))
    }

    /// Exactly two digits, at most `max`.
    fn two(&mut self, max: i64) -> Result<i64, TimeError> {
        let [a @ b'0'..=b'9', b @ b'0'..=b'9', rest @ ..] = self.rest else {
            return Err(TimeError::Unknown);
        };
        let number = i64::from(a - b'0') * 10 + i64::from(b - b'0');
        self.rest = rest;
        if number > max {
            Err(TimeError::OutOfRange)
        } else {
            Ok(number)
        }
    }

    /// `2026-08-21`; `None`, with nothing taken, where no date begins.
    pub(super) fn date(&mut self) -> Result<Option<NaiveDate>, TimeError> {
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, rest @ ..] = self.rest else {
            return Ok(None);
        };
        let number = |digits: &[&u8]| {
            digits.iter().try_fold(0u32, |n, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| n * 10 + u32::from(**digit - b'0'))
            })
        };
        let parts = (
            number(&[y1, y2, y3, y4]),
            number(&[m1, m2]),
            number(&[d1, d2]),
        );
        let (Some(year), Some(month), Some(day)) = parts else {
            return Ok(None);
        };
        self.rest = rest;
        let date = NaiveDate::from_ymd_opt(year.cast_signed(), month, day);
        date.map(Some).ok_or(TimeError::OutOfRange)
    }

    /// `21:50`, `21:50:07`, `21:50:07.25` in microseconds of the day. Second 60 is the next minute.
    pub(super) fn clock(&mut self) -> Result<Option<i64>, TimeError> {
        if !self.rest.first().is_some_and(u8::is_ascii_digit) {
            return Ok(None);
        }
        let hour = self.two(23)?;
        if !self.one_of(b":") {
            return Err(TimeError::Unknown);
        }
        let minute = self.two(59)?;
        let second = if self.one_of(b":") {
            Some(self.two(60)?)
        } else {
            None
        };
        let fraction = match second {
            Some(_) => self.fraction()?.unwrap_or(0),
            None => 0,
        };
        let seconds = (hour * 60 + minute) * 60 + second.unwrap_or(0);
        Ok(Some(seconds * SECOND + fraction))
    }

    /// `Z`, `+02:00`, `+0200`, `+02` in microseconds east of UTC; `None` where none begins.
    pub(super) fn offset(&mut self) -> Result<Option<i64>, TimeError> {
        if self.one_of(b"Zz") {
            return Ok(Some(0));
        }
        let sign = match self.rest.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Ok(None),
        };
        self.rest = &self.rest[1..];
        let hours = self.two(14)?;
        let minutes = if self.one_of(b":") || !self.is_at_end() {
            self.two(59)?
        } else {
            0
        };
        Ok(Some(sign * (hours * 60 + minutes) * 60 * SECOND))
    }

    /// A unit of time in microseconds. The longest spelling wins: `ms` is not `m`.
    pub(super) fn unit(&mut self) -> Option<i64> {
        let name = self
            .rest
            .iter()
            .take_while(|byte| !byte.is_ascii_digit())
            .count();
        let (name, rest) = self.rest.split_at(name);
        let micros = match name {
            b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 1,
            b"ms" => 1000,
            b"s" => SECOND,
            b"m" => 60 * SECOND,
            b"h" => 3600 * SECOND,
            b"d" => 86_400 * SECOND,
            b"w" => 7 * 86_400 * SECOND,
            _ => return None,
        };
        self.rest = rest;
        Some(micros)
    }
}
