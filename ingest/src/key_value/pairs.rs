//! `key=value key="a value"`, the value quoted in files and bare in the CLI's text.

use crate::escape::Spelling;
use crate::fields::Spelled;

/// One pair, as printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    pub(super) key: &'a str,
    /// Without its quotes.
    pub(super) value: &'a str,
    pub(super) quoted: bool,
}

impl<'a> Pair<'a> {
    pub(super) fn spelled(&self) -> Spelled<'a> {
        let spelling = if self.quoted {
            Spelling::Title
        } else {
            Spelling::Plain
        };
        Spelled {
            text: self.value,
            spelling,
        }
    }
}

/// All pairs of `text`. A bare value reaches to the next ` key=`, for it may hold spaces.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = Pair<'_>> {
    let mut at = next_key(text, 0).map(|(start, _)| start);
    std::iter::from_fn(move || {
        let (start, equals) = next_key(text, at?)?;
        let (pair, end) = pair(text, start, equals);
        at = Some(end);
        Some(pair)
    })
}

/// The text in front of the first pair: the message, without the target that tracing prints first.
pub(super) fn text_before(text: &str) -> &str {
    let end = next_key(text, 0).map_or(text.len(), |(start, _)| start);
    let before = text[..end].trim_matches(' ');
    match before.split_once(' ') {
        Some((target, message)) if target.ends_with(':') => message.trim_start_matches(' '),
        None if before.ends_with(':') => "",
        _ => before,
    }
}

fn pair(text: &str, start: usize, equals: usize) -> (Pair<'_>, usize) {
    let key = &text[start..equals];
    let value = &text[equals + 1..];
    if let Some(len) = value.strip_prefix('"').and_then(quoted_len) {
        let end = equals + 2 + len;
        return (
            Pair {
                key,
                value: &text[equals + 2..end],
                quoted: true,
            },
            end + 1,
        );
    }
    let end = next_key(text, equals + 1).map_or(text.len(), |(next, _)| next);
    (
        Pair {
            key,
            value: text[equals + 1..end].trim_end_matches(' '),
            quoted: false,
        },
        end,
    )
}

/// How long the text is before the quote that closes it: one that a space or the end follows.
fn quoted_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' if matches!(bytes.get(at + 1), None | Some(b' ')) => return Some(at),
            _ => at += 1,
        }
    }
}

/// The next `key=` at or behind `from`: its start and its `=`. A key begins the text or follows a space.
fn next_key(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut search = from;
    loop {
        let equals = search + memchr::memchr(b'=', bytes.get(search..)?)?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let len = bytes[..equals]
            .iter()
            .rev()
            .take_while(|byte| is_part(byte))
            .count();
        let start = equals - len;
        let begins = start == 0 || bytes[start - 1] == b' ';
        if start >= from && begins && bytes.get(start).is_some_and(u8::is_ascii_lowercase) {
            return Some((start, equals));
        }
        search = equals + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(&str, &str)> {
        pairs(text).map(|pair| (pair.key, pair.value)).collect()
    }

    #[test]
    fn quoted_and_bare_values_are_read_to_their_end() {
        assert_eq!(
            all(r#"CONNECT action=deny binary=/opt/my app/x reason="a \"b\" c=d" dst_port=443"#),
            [
                ("action", "deny"),
                ("binary", "/opt/my app/x"),
                ("reason", r#"a \"b\" c=d"#),
                ("dst_port", "443")
            ]
        );
        assert_eq!(
            all("l7_target=/x?a=1&b=2 k="),
            [("l7_target", "/x?a=1&b=2"), ("k", "")]
        );
        assert_eq!(all(r#"a="open b=c"#), [("a", "\"open"), ("b", "c")]);
        assert_eq!(all("no pairs = here"), []);
    }

    #[test]
    fn text_before_the_pairs_is_the_message_without_its_target() {
        assert_eq!(text_before("a::b: CONNECT action=deny"), "CONNECT");
        assert_eq!(text_before(" CONNECT x action=deny"), "CONNECT x");
        assert_eq!(text_before("a::b: action=deny"), "");
    }
}
