//! Digests of a file's row groups, kept in its footer and checked before a row group is decoded.
//!
//! Parquet's decoder trusts lengths and counts inside of pages: one flipped bit there can ask for gigabytes.
//! So damage is found first, by hashing the bytes as they lie. A seal proves nothing about the entries; the
//! tree does.

use std::io::{Result, Write};

use sha2::{Digest, Sha256};

/// The digest of the bytes from the seal before (or the start of the file) to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    /// Offset of the first byte after the row group.
    pub(crate) end: u64,
    /// The first half of their SHA-256.
    pub(crate) digest: [u8; 16],
}

impl Seal {
    fn new(end: u64, hasher: Sha256) -> Seal {
        let whole: [u8; 32] = hasher.finalize().into();
        let mut digest = [0; 16];
        digest.copy_from_slice(&whole[..16]);
        Seal { end, digest }
    }

    /// Hashes `pieces` as the bytes up to `end`.
    pub(crate) fn over(end: u64, pieces: impl Iterator<Item: AsRef<[u8]>>) -> Seal {
        let mut hasher = Sha256::new();
        pieces.for_each(|piece| hasher.update(piece));
        Seal::new(end, hasher)
    }
}

/// Prints seals as `end:digest`, separated by spaces.
pub(crate) fn to_text(seals: &[Seal]) -> String {
    let digits = |digest: &[u8; 16]| format!("{:032x}", u128::from_be_bytes(*digest));
    let text = |seal: &Seal| format!("{}:{}", seal.end, digits(&seal.digest));
    seals.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Reads what [`to_text`] printed.
pub(crate) fn from_text(text: &str) -> Option<Vec<Seal>> {
    let seal = |word: &str| {
        let (end, digest) = word.split_once(':')?;
        let digest = u128::from_str_radix(digest, 16).ok()?.to_be_bytes();
        let end = end.parse().ok()?;
        Some(Seal { end, digest })
    };
    text.split(' ').map(seal).collect()
}

/// A writer that seals what passed through it.
pub(crate) struct Sealing<W> {
    inner: W,
    hasher: Sha256,
    written: u64,
}

impl<W: Write> Sealing<W> {
    pub(crate) fn new(inner: W) -> Sealing<W> {
        Sealing {
            inner,
            hasher: Sha256::new(),
            written: 0,
        }
    }

    /// Seals everything since the last seal.
    pub(crate) fn seal(&mut self) -> Seal {
        Seal::new(self.written, std::mem::take(&mut self.hasher))
    }

    pub(crate) fn inner_mut(&mut self) -> &mut W {
        &mut self.inner
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seals_read_back_as_they_were_printed() {
        let mut sealing = Sealing::new(Vec::new());
        let mut seals = Vec::new();
        for piece in [&b"abc"[..], b"", b"\0"] {
            assert_eq!(sealing.write(piece).ok(), Some(piece.len()));
            seals.push(sealing.seal());
        }
        assert_eq!(from_text(&to_text(&seals)), Some(seals.clone()));
        assert_eq!(Seal::over(3, [&b"a"[..], b"bc"].into_iter()), seals[0]);
        assert_ne!(seals[1].digest, seals[2].digest);
        for broken in ["", "3", "3:xyz", "x:00", "3:00  4:00"] {
            assert_eq!(from_text(broken), None, "{broken}");
        }
    }
}
