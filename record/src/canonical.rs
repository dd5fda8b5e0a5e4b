//! The canonical bytes of an entry, and the row they stand for.
//!
//! One compact JSON object: keys in column order, absent when null, integers for times, strings
//! escaped as RFC 8785 does (`\"`, `\\`, `\b \t \n \f \r`, `\u00xx` for other controls, nothing else).
//! Keys after the last known one are kept verbatim in [`Row::rest`], so that reading and writing is the
//! identity on every canonical entry, whoever wrote it.

mod integer;
mod key;
mod newer;
mod text;

use std::borrow::Cow;

use crate::column::{Column, Parsed, Row, Value};
pub use integer::encode_integer;
pub(crate) use text::encode_inside;
pub use text::encode_text;
use text::{ESCAPES, clean_len};

/// Why bytes are not a canonical entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a canonical entry at byte {at}: {what}")]
pub struct NotCanonical {
    /// Offset of the first byte that does not fit.
    pub at: usize,
    /// What was expected there.
    pub what: &'static str,
}

/// Appends the canonical bytes of `row` to `out`.
pub fn encode(row: &Row<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    row.encode_present(out);
    if out.len() == start {
        out.push(b'{');
        let rest = row.rest.strip_prefix(',').unwrap_or(&row.rest);
        out.extend_from_slice(rest.as_bytes());
    } else {
        // Over the first key's comma.
        out[start] = b'{';
        out.extend_from_slice(row.rest.as_bytes());
    }
    out.push(b'}');
}

/// Reads one canonical entry.
///
/// # Errors
/// [`NotCanonical`] when `bytes` are anything that [`encode`] could not have written, here or in a
/// newer version: no object, a known key out of order or of another type, another spelling of a value.
pub fn decode(bytes: &[u8]) -> Result<Row<'_>, NotCanonical> {
    let mut row = Row::default();
    row.rest = read(bytes, |column, value| row.set(column, value))?;
    Ok(row)
}

/// Reads one canonical entry without making a row of it: calls `each` with every present column, in
/// canonical order, and gives what would be [`Row::rest`].
///
/// # Errors
/// As [`decode`], of the same bytes; `each` may have been called for what comes before.
pub fn visit(
    bytes: &[u8],
    mut each: impl FnMut(Column, Value<'_>),
) -> Result<Cow<'_, str>, NotCanonical> {
    read(bytes, |column, parsed| {
        let value = parsed.value(column.column_type());
        value.map(|value| each(column, value)).is_some()
    })
}

