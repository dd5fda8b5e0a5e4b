//! What a text says once its escapes are undone, and where each byte of that came from.
//!
//! Percent encoding, `\u{hex}` as the gateway's shorthand writes it, `\uXXXX` and the short escapes of
//! JSON, `\xNN`. One round undoes one layer, of whatever kinds; [`ROUNDS`] layers are looked under.

use std::ops::Range;

/// How many layers of escapes are undone: a doubly encoded URL inside a JSON string.
pub(super) const ROUNDS: usize = 3;

/// A decoded text over another one.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Where each byte begins in the text underneath, and that text's length.
    from: Vec<usize>,
    /// Which bytes were percent-encoded: they belong to the word around them, whatever they are.
    pub(super) is_inner: Vec<bool>,
}

impl Decoded {
    /// Undoes one layer of escapes; `None` when there is none.
    pub(super) fn of(text: &[u8]) -> Option<Decoded> {
        let mut places = memchr::memchr2_iter(b'%', b'\\', text);
        let first = places.find(|&at| escape(text, at).is_some())?;
        Some(Decoded::with(text, first, escape))
    }

    /// Undoes the escapes of a JSON string alone.
    pub(super) fn of_json(text: &[u8]) -> Option<Decoded> {
        let first = memchr::memchr(b'\\', text)?;
        let escape = |text: &[u8], at| (text[at] == b'\\').then(|| backslash(text, at)).flatten();
        Some(Decoded::with(text, first, escape))
    }

    fn with(
        text: &[u8],
        first: usize,
        escape: impl Fn(&[u8], usize) -> Option<(Unit, usize)>,
    ) -> Decoded {
        let mut decoded = Decoded {
            bytes: text[..first].to_vec(),
            from: (0..first).collect(),
            is_inner: vec![false; first],
        };
        let mut at = first;
        while at < text.len() {
            let (unit, length) = escape(text, at).unwrap_or((Unit::Byte(text[at]), 1));
            decoded.push(unit, at, text[at] == b'%' && length > 1);
            at += length;
        }
        decoded.from.push(text.len());
        decoded
    }

    fn push(&mut self, unit: Unit, from: usize, is_inner: bool) {
        let mut buffer = [0; 4];
        let bytes: &[u8] = match unit {
            Unit::Byte(byte) => &[byte],
            Unit::Char(character) => character.encode_utf8(&mut buffer).as_bytes(),
        };
        self.bytes.extend_from_slice(bytes);
        self.from.extend(bytes.iter().map(|_| from));
        self.is_inner.extend(bytes.iter().map(|_| is_inner));
    }

    /// The range of the text underneath that `range` stands for, whole escapes included.
    pub(super) fn under(&self, range: Range<usize>) -> Range<usize> {
        let last = self.from[range.end - 1];
        let mut end = range.end;
        while self.from[end] == last {
            end += 1;
        }
        self.from[range.start]..self.from[end]
    }

    /// The same text over the one that `below` stands over.
    pub(super) fn over(mut self, below: &Decoded) -> Decoded {
        // An end between two bytes of one escape belongs after the escape, as in `under`.
        for (inner, at) in self.is_inner.iter_mut().zip(&self.from) {
            *inner |= below.is_inner[*at];
        }
        self.from.iter_mut().for_each(|at| *at = below.from[*at]);
        self
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Byte(u8),
    Char(char),
}

/// What the escape at `at` stands for, and its length.
fn escape(text: &[u8], at: usize) -> Option<(Unit, usize)> {
    match text[at] {
        b'%' => Some((Unit::Byte(hex_byte(text, at + 1)?), 3)),
        b'\\' => backslash(text, at),
        _ => None,
    }
}

fn backslash(text: &[u8], at: usize) -> Option<(Unit, usize)> {
    let plain = match text.get(at + 1)? {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'x' => return Some((Unit::Byte(hex_byte(text, at + 2)?), 4)),
        b'u' if text.get(at + 2) == Some(&b'{') => return braced(text, at),
        b'u' => return utf16(text, at),
        &mark @ (b'\\' | b'"' | b'\'' | b'/' | b'[' | b']' | b' ' | b'=' | b':') => mark,
        _ => return None,
    };
    Some((Unit::Byte(plain), 2))
}

/// `\u{hex}`: one to six digits.
fn braced(text: &[u8], at: usize) -> Option<(Unit, usize)> {
    let digits = text[at + 3..]
        .iter()
        .take(6)
        .take_while(|byte| byte.is_ascii_hexdigit());
    let length = digits.count();
    if length == 0 || text.get(at + 3 + length) != Some(&b'}') {
        return None;
    }
    let code = hex(&text[at + 3..at + 3 + length])?;
    Some((Unit::Char(char::from_u32(code)?), length + 4))
}

/// `\uXXXX`, and the second half of a pair with it; half a pair alone is U+FFFD.
fn utf16(text: &[u8], at: usize) -> Option<(Unit, usize)> {
    let high = hex(text.get(at + 2..at + 6)?)?;
    if let Some(character) = char::from_u32(high) {
        return Some((Unit::Char(character), 6));
    }
    let low = match text.get(at + 6..at + 8) {
        Some(b"\\u") => text.get(at + 8..at + 12).and_then(hex),
        _ => None,
    };
    match low {
        Some(low @ 0xdc00..=0xdfff) if high < 0xdc00 => {
            let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            Some((Unit::Char(char::from_u32(code)?), 12))
        }
        _ => Some((Unit::Char(char::REPLACEMENT_CHARACTER), 6)),
    }
}

fn hex_byte(text: &[u8], at: usize) -> Option<u8> {
    u8::try_from(hex(text.get(at..at + 2)?)?).ok()
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, &digit| {
        Some(value << 4 | char::from(digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn every_kind_of_escape_is_undone_and_points_back() {
        let text = br"a%3Db\u{3d}c\u003dd\x3d\\\n\ud83d\ude00%zz\q";
        let decoded = Decoded::of(text).unwrap();
        assert_eq!(decoded.bytes, "a=b=c=d=\\\n\u{1f600}%zz\\q".as_bytes());
        assert_eq!(&text[decoded.under(1..2)], b"%3D");
        assert_eq!(&text[decoded.under(3..6)], br"\u{3d}c\u003d");
        for part in 10..14 {
            // Part of a character stands for the whole pair.
            assert_eq!(&text[decoded.under(part..part + 1)], br"\ud83d\ude00");
        }
    }

    #[test]
    fn text_without_escapes_is_not_copied() {
        for text in ["", "plain", "100%", "C:\\work", "%g0\\u{}\\u{110000}\\uD8"] {
            assert!(Decoded::of(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_second_layer_points_through_the_first() {
        let first = Decoded::of(b"x%253Dy").unwrap();
        let second = Decoded::of(&first.bytes).unwrap().over(&first);
        assert_eq!(second.bytes, b"x=y");
        assert_eq!(second.under(1..2), 1..6);
    }
}
