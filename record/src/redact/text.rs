//! Bytes under examination, and how far the things in them reach.

use std::cell::Cell;
use std::ops::Range;

/// Where an identifier that follows a delimiter may end, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A text, and how many of its bytes were looked at (each matcher must stay linear).
pub(super) struct Text<'v> {
    pub(super) bytes: &'v [u8],
    /// Which bytes were percent-encoded, when any was.
    is_inner: &'v [bool],
    work: Cell<usize>,
}

/// The bytes that a run is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Letters and digits.
    Alnum,
    /// Capitals and digits.
    Upper,
    /// Letters, digits, `_`.
    Word,
    /// Letters, digits, `_`, `-`: base64url.
    Token,
    /// Letters, digits, `_`, `-`, `.`, `=`.
    Dotted,
}

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Class::Alnum => byte.is_ascii_alphanumeric(),
            Class::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Class::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Class::Token => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Class::Dotted => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=')
            }
        }
    }
}

impl<'v> Text<'v> {
    pub(super) fn new(bytes: &'v [u8], is_inner: &'v [bool]) -> Text<'v> {
        Text {
            bytes,
            is_inner,
            work: Cell::new(0),
        }
    }

    /// How many bytes were looked at.
    #[cfg(test)]
    pub(super) fn work(&self) -> usize {
        self.work.get()
    }

    pub(super) fn looked_at(&self, bytes: usize) {
        self.work.set(self.work.get() + bytes + 1);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn at(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Whether the byte at `at` was percent-encoded, so that it ends no value and no query.
    pub(super) fn is_inner(&self, at: usize) -> bool {
        self.is_inner.get(at).is_some_and(|&inner| inner)
    }

    pub(super) fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|at| self.at(at))
    }

    pub(super) fn from(&self, at: usize) -> &'v [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'v [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Whether `literal` stands at `at`, in any case.
    pub(super) fn says(&self, at: usize, literal: &str) -> bool {
        self.from(at)
            .get(..literal.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(literal.as_bytes()))
    }

    /// The first place from `at` on whose byte does not fit.
    pub(super) fn while_at(&self, at: usize, fits: impl Fn(u8) -> bool) -> usize {
        let end = self.from(at).iter().position(|&byte| !fits(byte));
        let end = end.map_or(self.len(), |length| at + length).max(at);
        self.looked_at(end - at);
        end
    }

    /// The first place after the last byte before `at` that does not fit.
    pub(super) fn while_before(&self, at: usize, fits: impl Fn(u8) -> bool) -> usize {
        let last = self.slice(0..at).iter().rposition(|&byte| !fits(byte));
        let start = last.map_or(0, |last| last + 1);
        self.looked_at(at - start);
        start
    }

    /// After the blanks at `at`; a line break is none.
    pub(super) fn after_blanks(&self, at: usize) -> usize {
        self.while_at(at, is_blank)
    }

    /// The place of `byte` at or after `at`.
    pub(super) fn find(&self, at: usize, byte: u8) -> Option<usize> {
        let found = memchr::memchr(byte, self.from(at));
        self.looked_at(found.unwrap_or(self.len().saturating_sub(at)));
        found.map(|length| at + length)
    }

    /// Where the text in quotes that begins at `at` ends: before the next `quote` that is not escaped,
    /// or with the text, because a text that was cut short has lost its last quote.
    pub(super) fn quoted_end(&self, at: usize, quote: u8) -> usize {
        let mut end = at;
        while let Some(byte) = self.at(end) {
            match byte {
                b'\\' => end += 2,
                byte if byte == quote => break,
                _ => end += 1,
            }
        }
        self.looked_at(end.min(self.len()) - at);
        end.min(self.len())
    }

    /// Where a value without quotes ends: at white space, at a `]` that it did not open, and at a
    /// delimiter when what follows looks like the next thing and not like more of the value.
    pub(super) fn bare_end(&self, at: usize) -> usize {
        let mut depth = 0usize;
        let mut end = at;
        while let Some(byte) = self.at(end) {
            match byte {
                _ if self.is_inner(end) => {}
                _ if is_space(byte) => break,
                b'\\' if !self.is_at_quote(end) => {
                    end += usize::from(self.at(end + 1).is_some_and(|next| !is_space(next)));
                }
                b'[' => depth += 1,
                b']' if depth == 0 => break,
                b']' => depth -= 1,
                b',' | b';' | b'&' | b'|' if self.is_next_item(end + 1) => break,
                b'"' | b'\'' | b'`' | b')' | b'}' | b'>' | b'\\' if self.is_closed(end) => break,
                _ => {}
            }
            end += 1;
        }
        self.looked_at(end - at);
        end
    }

    /// Whether what closes at `at` is followed by structure or nothing.
    fn is_closed(&self, at: usize) -> bool {
        let after = at + 1 + usize::from(self.at(at) == Some(b'\\'));
        match self.at(after) {
            None => true,
            Some(b'\\') => self.is_at_quote(after),
            Some(byte) => is_space(byte) || b",;:)}]>\"'`".contains(&byte),
        }
    }

    /// Whether a quote stands at `at`, escaped or not.
    pub(super) fn is_at_quote(&self, at: usize) -> bool {
        let at = at + usize::from(self.at(at) == Some(b'\\'));
        self.at(at).is_some_and(is_quote)
    }

    /// Whether another item begins at `at`: nothing, white space, a quote, or a name with its `=` or `:`.
    fn is_next_item(&self, at: usize) -> bool {
        match self.at(at) {
            None => true,
            Some(byte) if is_space(byte) => true,
            Some(_) => self.is_at_quote(at) || self.is_assignment(at, b"=:"),
        }
    }

    /// Whether a short name and one of `separators` stand at `at`.
    pub(super) fn is_assignment(&self, at: usize, separators: &[u8]) -> bool {
        let head = self.slice(at..(at + NAME_BYTES_MAX).min(self.len()));
        let name = head
            .iter()
            .take_while(|&&byte| Class::Dotted.has(byte) && byte != b'=');
        let length = name.count();
        self.looked_at(length);
        length > 0
            && head
                .get(length)
                .is_some_and(|next| separators.contains(next))
    }
}

/// White space and controls.
pub(super) fn is_space(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
