//! A followed line as `openshell logs` prints it.

use std::fmt::Write as _;

use super::WatchedLine;
use crate::decoder::Message;
use crate::digest::DigestKey;
use boundlane_record::Fingerprint;

/// A cursor longer than this is none, in bytes: it goes into every entry.
const CURSOR_BYTES_MAX: usize = 512;

impl WatchedLine {
    /// `[secs.ms] [source] [LEVEL] [target] message key=value`. A value that would not end where it ends
    /// is quoted; nothing else is changed.
    pub fn text(&self) -> String {
        let millis = self.time.map_or(0, |time| time.0.div_euclid(1000));
        let source = match self.source.as_str() {
            "" => "gateway",
            source => source,
        };
        let mut text = format!(
            "[{}.{:03}] [{source:7}] [{:5}] [{}] {}",
            millis.div_euclid(1000),
            millis.rem_euclid(1000),
            self.level,
            self.target,
            self.message
        );
        for (key, value) in &self.fields {
            text.push(' ');
            text.push_str(key);
            text.push('=');
            write_value(value, &mut text);
        }
        text
    }

    /// The line for the decoder; `text` is [`WatchedLine::text`].
    pub fn as_message<'a>(&'a self, text: &'a str) -> Message<'a> {
        Message {
            text,
            time: self.time,
            cursor: &self.cursor,
            names_sandbox: !self.sandbox_id.is_empty(),
        }
    }

    /// What lines are compared by: everything but the cursor, which a line may come without.
    pub fn fingerprint(&self, text: &str, key: &DigestKey) -> Fingerprint {
        let mut running = key.running();
        let time = self.time.map_or(i64::MIN, |time| time.0);
        running.update(&time.to_be_bytes());
        running.update(text.as_bytes());
        let mut short = [0u8; 16];
        short.copy_from_slice(&running.so_far()[..16]);
        Fingerprint(short)
    }

    /// The line without a cursor that is too long to keep.
    #[must_use]
    pub fn bounded(mut self) -> WatchedLine {
        if self.cursor.len() > CURSOR_BYTES_MAX {
            self.cursor.clear();
        }
        self
    }
}

fn write_value(value: &str, text: &mut String) {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '"';
    if !value.is_empty() && value.chars().all(is_plain) {
        return text.push_str(value);
    }
    text.push('"');
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            // Writing to a string cannot fail.
            c if c.is_control() => drop(write!(text, "\\u{{{:x}}}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use boundlane_record::Micros;

    use super::*;

    fn line() -> WatchedLine {
        WatchedLine {
            time: Some(Micros(1_775_014_132_118_250)),
            level: "OCSF".into(),
            target: "ocsf".into(),
            message: "NET:OPEN [INFO] ALLOWED curl(1) -> a.example:443".into(),
            source: "sandbox".into(),
            ..WatchedLine::default()
        }
    }

    #[test]
    fn a_line_reads_as_the_command_prints_it() {
        assert_eq!(
            line().text(),
            "[1775014132.118] [sandbox] [OCSF ] [ocsf] NET:OPEN [INFO] ALLOWED curl(1) -> a.example:443"
        );
        let fields = [("action", "deny"), ("reason", "not allowed \"here\"\n")];
        let tracing = WatchedLine {
            level: "WARN".into(),
            target: "proxy".into(),
            message: "CONNECT".into(),
            source: String::new(),
            fields: fields.map(|(key, value)| (key.into(), value.into())).into(),
            ..line()
        };
        assert_eq!(
            tracing.text(),
            "[1775014132.118] [gateway] [WARN ] [proxy] CONNECT action=deny reason=\"not allowed \\\"here\\\"\\n\""
        );
    }

    #[test]
    fn a_line_that_comes_again_without_its_cursor_is_the_same_line() {
        let key = DigestKey::new(&[1; 32]);
        let with = WatchedLine {
            cursor: "c".into(),
            ..line()
        };
        let print = |line: &WatchedLine| line.fingerprint(&line.text(), &key);
        assert_eq!(print(&with), print(&line()));
        let later = WatchedLine {
            time: Some(Micros(1_775_014_132_118_251)),
            ..line()
        };
        assert_ne!(
            print(&later),
            print(&line()),
            "the text has milliseconds only"
        );
    }
}
