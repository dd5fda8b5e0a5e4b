//! Integers in their shortest spelling, eight digits at a time.

const EIGHT: u64 = 100_000_000;

/// Appends `n` in its canonical spelling: the shortest.
pub fn encode_integer(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    let n = n.unsigned_abs();
    if n < EIGHT {
        return push_head(n, out);
    }
    let (high, low) = (n / EIGHT, n % EIGHT);
    if high < EIGHT {
        push_head(high, out);
    } else {
        push_head(high / EIGHT, out);
        out.extend_from_slice(&spelled(eight_digits(high % EIGHT)));
    }
    out.extend_from_slice(&spelled(eight_digits(low)));
}

/// Appends a number below 10^8 without zeros in front.
#[inline]
fn push_head(n: u64, out: &mut Vec<u8>) {
    let digits = eight_digits(n);
    // The last digit stays, though it may be zero.
    let zeros = (digits.trailing_zeros() as usize / 8).min(7);
    out.extend_from_slice(&spelled(digits >> (8 * zeros)));
    out.truncate(out.len() - zeros);
}

#[inline]
fn spelled(digits: u64) -> [u8; 8] {
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

/// The digits of a number below 10^8, the first in the lowest byte. All at once, in the lanes of one word: halves of four digits, then
/// pairs, then single digits, each divided by a multiplication that is exact for so small numbers.
#[inline]
fn eight_digits(n: u64) -> u64 {
    const PAIRS: u64 = 0x0000_007f_0000_007f;
    const ONES: u64 = 0x000f_000f_000f_000f;
    let fours = (n / 10_000) | ((n % 10_000) << 32);
    let high = ((fours * 10_486) >> 20) & PAIRS;
    let pairs = high | ((fours - high * 100) << 16);
    let tens = ((pairs * 103) >> 10) & ONES;
    tens | ((pairs - tens * 10) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(n: i64) -> String {
        let mut out = Vec::new();
        encode_integer(n, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// For all numbers of four digits, in either half, and around every power of ten.
    #[test]
    fn spelling_is_that_of_the_standard_library() {
        for n in 0..10_000u64 {
            for n in [n, n * 10_000, n * 10_000 + 9_999] {
                assert_eq!(
                    std::str::from_utf8(&spelled(eight_digits(n))),
                    Ok(format!("{n:08}").as_str())
                );
            }
        }
        let powers = (0..19).map(|power| 10i64.pow(power));
        let around =
            powers.flat_map(|power| [power - 1, power, power + 1, -power, 7 * (power / 3)]);
        for n in around.chain([i64::MIN, i64::MIN + 1, i64::MAX, 1_791_291_600_123_456]) {
            assert_eq!(text(n), n.to_string());
        }
    }
}
