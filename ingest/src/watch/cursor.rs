//! Resume tokens: opaque, but for what bounds a loss.

/// Bytes of `v1:<uuid>`.
const SPACE_BYTES: usize = 39;
/// Digits of the number.
const NUMBER_BYTES: usize = 20;

/// The numbering that a cursor is of: what stands in front of its number; of a cursor in another form,
/// nothing, so that all such cursors count as one numbering.
pub(crate) fn space(cursor: &str) -> &str {
    match is_known_form(cursor) {
        true => &cursor[..SPACE_BYTES],
        false => "",
    }
}

/// The number inside, by which at most so many lines lie between two cursors. It is shared with things
/// that are no lines, so it never says how many there are.
pub(crate) fn number(cursor: &str) -> Option<u64> {
    is_known_form(cursor)
        .then(|| cursor[SPACE_BYTES + 1..].parse().ok())
        .flatten()
}

fn is_known_form(cursor: &str) -> bool {
    let bytes = cursor.as_bytes();
    bytes.len() == SPACE_BYTES + 1 + NUMBER_BYTES
        && cursor.is_ascii()
        && bytes.starts_with(b"v1:")
        && bytes[SPACE_BYTES] == b':'
        && bytes[SPACE_BYTES + 1..].iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_known_form_has_a_numbering_and_a_number() {
        let cursor = "v1:0f8fad5b-d9cb-469f-a165-70867728950e:00000000000000000042";
        assert_eq!(space(cursor), "v1:0f8fad5b-d9cb-469f-a165-70867728950e");
        assert_eq!(number(cursor), Some(42));
        for other in ["", "v2:x", &cursor[1..], &cursor.replace("42", "4x")] {
            assert_eq!((space(other), number(other)), ("", None), "{other}");
        }
        let beyond = cursor.replace("00000000000000000042", "99999999999999999999");
        assert_eq!(number(&beyond), None);
    }
}
