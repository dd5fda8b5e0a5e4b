//! Texts as canonical JSON strings. Nearly all need no escape, and most are short.

/// What a byte of a string needs: 0 nothing, `u` a `\u00xx`, else the letter after the backslash.
pub(super) static ESCAPES: [u8; 256] = escapes();

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
    out.push(b'"');
    encode_inside(text, out);
}

/// Appends `text` as a canonical JSON string whose first quote is there already.
pub(crate) fn encode_inside(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    match bytes.len() {
        0 => (),
        1..4 => tiny(bytes, out),
        4..8 => small(bytes, out),
        8..=16 => short(bytes, out),
        _ => long(bytes, out),
    }
    out.push(b'"');
}

/// One to three bytes: the first, the middle and the last, which may be the same.
#[inline]
fn tiny(bytes: &[u8], out: &mut Vec<u8>) {
    let three = [bytes[0], bytes[bytes.len() / 2], bytes[bytes.len() - 1]];
    let [first, middle, last] = three.map(|byte| ESCAPES[usize::from(byte)]);
    if first | middle | last != 0 {
        return escaped(bytes, out);
    }
    out.extend_from_slice(&three);
    out.truncate(out.len() + bytes.len() - 3);
}

/// Four to seven bytes: the first four and the last four, which overlap. No call of a copy is as fast.
#[inline]
fn small(bytes: &[u8], out: &mut Vec<u8>) {
    let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) else {
        return escaped(bytes, out);
    };
    let word = u64::from(u32::from_le_bytes(*head)) | (u64::from(u32::from_le_bytes(*tail)) << 32);
    if marks(word) != 0 {
        return escaped(bytes, out);
    }
    out.extend_from_slice(head);
    out.truncate(out.len() + bytes.len() - 8);
    out.extend_from_slice(tail);
}

/// Eight to sixteen bytes, in the same way.
#[inline]
fn short(bytes: &[u8], out: &mut Vec<u8>) {
    let (Some(head), Some(tail)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return escaped(bytes, out);
    };
    if marks(u64::from_le_bytes(*head)) | marks(u64::from_le_bytes(*tail)) != 0 {
        return escaped(bytes, out);
    }
    out.extend_from_slice(head);
    out.truncate(out.len() + bytes.len() - 16);
    out.extend_from_slice(tail);
}

/// More than sixteen bytes, of which the last sixteen may be looked at twice.
fn long(bytes: &[u8], out: &mut Vec<u8>) {
    let (blocks, _) = bytes.as_chunks::<16>();
    let mut bad = [0u8; 16];
    for block in blocks.iter().chain(bytes.last_chunk::<16>()) {
        // Without a branch, so that it is one comparison of vectors.
        for (bad, byte) in bad.iter_mut().zip(block) {
            *bad |= u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\');
        }
    }
    match bad.iter().fold(0, |any, bad| any | bad) {
        0 => out.extend_from_slice(bytes),
        _ => escaped(bytes, out),
    }
}

/// A text that needs an escape somewhere.
#[cold]
fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut left = bytes;
    out.reserve(left.len());
    loop {
        let (clean, rest) = left.split_at(clean_len(left));
        out.extend_from_slice(clean);
        let Some((byte, rest)) = rest.split_first() else {
            break;
        };
        escape(*byte, out);
        left = rest;
    }
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

/// Marks the bytes that need an escape, and sometimes one above such a byte: the lowest mark is right.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // Marks each byte below `n`, at most 128.
    let below = |word: u64, n: u8| word.wrapping_sub(ONES * u64::from(n)) & !word & HIGHS;
    let is = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | is(word, b'"') | is(word, b'\\')
}

/// How many bytes from the start need no escape, looked at eight at a time.
pub(super) fn clean_len(bytes: &[u8]) -> usize {
    let mut left = bytes;
    while let Some((eight, rest)) = left.split_first_chunk::<8>() {
        let marks = marks(u64::from_le_bytes(*eight));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn one_by_one(text: &str) -> Vec<u8> {
        let mut out = b"\"".to_vec();
        for byte in text.bytes() {
            match ESCAPES[usize::from(byte)] {
                0 => out.push(byte),
                _ => escape(byte, &mut out),
            }
        }
        out.push(b'"');
        out
    }

    /// For all places in texts of all short lengths, and every byte there.
    #[test]
    fn spelling_is_that_of_the_bytes_one_by_one() {
        for len in 0..50usize {
            for at in 0..len {
                for byte in 0..0x80u8 {
                    let mut text = "é".repeat(25).into_bytes();
                    text.truncate(len / 2 * 2);
                    text.resize(len, b'z');
                    text[at / 2 * 2] = byte;
                    if let Some(next) = text.get_mut(at / 2 * 2 + 1) {
                        *next = b'x';
                    }
                    let text = String::from_utf8(text).unwrap_or_default();
                    let mut whole = Vec::new();
                    encode_text(&text, &mut whole);
                    assert_eq!(whole, one_by_one(&text), "{text:?}");
                }
            }
        }
    }
}
