//! Lines that begin with `[`: the text of `openshell logs`, and `[ocsf] SHORTHAND`.

use boundlane_record::Micros;
use nom::IResult;
use nom::Parser;
use nom::bytes::complete::{tag, take_till};
use nom::sequence::delimited;

use super::{Body, Line, Prefix, after_ocsf, bare, event};
use crate::clock::{self, LineTime};
use crate::shorthand::without_spaces;
use crate::tracing_line;

/// The target that OCSF events carry, and nothing else does.
const OCSF_TARGET: &str = "ocsf";

pub(super) fn read(text: &str) -> Line<'_> {
    // Written where it is returned: a line is too large to be handed on.
    if let Some(time) = usual(text) {
        return Line {
            prefix: Prefix::Cli,
            time: LineTime::Moment(time),
            origin: Some("sandbox"),
            body: event(without_spaces(&text[USUAL_BYTES..])),
            own_bytes: USUAL_BYTES,
        };
    }
    match cli(text) {
        Some(line) => line,
        None => bare(after_tag(text)),
    }
}

/// `[ocsf] SHORTHAND`.
fn after_tag(text: &str) -> Body<'_> {
    let tagged = text
        .strip_prefix("[ocsf] ")
        .map(|rest| rest.trim_start_matches(' '));
    match tagged {
        Some(rest) => event(after_ocsf(rest).unwrap_or(rest)),
        None => Body::Other(text),
    }
}

/// What stands between nearly every line's time and its event.
const USUAL: &[u8; 27] = b"] [sandbox] [OCSF ] [ocsf] ";

/// How long the usual prefix is.
const USUAL_BYTES: usize = 15 + USUAL.len();

/// The time of a line with the prefix of nearly every line, told by its fixed places: `[secs.ms` of ten
/// and three digits, and [`USUAL`]. What it does not know is no other form; it is left to [`cli`].
#[inline]
fn usual(text: &str) -> Option<Micros> {
    let prefix = text.as_bytes().first_chunk::<USUAL_BYTES>()?;
    let ([b'[', time @ ..], rest) = prefix.split_first_chunk::<15>()? else {
        return None;
    };
    if rest != USUAL {
        return None;
    }
    clock::usual_epoch(time)
}

/// `[secs.ms] [source] [LEVEL] [target] message`.
fn cli(text: &str) -> Option<Line<'_>> {
    let (rest, (time, source, level, target)) =
        (group, group, group, last_group).parse(text).ok()?;
    let time = clock::epoch(time)?;
    let origin = source.trim_end_matches(' ');
    if !is_word(origin) {
        return None;
    }
    let body = if level.trim_end_matches(' ') == "OCSF" {
        event(rest.trim_start_matches(' '))
    } else if is_tracing(source, level, target) {
        Body::Tracing(rest)
    } else {
        Body::Other(rest)
    };
    Some(Line {
        prefix: Prefix::Cli,
        time,
        origin: Some(origin),
        body,
        own_bytes: 0,
    })
}

/// Only what the CLI prints exactly so is passed over; what looks almost like it is kept.
fn is_tracing(source: &str, level: &str, target: &str) -> bool {
    matches!(source, "sandbox" | "gateway")
        && tracing_line::is_padded_level(level)
        && target != OCSF_TARGET
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// `[text]` and the spaces behind it.
fn group(text: &str) -> IResult<&str, &str> {
    let (rest, inner) = last_group(text)?;
    let (rest, _) = tag(" ")(rest)?;
    Ok((rest.trim_start_matches(' '), inner))
}

fn last_group(text: &str) -> IResult<&str, &str> {
    delimited(tag("["), take_till(|c| c == ']'), tag("]")).parse(text)
}

#[cfg(test)]
mod tests {
    use boundlane_record::redact::Redactor;

    use super::*;
    use crate::shorthand::Head;

    fn body(text: &str) -> Body<'_> {
        read(text).body
    }

    fn event(text: &str) -> Option<Body<'_>> {
        Head::read(text).map(Body::Event)
    }

    #[test]
    fn text_of_the_cli_is_taken_apart() {
        let line = read("[1775014132.118] [gateway] [OCSF ] [ocsf] NET:OPEN [INFO] x");
        assert_eq!(line.prefix, Prefix::Cli);
        assert_eq!(line.origin, Some("gateway"));
        assert!(matches!(line.time, LineTime::Moment(_)));
        assert_eq!(Some(line.body), event("NET:OPEN [INFO] x"));
        assert_eq!(
            body("[1.000] [sandbox] [INFO ] [a::b] text k=v"),
            Body::Tracing(" text k=v")
        );
        assert_eq!(
            body("[1.000] [sandbox] [OCSF ] [ocsf] no head"),
            Body::Headless
        );
    }

    /// A line that a sandbox forged is not passed over because it looks almost like tracing.
    #[test]
    fn forged_tracing_is_kept() {
        for text in [
            "[123.000] [sandbox] [INFO] [ocsf] NET:OPEN [INFO] ALLOWED curl(1) -> a:1",
            "[123.000] [sandbox] [INFO ] [ocsf] NET:OPEN [INFO] ALLOWED curl(1) -> a:1",
            "[123.000] [other  ] [INFO ] [a] text",
            "[123.0] [sandbox] [INFO ] [a] text",
            "[123.000] [sandbox] [FINE ] [a] text",
        ] {
            assert!(matches!(body(text), Body::Other(_)), "{text}");
        }
    }

    fn general(text: &str) -> Option<Line<'_>> {
        cli(text).map(|line| Line {
            own_bytes: USUAL_BYTES,
            ..line
        })
    }

    /// For all prefixes one byte away from the usual one, and the usual one itself, the fast way finds
    /// nothing or the same as the general one, and only where the prefix holds nothing to be cut.
    #[test]
    fn usual_prefix_is_read_as_any_other() {
        let line = "[1775014132.118] [sandbox] [OCSF ] [ocsf] NET:OPEN [INFO] x";
        assert_eq!(Some(read(line)), general(line));
        assert!(usual(line).is_some());
        for at in 0..line.len() {
            for byte in b"019 .:/[]AaOo-_\x7f\0" {
                let mut bytes = line.as_bytes().to_vec();
                bytes[at] = *byte;
                let text = String::from_utf8(bytes).unwrap_or_default();
                if usual(&text).is_some() {
                    assert_eq!(Some(read(&text)), general(&text), "{text}");
                    assert!(Redactor::default().is_clear(&text[..USUAL_BYTES]), "{text}");
                }
            }
            assert!(usual(&line[..at.min(41)]).is_none());
        }
    }

    #[test]
    fn shorthand_behind_its_target_alone_is_shorthand() {
        assert_eq!(
            Some(body("[ocsf] HTTP:GET [INFO] x")),
            event("HTTP:GET [INFO] x")
        );
        assert_eq!(body("[reason:x]"), Body::Other("[reason:x]"));
    }
}
