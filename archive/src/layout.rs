//! Where a file of the archive lies: root, day and name, parsed and printed strictly.
//!
//! `<root>/v=1/date=YYYY-MM-DD/<journal>-<first>-<last>.parquet`. Numbers have at least twelve digits,
//! so that names sort as their ranges do. Every path that parses prints as itself.

use std::path::{Path, PathBuf};

use boundlane_record::{Micros, Seq};

/// The directory of this format's major version.
pub const VERSION_DIR: &str = "v=1";
/// The directory for files that are not whole yet, outside the table.
pub const TEMPORARY_DIR: &str = "_tmp";
/// How a file that is not whole yet ends.
pub(crate) const TEMPORARY_SUFFIX: &str = ".parquet.tmp";

/// The directory under which an archive lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

/// Why a location is not one that can be read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRoot {
    /// Another scheme.
    #[error(
        "`{0}` is not supported as an archive: give a directory or a `file:///absolute/path` URL"
    )]
    Scheme(String),
    /// A `file` URL that names no local path.
    #[error("`{0}` names no local directory: write `file:///absolute/path`")]
    FileUrl(String),
}

impl Root {
    /// The archive in this directory.
    pub fn at(path: impl Into<PathBuf>) -> Root {
        Root(path.into())
    }

    /// The archive at a path or a `file://` URL (percent-encoded, host empty or `localhost`).
    ///
    /// # Errors
    /// [`BadRoot`] for another scheme and for a `file` URL without an absolute path.
    pub fn parse(location: &str) -> Result<Root, BadRoot> {
        let Some((scheme, after)) = location.split_once("://") else {
            return Ok(Root::at(location));
        };
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if !is_scheme {
            return Ok(Root::at(location));
        }
        if !scheme.eq_ignore_ascii_case("file") {
            return Err(BadRoot::Scheme(location.to_owned()));
        }
        let path = after.strip_prefix("localhost").unwrap_or(after);
        match percent_decoded(path) {
            Some(path) if path.starts_with('/') => Ok(Root::at(path)),
            _ => Err(BadRoot::FileUrl(location.to_owned())),
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory of the table.
    pub fn table(&self) -> PathBuf {
        self.0.join(VERSION_DIR)
    }

    /// The directory of files that are not whole yet.
    pub fn temporaries(&self) -> PathBuf {
        self.0.join(TEMPORARY_DIR)
    }

    /// The directory of the files received on `day`.
    pub fn day(&self, day: Day) -> PathBuf {
        self.table().join(format!("date={day}"))
    }
}

/// `text` without its `%xx`; `None` for a broken escape or bytes that are not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(left.next()?).to_digit(16)?;
        let low = char::from(left.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high << 4 | low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// A journal's id: 32 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JournalId(String);

impl JournalId {
    /// The id spelled so, `None` for any other text.
    pub fn parse(text: &str) -> Option<JournalId> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 32 && text.bytes().all(is_hex)).then(|| JournalId(text.to_owned()))
    }

    /// The 32 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for JournalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A UTC day in the years 0 to 9999; moments outside count as its first or last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// 0000-01-01 and 9999-12-31, in days since 1970-01-01.
    const RANGE: (i64, i64) = (-719_528, 2_932_896);

    /// The day of a moment.
    pub fn of(moment: Micros) -> Day {
        Day(moment.utc_day().clamp(Day::RANGE.0, Day::RANGE.1))
    }

    /// The day printed so.
    pub fn parse(text: &str) -> Option<Day> {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let number = |digits: &str| digits.parse::<i64>().ok();
        let found = Day::from_date(number(year)?, number(month)?, number(day)?)?;
        (found.to_string() == text).then_some(found)
    }

    /// Days since 1970-01-01.
    pub fn since_epoch(self) -> i64 {
        self.0
    }

    /// Counts from a year that begins in March, so that the leap day is its last.
    fn from_date(year: i64, month: i64, day: i64) -> Option<Day> {
        if !(0..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let (year, month) = if month < 3 {
            (year - 1, month + 9)
        } else {
            (year, month - 3)
        };
        let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let in_year = (153 * month + 2) / 5 + day - 1;
        Some(Day(365 * year + leaps + in_year - 719_468))
    }

    fn date(self) -> (i64, i64, i64) {
        let since_march_0 = self.0 + 719_468;
        let era = since_march_0.div_euclid(146_097);
        let in_era = since_march_0.rem_euclid(146_097);
        let year_in_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_in_era + year_in_era / 4 - year_in_era / 100);
        let month = (5 * in_year + 2) / 153;
        let day = in_year - (153 * month + 2) / 5 + 1;
        let year = year_in_era + 400 * era;
        if month < 10 {
            (year, month + 3, day)
        } else {
            (year + 1, month - 9, day)
        }
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// A file's name: whose entries it holds, and which.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName {
    /// The journal.
    pub journal: JournalId,
    /// Its first entry.
    pub first: Seq,
    /// Its last entry.
    pub last: Seq,
}

impl FileName {
    /// The name printed so, `None` for any other.
    pub fn parse(text: &str) -> Option<FileName> {
        let mut parts = text.strip_suffix(".parquet")?.split('-');
        let journal = JournalId::parse(parts.next()?)?;
        let mut seq = || parts.next()?.parse().ok().map(Seq);
        let name = FileName {
            journal,
            first: seq()?,
            last: seq()?,
        };
        let whole = Seq::FIRST <= name.first && name.first <= name.last && name.to_string() == text;
        whole.then_some(name)
    }

    /// Whether every entry of `other` is in this file.
    pub fn contains(&self, other: &FileName) -> bool {
        self.journal == other.journal && self.first <= other.first && other.last <= self.last
    }

    /// Whether some entry is in both.
    pub fn overlaps(&self, other: &FileName) -> bool {
        self.journal == other.journal && self.first <= other.last && other.first <= self.last
    }

    /// How many entries.
    pub fn entries(&self) -> u64 {
        self.last.0 - self.first.0 + 1
    }
}

impl std::fmt::Display for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let FileName {
            journal,
            first,
            last,
        } = self;
        write!(f, "{journal}-{:012}-{:012}.parquet", first.0, last.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_day_prints_as_itself_and_follows_the_one_before() {
        // For all days of the range: printing then parsing is the identity, and text order is day order.
        let mut before = String::new();
        for day in Day::RANGE.0..=Day::RANGE.1 {
            let text = Day(day).to_string();
            assert!(before < text, "{before} {text}");
            assert_eq!(Day::parse(&text), Some(Day(day)), "{text}");
            before = text;
        }
        assert_eq!(before, "9999-12-31");
    }

    #[test]
    fn moments_beyond_the_calendar_have_its_ends_as_their_day() {
        assert_eq!(Day::of(Micros(i64::MIN)).to_string(), "0000-01-01");
        assert_eq!(Day::of(Micros(i64::MAX)).to_string(), "9999-12-31");
        assert_eq!(Day::of(Micros(-1)).to_string(), "1969-12-31");
        assert_eq!(
            Day::of(Micros(1_775_001_853_058_000)).to_string(),
            "2026-04-01"
        );
    }

    #[test]
    fn dates_that_do_not_exist_are_refused() {
        for text in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-4-1",
            "+026-04-01",
            "2026-04-01x",
            "",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
        assert!(Day::parse("2024-02-29").is_some());
    }

    #[test]
    fn names_that_do_not_print_as_themselves_are_refused() {
        let journal = "0123456789abcdef0123456789abcdef";
        let good = format!("{journal}-000000000001-000000016384.parquet");
        assert_eq!(FileName::parse(&good).unwrap().to_string(), good);
        let long = format!("{journal}-18446744073709551614-18446744073709551615.parquet");
        assert_eq!(FileName::parse(&long).unwrap().to_string(), long);
        for bad in [
            format!("{journal}-1-16384.parquet"),
            format!("{journal}-000000000002-000000000001.parquet"),
            format!("{journal}-000000000000-000000000001.parquet"),
            format!("{journal}-000000000001-000000000001-000000000001.parquet"),
            format!("{journal}-000000000001-+00000000002.parquet"),
            format!(
                "{}-000000000001-000000000002.parquet",
                journal.to_uppercase()
            ),
            format!("{journal}-000000000001-000000000002.parquet.tmp"),
            "part-0.parquet".to_owned(),
        ] {
            assert_eq!(FileName::parse(&bad), None, "{bad}");
        }
    }

    #[test]
    fn roots_are_paths_or_file_urls() {
        assert_eq!(Root::parse("/a/b"), Ok(Root::at("/a/b")));
        assert_eq!(Root::parse("rel/dir"), Ok(Root::at("rel/dir")));
        assert_eq!(Root::parse("file:///a%20b/c"), Ok(Root::at("/a b/c")));
        assert_eq!(Root::parse("FILE://localhost/a"), Ok(Root::at("/a")));
        for bad in ["file://a/b", "file://", "file:///a%2"] {
            assert!(
                matches!(Root::parse(bad), Err(BadRoot::FileUrl(_))),
                "{bad}"
            );
        }
        let refused = Root::parse("s3://bucket/x").unwrap_err().to_string();
        assert!(
            refused.contains("`s3://bucket/x`") && refused.contains("file:///"),
            "{refused}"
        );
    }
}
