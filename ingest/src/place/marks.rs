//! Marks made while reading: one behind the first line, then at each doubling until these lie a MiB
//! apart, then at each further MiB, each at the next line start; and one at the place. A content that is
//! read again is known by them. Small distances first: a short file is told from the start of a long one.

use boundlane_record::Mark;

use super::{Known, PendingLine};
use crate::digest::{DigestKey, RunningDigest};

/// Decompressed bytes after which the next line start gets a mark, once as many were read: before that
/// as many as were read.
pub const MARK_BYTES: u64 = 1 << 20;

/// Places where earlier runs ended that stay marks of a content, so that a copy taken then is still
/// known; 48 bytes each.
pub const ENDS_KEPT_MAX: usize = 4096;

/// A point in an input and the running digest of all bytes before it.
#[derive(Debug, Clone)]
pub struct Point {
    /// Decompressed bytes before it.
    pub offset: u64,
    digest: RunningDigest,
}

impl Point {
    /// The start of an input.
    pub fn start(key: &DigestKey) -> Point {
        Point {
            offset: 0,
            digest: key.running(),
        }
    }

    /// Moves past `bytes`.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.offset += bytes.len() as u64;
    }

    /// The mark of this point.
    pub fn mark(&self) -> Mark {
        Mark {
            offset: self.offset,
            digest: self.digest.so_far(),
        }
    }
}

/// What one commit stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkUpdate {
    /// Marks to add to those of the content, for good; ascending, each later than those before.
    pub fixed: Vec<Mark>,
    /// The place. It belongs in [`Place::mark`](super::Place::mark) alone, and so takes the place of the
    /// one before when the checkpoint is written.
    pub place: Mark,
}

/// Makes the marks of one content while it is read.
#[derive(Debug)]
pub struct MarkMaker {
    key: DigestKey,
    every_bytes: u64,
    /// The start of the last line that began.
    place: Point,
    /// The end of what was fed.
    end: Point,
    /// The digest of the bytes between the two.
    line: RunningDigest,
    last_fixed: u64,
    fixed: Vec<Mark>,
}

impl MarkMaker {
    /// For an input that is read from its start as a new content.
    pub fn new(key: &DigestKey) -> MarkMaker {
        MarkMaker::at(key, Point::start(key))
    }

    /// For a new generation that begins at `point`. `agreed` are the marks up to there that it shares
    /// with the content that it left: they become its own.
    pub fn after(key: &DigestKey, point: Point, agreed: Vec<Mark>) -> MarkMaker {
        let mut maker = MarkMaker::at(key, point);
        maker.last_fixed = agreed.last().map_or(0, |mark| mark.offset);
        maker.fixed = agreed;
        maker
    }

    /// For a content that goes on at `point`, its place. Where the run before ended stays a mark.
    pub fn resume(key: &DigestKey, point: Point, known: &Known) -> MarkMaker {
        let mut maker = MarkMaker::at(key, point);
        maker.last_fixed = known.marks.last().map_or(0, |mark| mark.offset);
        let spaced = usize::try_from(maker.place.offset / MARK_BYTES).unwrap_or(usize::MAX);
        let room = known.marks.len() < spaced.saturating_add(ENDS_KEPT_MAX);
        if room && maker.place.offset > maker.last_fixed {
            maker.fix();
        }
        maker
    }

    fn at(key: &DigestKey, point: Point) -> MarkMaker {
        MarkMaker {
            key: key.clone(),
            every_bytes: MARK_BYTES,
            end: point.clone(),
            place: point,
            line: key.running(),
            last_fixed: 0,
            fixed: Vec::new(),
        }
    }

    /// With another distance between marks, for tests with small inputs.
    #[must_use]
    pub fn every_bytes(self, every_bytes: u64) -> MarkMaker {
        MarkMaker {
            every_bytes,
            ..self
        }
    }

    /// Takes the next bytes of the input, cut anywhere. Feed whole lines before each commit: the place
    /// is the start of the last line that began.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(length) = self.next_line_start(bytes) {
            self.end.pass(&bytes[..length]);
            self.place = self.end.clone();
            self.line = self.key.running();
            if self.place.offset >= self.due() {
                self.fix();
            }
            bytes = &bytes[length..];
        }
        if !bytes.is_empty() {
            self.end.pass(bytes);
            self.line.update(bytes);
        }
    }

    /// How far to the line start that matters next: the first one where a mark is due, else the last.
    fn next_line_start(&self, bytes: &[u8]) -> Option<usize> {
        // A line that starts where a mark is due ends one byte before.
        let before = self.due().saturating_sub(self.end.offset).saturating_sub(1);
        let before = usize::try_from(before)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let first_due = memchr::memchr(b'\n', &bytes[before..]).map(|at| before + at + 1);
        first_due.or_else(|| memchr::memrchr(b'\n', &bytes[..before]).map(|at| at + 1))
    }

    /// From where on the next line start gets a mark.
    fn due(&self) -> u64 {
        match self.last_fixed < self.every_bytes {
            true => (self.last_fixed * 2).clamp(1, self.every_bytes),
            false => self.last_fixed.saturating_add(self.every_bytes),
        }
    }

    fn fix(&mut self) {
        self.last_fixed = self.place.offset;
        self.fixed.push(self.place.mark());
    }

    /// What the next commit stores, when it covers all lines that were fed whole.
    pub fn take(&mut self) -> MarkUpdate {
        MarkUpdate {
            fixed: std::mem::take(&mut self.fixed),
            place: self.place.mark(),
        }
    }

    /// The line that was fed without its newline, if any: pending when the input ends here.
    pub fn tail(&self) -> Option<PendingLine> {
        let bytes = self.end.offset - self.place.offset;
        (bytes > 0).then(|| PendingLine {
            digest: self.line.so_far(),
            bytes,
        })
    }

    /// The start of the next line to be read, in decompressed bytes.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }
}
