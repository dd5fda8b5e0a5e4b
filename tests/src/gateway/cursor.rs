//! The resume token: `v1:<uuid>:<20 digits>`, sixty bytes.

/// The version in front of every cursor of 0.1.x.
pub const ENCODING: &str = "v1";

/// A position in one cursor space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The space: the UUID of one sandbox's buffers in one gateway process.
    pub epoch: String,
    /// The number in it, from 1.
    pub seq: u64,
}

/// The text of a cursor.
pub(super) fn text(encoding: &str, epoch: &str, seq: u64) -> String {
    format!("{encoding}:{epoch}:{seq:020}")
}

impl Cursor {
    /// Reads a cursor as strictly as the gateway: anything that it could not have written is refused.
    pub fn parse(encoding: &str, text: &str) -> Option<Cursor> {
        let rest = text.strip_prefix(encoding)?.strip_prefix(':')?;
        if rest.len() != 57 || !rest.is_ascii() {
            return None;
        }
        let (epoch, digits) = rest.split_at(36);
        let digits = digits.strip_prefix(':')?;
        if !is_uuid(epoch) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let seq = digits.parse().ok().filter(|seq| *seq > 0)?;
        Some(Cursor {
            epoch: epoch.to_owned(),
            seq,
        })
    }
}

fn is_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: &str = "6f9619ff-8b86-4011-b42d-00cf4fc964ff";

    #[test]
    fn a_cursor_is_sixty_bytes_and_reads_back() {
        let text = text(ENCODING, EPOCH, 7);
        assert_eq!(text.len(), 60);
        let read = Cursor::parse(ENCODING, &text).unwrap();
        assert_eq!((read.epoch.as_str(), read.seq), (EPOCH, 7));
    }

    #[test]
    fn what_the_gateway_could_not_have_written_is_refused() {
        let good = text(ENCODING, EPOCH, 7);
        let bad = [
            String::new(),
            good.to_uppercase(),
            good.replace("6f", "6F"),
            good.replace("v1", "v2"),
            good.replace("0000007", "000000x"),
            format!("{good}0"),
            good[..59].to_owned(),
            text(ENCODING, EPOCH, 0),
            format!("v1:{EPOCH}:99999999999999999999"),
            format!("v1:{{{}}}:{:018}", EPOCH, 7),
        ];
        for text in bad {
            assert_eq!(Cursor::parse(ENCODING, &text), None, "{text}");
        }
    }
}
