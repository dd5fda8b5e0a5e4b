//! A look at the start of an input, before anything is written.

use boundlane_record::Micros;

use crate::clock::LineTime;
use crate::decoder::StatedSandbox;
use crate::framer::nuls_in_front;
use crate::line::{Body, Line};
use crate::{escape, key_value, ocsf_json};

/// How much of an input is looked at, in bytes.
pub const SNIFF_BYTES_MAX: usize = 64 * 1024;

/// What the start of an input holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sniff {
    /// Lines whose form is known, records and tracing.
    pub recognised: usize,
    /// There is a NUL byte: without a recognised line this is no log.
    pub has_nul: bool,
    /// The first sandbox that a line names.
    pub stated: Option<StatedSandbox>,
}

/// Looks at `head`, the first [`SNIFF_BYTES_MAX`] bytes or fewer. NULs in front of a line are passed over, as
/// the framer does.
pub fn sniff(head: &[u8]) -> Sniff {
    let head = &head[..head.len().min(SNIFF_BYTES_MAX)];
    let mut sniff = Sniff {
        has_nul: memchr::memchr(0, head).is_some(),
        ..Sniff::default()
    };
    for line in head.split(|byte| *byte == b'\n') {
        let line = &line[nuls_in_front(line)..];
        let text = escape::spell_bytes(line.strip_suffix(b"\r").unwrap_or(line));
        let plain = escape::strip(&text);
        let body = Line::read(&plain.text).body;
        sniff.recognised += usize::from(is_known(body));
        if sniff.stated.is_none()
            && let Body::Json(text) = body
        {
            sniff.stated = ocsf_json::read(text)
                .ok()
                .and_then(|event| event.stated_sandbox());
        }
    }
    sniff
}

/// When the line says that it happened, where it says date and time.
pub fn line_time(line: &[u8]) -> Option<Micros> {
    let text = escape::spell_bytes(line);
    let plain = escape::strip(&text);
    match Line::read(&plain.text).time {
        LineTime::Moment(moment) => Some(moment),
        _ => None,
    }
}

/// Whether the line itself says when it happened; a time of day is enough.
pub fn carries_time(line: &[u8]) -> bool {
    let text = escape::spell_bytes(line);
    let plain = escape::strip(&text);
    let line = Line::read(&plain.text);
    match (line.time, line.body) {
        (LineTime::Moment(_) | LineTime::OfDay(_), _) => true,
        (_, Body::Json(text)) => ocsf_json::read(text).is_ok(),
        _ => false,
    }
}

fn is_known(body: Body<'_>) -> bool {
    match body {
        Body::Event(_) | Body::Headless | Body::Tracing(_) => true,
        Body::Json(text) => ocsf_json::read(text).is_ok(),
        Body::Other(text) => key_value::read(text).is_some(),
        Body::Blank => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_with_a_nul_and_no_known_line_is_told_from_a_log() {
        let binary = sniff(b"\x7fELF\0\0\nmore\n");
        assert_eq!((binary.recognised, binary.has_nul), (0, true));
        let log = sniff(b"\n[1.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [INFO] a\0b\n");
        assert_eq!((log.recognised, log.has_nul), (1, true));
    }

    #[test]
    fn first_stated_sandbox_is_found() {
        let head = b"{}\n{\"class_uid\":4001,\"container\":{\"name\":\"demo\",\"uid\":\"u-1\"}}\n";
        let stated = StatedSandbox {
            id: Some("u-1".into()),
            name: Some("demo".into()),
        };
        assert_eq!(sniff(head).stated, Some(stated));
    }
}
