//! Keys as they lie in canonical bytes, found without looking for their ends.

use crate::column::Column;

/// The spelling of a column's key, `"name":`.
struct Key {
    column: Column,
    spelled: &'static [u8],
    /// Its first eight bytes, the first in the lowest; zeros where it is shorter.
    head: u64,
    /// The bits of `head` that count.
    mask: u64,
}

static KEYS: [Key; Column::ALL.len()] = keys();

const fn keys() -> [Key; Column::ALL.len()] {
    let mut keys = [const { Key::of(Column::ALL[0]) }; Column::ALL.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = Key::of(Column::ALL[at]);
        at += 1;
    }
    keys
}

impl Key {
    const fn of(column: Column) -> Key {
        let spelled = column.key().as_bytes();
        let (mut head, mut mask) = ([0; 8], [0; 8]);
        let mut at = 0;
        while at < spelled.len() && at < head.len() {
            head[at] = spelled[at];
            mask[at] = 0xff;
            at += 1;
        }
        Key {
            column,
            spelled,
            head: u64::from_le_bytes(head),
            mask: u64::from_le_bytes(mask),
        }
    }
}

/// The column whose key `bytes` begin with, `lowest` or a later one, and the key's length. Fewer than eight
/// bytes are not looked at.
///
/// A row's next key is most likely a near column: they are compared from the lowest one on.
#[inline]
pub(super) fn find(bytes: &[u8], lowest: usize) -> Option<(Column, usize)> {
    let head = u64::from_le_bytes(*bytes.first_chunk()?);
    let is_here = |key: &&Key| {
        head & key.mask == key.head
            && (key.spelled.len() <= size_of_val(&head) || bytes.starts_with(key.spelled))
    };
    let key = KEYS.get(lowest..)?.iter().find(is_here)?;
    Some((key.column, key.spelled.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all columns and all lowest ones.
    #[test]
    fn a_key_is_found_from_its_own_column_down_and_never_above_it() {
        for (at, column) in Column::ALL.iter().enumerate() {
            let key = column.key();
            let bytes = format!("{key}12345678");
            for lowest in 0..=Column::ALL.len() {
                let found = (lowest <= at).then_some((*column, key.len()));
                assert_eq!(find(bytes.as_bytes(), lowest), found, "{key} from {lowest}");
            }
        }
    }

    #[test]
    fn a_name_that_begins_or_ends_like_a_column_is_no_key_of_it() {
        for bytes in [
            r#""sandbox_":"12345""#,
            r#""sandbo":"12345""#,
            r#""Kind":"12345""#,
            r#""kind" :"12345""#,
            r#" "kind":"12345""#,
            r#""policy_verso":"1""#,
            r#""to":1}"#,
        ] {
            assert_eq!(find(bytes.as_bytes(), 0), None, "{bytes}");
        }
    }
}
