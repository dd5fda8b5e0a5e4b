//! SQLite's record: a list of types, then the values.

use rusqlite::types::Value;

/// Columns of one record; more than any table of a journal has.
const COLUMNS_MAX: usize = 64;

/// A row's values, in the order of its table's columns.
pub(crate) type Record = Vec<Value>;

/// A variable-length integer at `at`, and where the next byte lies.
pub(crate) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for n in 0..9 {
        let byte = *bytes.get(at + n)?;
        if n == 8 {
            return Some((value << 8 | u64::from(byte), at + 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + n + 1));
        }
    }
    None
}

/// The types of the values, and where the first value lies. `None` when the bytes that are there say
/// something else than a record of `bytes`.
fn types(begin: &[u8], bytes: usize) -> Option<(Vec<u64>, usize)> {
    let (header, mut at) = varint(begin, 0)?;
    let header = usize::try_from(header).ok()?;
    if header > begin.len() || header > bytes {
        return None;
    }
    let mut types = Vec::new();
    let mut values = 0usize;
    while at < header {
        let (kind, next) = varint(begin, at)?;
        values = values.checked_add(length(kind)?)?;
        types.push(kind);
        at = next;
        if types.len() > COLUMNS_MAX {
            return None;
        }
    }
    (at == header && header + values == bytes && !types.is_empty()).then_some((types, header))
}

/// Whether a record of `bytes` can begin so.
pub(crate) fn may_be_one(begin: &[u8], bytes: usize) -> bool {
    types(begin, bytes).is_some()
}

/// The values of a whole record.
pub(crate) fn decode(payload: &[u8]) -> Option<Record> {
    let (types, mut at) = types(payload, payload.len())?;
    let mut record = Vec::with_capacity(types.len());
    for kind in types {
        let bytes = payload.get(at..at + length(kind)?)?;
        record.push(value(kind, bytes)?);
        at += bytes.len();
    }
    Some(record)
}

fn length(kind: u64) -> Option<usize> {
    Some(match kind {
        0 | 8 | 9 => 0,
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        _ => usize::try_from((kind - 12) / 2).ok()?,
    })
}

fn value(kind: u64, bytes: &[u8]) -> Option<Value> {
    Some(match kind {
        0 => Value::Null,
        1..=6 => Value::Integer(integer(bytes)),
        7 => return None,
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        _ if kind.is_multiple_of(2) => Value::Blob(bytes.to_owned()),
        _ => Value::Text(String::from_utf8(bytes.to_owned()).ok()?),
    })
}

fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let start = if negative { -1 } else { 0 };
    bytes
        .iter()
        .fold(start, |number, byte| number << 8 | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn integers_of_every_width_keep_their_sign() {
        assert_eq!(integer(&[0xff]), -1);
        assert_eq!(integer(&[0x7f, 0xff]), 0x7fff);
        assert_eq!(integer(&[0x80, 0, 0]), -0x80_0000);
        assert_eq!(integer(&i64::MIN.to_be_bytes()), i64::MIN);
    }

    #[test]
    fn a_record_is_taken_only_when_its_lengths_add_up() {
        let record = [4, 0, 1, 15, 7, b'x'];
        let values = decode(&record).unwrap();
        assert_eq!(
            values,
            [Value::Null, Value::Integer(7), Value::Text("x".into())]
        );
        assert_eq!(decode(&record[..5]), None);
        assert_eq!(varint(&[0x81, 0x00], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0xff; 3], 0), None);
    }
}
