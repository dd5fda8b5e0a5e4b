//! A last line without its newline: stored, flagged, and left before the place, so that the whole line
//! is read once more when it has grown.

use crate::digest::{DigestKey, RunningDigest};

/// A line that was stored without its newline, as its keyed digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingLine {
    /// HMAC-SHA-256 of the line as it came.
    pub digest: [u8; 32],
    /// How long it was.
    pub bytes: u64,
}

/// What the line at the place is to the one that was stored from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The same bytes, with or without a newline now: count it as a repeat.
    Repeat,
    /// It begins with the stored bytes and is longer: store it once more, whole.
    Longer,
    /// Something else stands there now: store it.
    Other,
}

impl Verdict {
    /// Whether the line is to be stored.
    pub fn stores(self) -> bool {
        self != Verdict::Repeat
    }
}

impl PendingLine {
    /// Remembers `line`, which came without a newline.
    pub fn of(key: &DigestKey, line: &[u8]) -> PendingLine {
        PendingLine {
            digest: key.digest(line),
            bytes: line.len() as u64,
        }
    }

    /// Judges the line that is at the place now. `line` comes without its newline; `terminated` says
    /// whether it had one.
    pub fn judge(&self, key: &DigestKey, line: &[u8], terminated: bool) -> Verdict {
        let mut judging = self.judging(key);
        judging.feed(line);
        judging.end(terminated)
    }

    /// The same for a line that comes in pieces, because it is too long to be held.
    pub fn judging(&self, key: &DigestKey) -> Judging {
        Judging {
            stored: *self,
            digest: key.running(),
            seen_bytes: 0,
            beyond: Beyond::Nothing,
        }
    }
}

/// What follows the stored length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    Nothing,
    /// One carriage return: part of the newline when a newline follows.
    CarriageReturn,
    More,
}

/// A judgement on a line that comes in pieces.
#[derive(Debug)]
pub struct Judging {
    stored: PendingLine,
    digest: RunningDigest,
    seen_bytes: u64,
    beyond: Beyond,
}

impl Judging {
    /// Takes the next bytes of the line, its newline not included.
    pub fn feed(&mut self, bytes: &[u8]) {
        let wanted = self.stored.bytes.saturating_sub(self.seen_bytes);
        let split = usize::try_from(wanted)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        self.digest.update(&bytes[..split]);
        self.seen_bytes += split as u64;
        self.beyond = match (self.beyond, &bytes[split..]) {
            (before, []) => before,
            (Beyond::Nothing, [b'\r']) => Beyond::CarriageReturn,
            _ => Beyond::More,
        };
    }

    /// Takes this many NULs, the first bytes of the line.
    pub fn feed_nuls(&mut self, mut nuls: u64) {
        const BLOCK: [u8; 4096] = [0; 4096];
        while nuls > 0 {
            let length = nuls.min(BLOCK.len() as u64);
            self.feed(&BLOCK[..usize::try_from(length).unwrap_or(BLOCK.len())]);
            nuls -= length;
        }
    }

    /// The verdict at the end of the line.
    pub fn end(&self, terminated: bool) -> Verdict {
        if self.seen_bytes < self.stored.bytes || self.digest.so_far() != self.stored.digest {
            return Verdict::Other;
        }
        match self.beyond {
            Beyond::Nothing => Verdict::Repeat,
            Beyond::CarriageReturn if terminated => Verdict::Repeat,
            Beyond::CarriageReturn | Beyond::More => Verdict::Longer,
        }
    }
}
