//! Bytes that were read and not used yet. NULs in front of them are counted and not kept: a sparse file's
//! hole of any length costs no memory.

use crate::framer::nuls_in_front;

/// NULs, then bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    nuls: u64,
    bytes: Vec<u8>,
    taken: usize,
}

impl Held {
    /// Takes in more bytes. Nothing was read from it yet.
    pub fn extend(&mut self, mut more: &[u8]) {
        if self.bytes.is_empty() {
            let nuls = nuls_in_front(more);
            self.nuls += nuls as u64;
            more = &more[nuls..];
        }
        self.bytes.extend_from_slice(more);
    }

    /// How many NULs come first.
    pub fn nuls(&self) -> u64 {
        self.nuls
    }

    /// What comes behind the NULs.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Whether there is nothing, no NUL either.
    pub fn is_empty(&self) -> bool {
        self.nuls == 0 && self.bytes().is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nuls = 0;
        self.bytes.clear();
        self.taken = 0;
    }

    /// Fills `buffer` from its start; 0 when nothing is left, whose memory is given back then.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let room = buffer.len() as u64;
        if self.nuls > 0 {
            let length = usize::try_from(self.nuls.min(room)).unwrap_or(buffer.len());
            buffer[..length].fill(0);
            self.nuls -= length as u64;
            return length;
        }
        let length = self.bytes().len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.bytes[self.taken..][..length]);
        self.taken += length;
        if length == 0 {
            *self = Held::default();
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What went in comes out, in reads of any length, and NULs in front take no memory.
    #[test]
    fn nuls_in_front_are_kept_in_memory_or_not_given_back() {
        let mut held = Held::default();
        for _ in 0..1000 {
            held.extend(&[0; 4096]);
        }
        held.extend(b"\0a\0b");
        assert_eq!((held.nuls(), held.bytes()), (4_096_001, &b"a\0b"[..]));
        assert!(held.bytes.capacity() < 4096);
        let (mut buffer, mut all) = ([1; 1000], Vec::new());
        loop {
            match held.read(&mut buffer) {
                0 => break,
                length => all.extend_from_slice(&buffer[..length]),
            }
        }
        assert_eq!(all.len(), 4_096_004);
        assert!(all.ends_with(b"\0\0a\0b") && all[..4_096_001].iter().all(|byte| *byte == 0));
        assert!(held.is_empty());
    }
}
