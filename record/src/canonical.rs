//! The canonical bytes of an entry, and the row they stand for.
//!
//! One compact JSON object: keys in column order, absent when null, integers for times, strings
//! escaped as RFC 8785 does (`\"`, `\\`, `\b \t \n \f \r`, `\u00xx` for other controls, nothing else).
//! Keys after the last known one are kept verbatim in [`Row::rest`], so that reading and writing is the
//! identity on every canonical entry, whoever wrote it.

mod newer;

use std::borrow::Cow;

use crate::column::{Column, Parsed, Row, Value};

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
    row.each_present(|column, value| {
        out.extend_from_slice(column.key().as_bytes());
        encode_value(value, out);
    });
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

fn encode_value(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Text(text) => encode_text(text, out),
        Value::Int(n) => encode_integer(i64::from(n), out),
        Value::Long(n) => encode_integer(n, out),
        Value::Time(micros) => encode_integer(micros.0, out),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
    }
}

/// Appends `n` in its canonical spelling: the shortest.
pub fn encode_integer(n: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut left = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(left % 10).unwrap_or(0);
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if n < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// What a byte of a string needs: 0 nothing, `u` a `\u00xx`, else the letter after the backslash.
static ESCAPES: [u8; 256] = escapes();

const fn escapes() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
}

/// Appends `text` as a canonical JSON string, quotes included.
pub fn encode_text(text: &str, out: &mut Vec<u8>) {
    let mut left = text.as_bytes();
    out.reserve(left.len() + 2);
    out.push(b'"');
    loop {
        let (clean, rest) = left.split_at(clean_len(left));
        out.extend_from_slice(clean);
        let Some((byte, rest)) = rest.split_first() else {
            break;
        };
        escape(*byte, out);
        left = rest;
    }
    out.push(b'"');
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match ESCAPES[usize::from(byte)] {
        b'u' => {
            let hex = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&hex);
        }
        letter => out.extend_from_slice(&[b'\\', letter]),
    }
}

/// How many bytes from the start need no escape, looked at eight at a time.
fn clean_len(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // Marks each byte below `n` (at most 128), and sometimes one above such a byte: the lowest is right.
    let below = |word: u64, n: u8| word.wrapping_sub(ONES * u64::from(n)) & !word & HIGHS;
    let is = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let mut left = bytes;
    while let Some((eight, rest)) = left.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let marks = below(word, 0x20) | is(word, b'"') | is(word, b'\\');
        if marks != 0 {
            return bytes.len() - left.len() + marks.trailing_zeros() as usize / 8;
        }
        left = rest;
    }
    let found = left
        .iter()
        .position(|byte| ESCAPES[usize::from(*byte)] != 0);
    bytes.len() - left.len() + found.unwrap_or(left.len())
}

/// Reads one canonical entry.
///
/// # Errors
/// [`NotCanonical`] when `bytes` are anything that [`encode`] could not have written, here or in a
/// newer version: no object, a known key out of order or of another type, another spelling of a value.
pub fn decode(bytes: &[u8]) -> Result<Row<'_>, NotCanonical> {
    let text = std::str::from_utf8(bytes).map_err(|error| NotCanonical {
        at: error.valid_up_to(),
        what: "valid UTF-8",
    })?;
    let mut reader = Reader { text, at: 0 };
    reader.expect(b'{', "`{`")?;
    let mut row = Row::default();
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
            row.rest = reader.rest(first)?;
            break;
        };
        lowest = column as usize + 1;
        let at = reader.at;
        let value = reader.value()?;
        if !row.set(column, value) {
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
    Ok(row)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, NotCanonical> {
        Err(NotCanonical { at: self.at, what })
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), NotCanonical> {
        if self.peek() != Some(byte) {
            return self.fail(what);
        }
        self.at += 1;
        Ok(())
    }

    /// Reads `"key":`. `Some` is a known column not below `lowest`, `None` a key of a newer writer.
    fn key(&mut self, lowest: usize) -> Result<Option<Column>, NotCanonical> {
        let left = &self.bytes()[self.at..];
        let length = left.iter().skip(1).position(|byte| *byte == b'"');
        if let (Some(b'"'), Some(length)) = (left.first(), length) {
            let (key, behind) = left[1..].split_at(length);
            // A row's next key is most likely a near column: names are compared from the lowest one on.
            let is_key = |column: &&Column| column.name().as_bytes() == key;
            let found = Column::ALL[lowest..].iter().find(is_key);
            if let (Some(column), true) = (found, behind.starts_with(b"\":")) {
                self.at += length + 3;
                return Ok(Some(*column));
            }
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

    fn string(&mut self) -> Result<Cow<'a, str>, NotCanonical> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        self.at += clean_len(&self.bytes()[start..]);
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
