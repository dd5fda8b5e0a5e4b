//! Spellings: the gateway's escapes, bytes that are not UTF-8, and terminal colours.

mod ansi;

use std::borrow::Cow;

pub(crate) use ansi::{Plain, strip};

/// How a line spells a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spelling {
    /// As it is.
    #[default]
    Plain,
    /// `\\`, `\[`, `\]`, and whitespace and controls as `\u{hex}`.
    Context,
    /// `\\`, `\"`, `\n`, `\r`, `\t`, and other controls as `\u{hex}`.
    Title,
}

/// What `text` means. An escape that the spelling does not know stays as printed.
pub fn meaning(text: &str, spelling: Spelling) -> Cow<'_, str> {
    if spelling == Spelling::Plain || !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut read = String::with_capacity(text.len());
    let mut left = text;
    while let Some(at) = left.find('\\') {
        read.push_str(&left[..at]);
        left = &left[at..];
        let (meant, taken) = escape(left, spelling).unwrap_or(('\\', 1));
        read.push(meant);
        left = &left[taken..];
    }
    read.push_str(left);
    Cow::Owned(read)
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escape(text: &str, spelling: Spelling) -> Option<(char, usize)> {
    let letter = *text.as_bytes().get(1)?;
    match (letter, spelling) {
        (b'\\', _) => Some(('\\', 2)),
        (b'[', Spelling::Context) => Some(('[', 2)),
        (b']', Spelling::Context) => Some((']', 2)),
        (b'"', Spelling::Title) => Some(('"', 2)),
        (b'n', Spelling::Title) => Some(('\n', 2)),
        (b'r', Spelling::Title) => Some(('\r', 2)),
        (b't', Spelling::Title) => Some(('\t', 2)),
        (b'u', _) => code_point(text),
        _ => None,
    }
}

/// `\u{hex}`.
fn code_point(text: &str) -> Option<(char, usize)> {
    let hex = text.strip_prefix("\\u{")?;
    let end = hex.bytes().take(7).position(|byte| byte == b'}')?;
    let is_hex = end > 0 && hex[..end].bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_hex.then(|| u32::from_str_radix(&hex[..end], 16).ok())??;
    Some((char::from_u32(number)?, end + 4))
}

/// Bytes as text: themselves when they are UTF-8, else with each bad byte as `\xNN` and each
/// backslash doubled, so that the bytes can be had back.
pub fn spell_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for chunk in bytes.utf8_chunks() {
        for part in chunk.valid().split_inclusive('\\') {
            text.push_str(part);
            if part.ends_with('\\') {
                text.push('\\');
            }
        }
        for byte in chunk.invalid() {
            text.push_str("\\x");
            text.push(char::from(HEX[usize::from(byte >> 4)]));
            text.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_escapes_are_read_and_malformed_ones_kept() {
        for (printed, meant) in [
            (r"a\u{20}b\\c\[d\]", r"a b\c[d]"),
            (
                r"\u{zz} \u{110000} \u{} \u{20",
                r"\u{zz} \u{110000} \u{} \u{20",
            ),
            (r"\n\x\", r"\n\x\"),
            (r"\u{d800}\u{1f600}", "\\u{d800}\u{1f600}"),
            (r"\u{00000020}", r"\u{00000020}"),
        ] {
            assert_eq!(meaning(printed, Spelling::Context), meant);
        }
        assert_eq!(
            meaning(r#"a\"b\n\[\u{1b}"#, Spelling::Title),
            "a\"b\n\\[\u{1b}"
        );
        assert_eq!(meaning(r"\\", Spelling::Plain), r"\\");
    }

    #[test]
    fn bytes_that_are_not_text_can_be_had_back() {
        assert_eq!(spell_bytes(b"a\\b"), "a\\b");
        assert_eq!(
            spell_bytes(b"a\\\xff\xc3(\xe2\x82"),
            r"a\\\xff\xc3(\xe2\x82"
        );
    }
}
