//! Blocks: found wherever they lie, true where their checksum fits.

use std::io;
use std::ops::RangeInclusive;

use boundlane_record::{Micros, Seq};
use rusqlite::types::Value;

use super::image::{Cell, Image};
use super::record::varint;
use crate::block::{BLOCK_ENTRIES_MAX, Columns, ENTRY_BYTES_MAX};

/// Columns of a block's row.
pub(super) const COLUMNS: usize = 12;

/// Bytes of the list of its types, with the byte that counts them.
const HEADER_BYTES: RangeInclusive<u8> = 13..=48;

/// Every block whose row begins in `page`, also where the page's own list of rows is damaged.
pub(super) fn in_page(image: &mut Image, page: &[u8]) -> io::Result<Vec<Cell>> {
    let mut found = Vec::new();
    for at in 0..page.len().saturating_sub(COLUMNS) {
        if !may_begin(page, at) {
            continue;
        }
        let cell = image.table_cell(page, at)?;
        found.extend(cell.filter(is_true));
    }
    Ok(found)
}

/// Whether a row of a block can begin here: lengths in their bounds, and a key that is stored outside.
fn may_begin(page: &[u8], at: usize) -> bool {
    let Some((bytes, at)) = varint(page, at) else {
        return false;
    };
    if !(40..2 * ENTRY_BYTES_MAX as u64).contains(&bytes) {
        return false;
    }
    let Some((first, at)) = varint(page, at) else {
        return false;
    };
    first > 0
        && page.get(at).is_some_and(|byte| HEADER_BYTES.contains(byte))
        && page.get(at + 1) == Some(&0)
}

/// Whether the row's checksum is that of its other columns.
fn is_true(cell: &Cell) -> bool {
    let [
        Value::Null,
        Value::Integer(last),
        Value::Integer(packed),
        Value::Integer(plain_bytes),
        Value::Integer(observed_from),
        Value::Integer(observed_to),
        time_from,
        time_to,
        Value::Text(counts),
        Value::Text(streams),
        Value::Blob(checksum),
        Value::Blob(body),
    ] = &cell.record[..]
    else {
        return false;
    };
    let time = match (time_from, time_to) {
        (Value::Null, Value::Null) => None,
        (Value::Integer(from), Value::Integer(to)) => Some((Micros(*from), Micros(*to))),
        _ => return false,
    };
    let (Ok(first), Ok(last), Ok(plain_bytes)) = (
        u64::try_from(cell.rowid),
        u64::try_from(*last),
        usize::try_from(*plain_bytes),
    ) else {
        return false;
    };
    if first == 0 || last < first || last - first >= BLOCK_ENTRIES_MAX as u64 {
        return false;
    }
    let columns = Columns {
        first: Seq(first),
        last: Seq(last),
        packed: *packed != 0,
        plain_bytes,
        observed: (Micros(*observed_from), Micros(*observed_to)),
        time,
        counts,
        streams,
        body,
    };
    columns.checksum()[..] == checksum[..]
}
