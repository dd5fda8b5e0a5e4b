//! Coverage as one line for a person and as one JSON object for a program.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Coverage, Hole, Loss, Testimony, Total, Verdict};
use crate::canonical::encode_text;
use crate::number::Micros;
use crate::vocabulary::Kind;

/// The kinds of loss in the order they are told: their names, and what happened to how many of what.
const LOSS_KINDS: [(Kind, [&str; 2], [&str; 2]); 3] = [
    (
        Kind::Gap,
        ["gap", "gaps"],
        ["line never reached us", "lines never reached us"],
    ),
    (
        Kind::Drops,
        ["drop", "drops"],
        ["line was shed", "lines were shed"],
    ),
    (
        Kind::Rejected,
        ["rejection", "rejections"],
        [
            "entry was refused by the receiver",
            "entries were refused by the receiver",
        ],
    ),
];

impl Coverage {
    /// One line without newline: the verdict, what is missing and the newest moment known.
    ///
    /// `complete, known up to 2026-08-01T10:00:00.000000Z`
    pub fn line(&self) -> String {
        let mut line = self.verdict().word().to_owned();
        let missing = self.missing_words();
        if !missing.is_empty() {
            line.push_str(": ");
            line.push_str(&missing.join(", "));
        }
        let imports = self.imported().count();
        if self.verdict() != Verdict::AsImported && imports > 0 {
            let _ = write!(
                line,
                "; {} as imported",
                counted(imports as u64, "stream", "streams")
            );
        }
        for doubt in self.doubts().words() {
            let _ = write!(line, "; {doubt}");
        }
        if let Some(newest) = self.newest() {
            let _ = write!(line, "; known up to {}", rfc3339(newest));
        }
        line
    }

    fn missing_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (kind, [one, many], [singular, plural]) in LOSS_KINDS {
            let total = self.total(kind);
            if total.losses > 0 {
                let causes = self.causes(kind).join(", ");
                let losses = counted(total.losses, one, many);
                let what = if total.most == Some(1) {
                    singular
                } else {
                    plural
                };
                words.push(format!("{losses} ({causes}; {} {what})", total.words()));
            }
        }
        if self.ranges_missing > 0 {
            let entries = counted(self.entries_missing, "entry", "entries");
            words.push(format!("{entries} that no file holds"));
        }
        if self.files_unreadable > 0 {
            let files = counted(self.files_unreadable, "file", "files");
            words.push(format!("{files} that cannot be read"));
        }
        let silent = self.silent_before_the_end().count();
        if silent > 0 {
            let streams = counted(silent as u64, "stream", "streams");
            words.push(format!("{streams} not known up to the end of the window"));
        }
        if self.streams.not_kept() > 0 {
            words.push(format!("more than {} streams", super::STREAMS_KEPT_MAX));
        }
        words
    }

    fn causes(&self, kind: Kind) -> Vec<&'static str> {
        let causes: BTreeSet<_> = self
            .totals()
            .filter(|(of, ..)| *of == kind)
            .map(|(_, cause, _)| cause)
            .collect();
        causes.into_iter().collect()
    }

    /// One JSON object. Times are RFC 3339; a `null` bound means unbounded.
    pub fn to_json(&self) -> String {
        let window = self.scope().window;
        let mut json = Object::new();
        json.text("verdict", Some(self.verdict().word()));
        json.time("since", window.since);
        json.time("until", window.until);
        json.time("known_until", self.newest());
        json.raw("totals", &self.totals_json());
        json.raw("losses", &array(self.losses().iter().map(loss_json)));
        let kept = self.losses().len() as u64;
        json.number("losses_not_listed", Some(self.losses_seen() - kept));
        json.number("entries_missing", Some(self.entries_missing()));
        json.number("files_unreadable", Some(self.files_unreadable()));
        json.raw("holes", &array(self.holes().iter().map(hole_json)));
        json.raw("imported", &array(self.imported().map(testimony_json)));
        let silent = self.silent_before_the_end().map(testimony_json);
        json.raw("silent_before_the_end", &array(silent));
        json.number("imports_that_may_repeat", Some(self.doubts().may_repeat));
        json.number("imports_not_confirmed", Some(self.doubts().unconfirmed));
        json.close()
    }

    fn totals_json(&self) -> String {
        let mut json = Object::new();
        for (kind, ..) in LOSS_KINDS {
            let causes = self.totals().filter(|(of, ..)| *of == kind);
            let mut by_cause = Object::new();
            for (_, cause, total) in causes {
                by_cause.raw(cause, &total_json(total, None));
            }
            let total = total_json(&self.total(kind), Some(&by_cause.close()));
            json.raw(kind.word(), &total);
        }
        json.close()
    }
}

