//! Finds a byte in a short text, eight bytes at a time: what is looked for is mostly near, and then the
//! call of a vectorised search costs more than it saves.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Where `byte` is first.
#[inline]
pub(crate) fn find(byte: u8, text: &str) -> Option<usize> {
    let pattern = u64::from(byte) * ONES;
    let mut left = text.as_bytes();
    let mut at = 0;
    while let Some((eight, rest)) = left.split_first_chunk::<8>() {
        // A byte of `differ` is zero where the byte was found; the lowest such is marked surely.
        let differ = u64::from_le_bytes(*eight) ^ pattern;
        let marks = differ.wrapping_sub(ONES) & !differ & HIGHS;
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        left = rest;
        at += 8;
    }
    left.iter()
        .position(|found| *found == byte)
        .map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all texts of a small alphabet, the place is that of a plain search.
    #[test]
    fn place_is_that_of_a_plain_search() {
        for seed in 0u32..4000 {
            let text: String = (0..seed % 29)
                .map(|at| ['a', '\u{80}', 'b', ' '][(seed >> (at % 13)) as usize % 4])
                .collect();
            assert_eq!(find(b' ', &text), text.find(' '), "{text:?}");
        }
    }
}