/// Gives every value to `take`, which says whether it is one of the column's type, and returns the rest.
fn read<'a>(
    bytes: &'a [u8],
    mut take: impl FnMut(Column, Parsed<'a>) -> bool,
) -> Result<Cow<'a, str>, NotCanonical> {
    let text = std::str::from_utf8(bytes).map_err(|error| NotCanonical {
        at: error.valid_up_to(),
        what: "valid UTF-8",
    })?;
    let mut reader = Reader { text, at: 0 };
    reader.expect(b'{', "`{`")?;
    let mut rest = Cow::Borrowed("");
    let mut lowest = 0;
    let mut first = true;
    loop {
        let before = reader.at;
        if reader.peek() == Some(b'}') {
            break;
        }
        if !first {
            reader.expect(b',', "`,`")?;
        }
        let known = reader.key(lowest)?;
        let Some(column) = known else {
            reader.at = before;
            rest = reader.rest(first)?;
            break;
        };
        lowest = column as usize + 1;
        let at = reader.at;
        let value = reader.value()?;
        if !take(column, value) {
            return Err(NotCanonical {
                at,
                what: "a value of the column's type",
            });
        }
        first = false;
    }
    reader.expect(b'}', "`}`")?;
    if reader.at != bytes.len() {
        return Err(NotCanonical {
            at: reader.at,
            what: "the end",
        });
    }
    Ok(rest)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, NotCanonical> {
        Err(NotCanonical { at: self.at, what })
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), NotCanonical> {
        if self.peek() != Some(byte) {
            return self.fail(what);
        }
        self.at += 1;
        Ok(())
    }

    /// Reads `"key":`. `Some` is a known column not below `lowest`, `None` a key of a newer writer.
    #[inline]
    fn key(&mut self, lowest: usize) -> Result<Option<Column>, NotCanonical> {
        if let Some((column, length)) = key::find(&self.bytes()[self.at..], lowest) {
            self.at += length;
            return Ok(Some(column));
        }
        let at = self.at;
        let key = self.string()?;
        self.expect(b':', "`:`")?;
        match Column::from_name(&key) {
            Some(column) if column as usize >= lowest => Ok(Some(column)),
            Some(_) => Err(NotCanonical {
                at,
                what: "keys in column order, each once",
            }),
            None => Ok(None),
        }
    }

    #[inline]
    fn value(&mut self) -> Result<Parsed<'a>, NotCanonical> {
        match self.peek() {
            Some(b'"') => Ok(Parsed::Text(self.string()?)),
            Some(b't') => self.word("true", Parsed::Bool(true)),
            Some(b'f') => self.word("false", Parsed::Bool(false)),
            Some(b'-' | b'0'..=b'9') => self.integer(),
            _ => self.fail("a string, an integer, `true` or `false`"),
        }
    }

    fn word(&mut self, word: &'static str, value: Parsed<'a>) -> Result<Parsed<'a>, NotCanonical> {
        if !self.bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.fail(word);
        }
        self.at += word.len();
        Ok(value)
    }

    fn integer(&mut self) -> Result<Parsed<'a>, NotCanonical> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let spelled = &self.text[start..self.at];
        let digits = spelled.strip_prefix('-').unwrap_or(spelled);
        let padded = digits.len() > 1 && digits.starts_with('0') || spelled == "-0";
        match spelled.parse() {
            Ok(n) if !padded => Ok(Parsed::Integer(n)),
            _ => Err(NotCanonical {
                at: start,
                what: "a 64-bit integer in its shortest spelling",
            }),
        }
    }

    #[inline]
    fn string(&mut self) -> Result<Cow<'a, str>, NotCanonical> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        self.at += clean_len(&self.bytes()[self.at..]);
        match self.peek() {
            Some(b'"') => {
                let text = &self.text[start..self.at];
                self.at += 1;
                Ok(Cow::Borrowed(text))
            }
            Some(b'\\') => self.escaped_string(start),
            _ => self.fail("a closed string without bare controls"),
        }
    }

    /// The rest of a string from its first backslash on.
    #[cold]
    fn escaped_string(&mut self, start: usize) -> Result<Cow<'a, str>, NotCanonical> {
        let mut text = String::from(&self.text[start..self.at]);
        loop {
            let clean = self.at;
            while matches!(self.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\')
            {
                self.at += 1;
            }
            text.push_str(&self.text[clean..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return self.fail("a closed string without bare controls"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, NotCanonical> {
        let at = self.at;
        self.at += 2;
        let letter = self.bytes().get(at + 1).copied();
        let plain = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'b') => '\u{8}',
            Some(b't') => '\t',
            Some(b'n') => '\n',
            Some(b'f') => '\u{c}',
            Some(b'r') => '\r',
            Some(b'u') => return self.control(at),
            _ => {
                return Err(NotCanonical {
                    at,
                    what: "a canonical escape",
                });
            }
        };
        Ok(plain)
    }

    /// `\u00xx` of a control that has no letter.
    fn control(&mut self, at: usize) -> Result<char, NotCanonical> {
        let wrong = NotCanonical {
            at,
            what: "a canonical escape",
        };
        let hex = self.bytes().get(at + 2..at + 6).ok_or(wrong)?;
        self.at = at + 6;
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (Some(high), Some(low)) = (digit(hex[2]), digit(hex[3])) else {
            return Err(wrong);
        };
        let byte = high << 4 | low;
        if &hex[..2] != b"00" || ESCAPES[usize::from(byte)] != b'u' {
            return Err(wrong);
        }
        Ok(char::from(byte))
    }
}