fn total_json(total: &Total, causes: Option<&str>) -> String {
    let mut json = Object::new();
    json.number("losses", Some(total.losses));
    json.number("lines_at_least", Some(total.least));
    json.number("lines_at_most", total.most);
    json.number("denied_at_least", Some(total.denied_least));
    if let Some(causes) = causes {
        json.raw("causes", causes);
    }
    json.close()
}

fn loss_json(loss: &Loss) -> String {
    let (extent, count) = loss.extent.columns();
    let mut json = Object::new();
    json.text("kind", Some(loss.kind.word()));
    json.text("cause", Some(loss.cause));
    json.text("extent", Some(extent.word()));
    json.number("count", count);
    json.number("denied", loss.denied);
    json.time("from", loss.from);
    json.time("to", loss.to);
    json.text("sandbox", loss.sandbox.as_deref());
    json.text("source", loss.source.as_deref());
    json.text("journal", Some(&loss.journal));
    json.number("seq", loss.seq.map(|seq| seq.0));
    json.close()
}

fn hole_json(hole: &Hole) -> String {
    let mut json = Object::new();
    match hole {
        Hole::Range {
            journal,
            first,
            last,
        } => {
            json.text("journal", Some(journal));
            json.number("first", Some(first.0));
            json.number("last", Some(last.0));
        }
        Hole::File { path, reason } => {
            json.text("file", Some(path));
            json.text("reason", Some(reason));
        }
    }
    json.close()
}

fn testimony_json(stream: &Testimony) -> String {
    let mut json = Object::new();
    json.text("sandbox", stream.sandbox.as_deref());
    json.text("sandbox_id", stream.sandbox_id.as_deref());
    json.text("source", Some(&stream.source));
    json.time("known_until", Some(stream.newest));
    json.close()
}

/// A JSON object under construction, keys in the order they are given.
struct Object(String);

impl Object {
    fn new() -> Object {
        Object("{".to_owned())
    }

    fn raw(&mut self, key: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        let _ = write!(self.0, "\"{key}\":{value}");
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        let mut quoted = Vec::new();
        match value {
            Some(value) => encode_text(value, &mut quoted),
            None => quoted.extend_from_slice(b"null"),
        }
        self.raw(key, &String::from_utf8_lossy(&quoted));
    }

    fn number(&mut self, key: &str, value: Option<u64>) {
        let value = value.map_or_else(|| "null".to_owned(), |n| n.to_string());
        self.raw(key, &value);
    }

    fn time(&mut self, key: &str, value: Option<Micros>) {
        self.text(key, value.map(rfc3339).as_deref());
    }

    fn close(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// RFC 3339 with microseconds and `Z`; years before 1 and after 9999 become the nearest that it can spell.
pub fn rfc3339(moment: Micros) -> String {
    const FIRST: i64 = -62_135_596_800_000_000;
    const LAST: i64 = 253_402_300_799_999_999;
    let micros = moment.0.clamp(FIRST, LAST);
    let (year, month, day) = civil(Micros(micros).utc_day());
    let within = micros.rem_euclid(86_400_000_000);
    let (seconds, fraction) = (within / 1_000_000, within % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z")
}

/// Year, month and day of a day counted from 1970-01-01. Years are counted from March here, so that the
/// leap day is the last of its year.
fn civil(day: i64) -> (i64, i64, i64) {
    const DAYS_400_YEARS: i64 = 146_097;
    const DAYS_0000_03_01_TO_1970: i64 = 719_468;
    let day = day + DAYS_0000_03_01_TO_1970;
    let era = day.div_euclid(DAYS_400_YEARS);
    let of_era = day.rem_euclid(DAYS_400_YEARS);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_around_leap_years_and_ends_are_spelled_right() {
        for (micros, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
            (4_107_542_399_123_456, "2100-02-28T23:59:59.123456Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (1_785_542_400_000_001, "2026-08-01T00:00:00.000001Z"),
            (i64::MIN, "0001-01-01T00:00:00.000000Z"),
            (i64::MAX, "9999-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(rfc3339(Micros(micros)), expected);
        }
    }
}
