//! Cuts a stream of bytes into physical lines, in bounded memory whatever the bytes are.
//!
//! A line ends at LF, or at CR LF; a CR alone is text. A line that lies inside one chunk is borrowed
//! from it, one that straddles chunks is put together in a buffer of at most
//! [`LINE_BYTES_MAX`] bytes. Of a longer line the head is kept, everything is hashed with the key, and
//! reading goes on behind its newline.
//!
//! NULs in front of a line are counted and passed over, however many: a file that is truncated while
//! its writer goes on holds a run of them, and the line behind it is a line like any other.

mod cut;

use memchr::memchr;

use crate::digest::{DigestKey, RunningDigest};

/// The longest line that is kept whole, in bytes, its newline not counted.
pub const LINE_BYTES_MAX: usize = 256 * 1024;

/// What a line ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// LF.
    Lf,
    /// CR LF.
    CrLf,
    /// The end of the input: the line may be cut.
    None,
}

impl LineEnd {
    /// How many bytes the end takes.
    pub const fn byte_len(self) -> u64 {
        match self {
            LineEnd::Lf => 1,
            LineEnd::CrLf => 2,
            LineEnd::None => 0,
        }
    }
}

/// One physical line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FramedLine<'a> {
    /// The line without its end and without the NULs in front of it; only its head when it was cut.
    pub bytes: &'a [u8],
    /// How many NULs stood in front of it.
    pub nuls: u64,
    /// Where the line starts, its NULs included, in (decompressed) bytes from the start of the input.
    pub offset: u64,
    /// How long it was, in bytes, its NULs included, without its end.
    pub whole_bytes: u64,
    /// The keyed digest of the whole line, its NULs included, when only its head is here.
    pub cut: Option<[u8; 32]>,
    /// What it ended with.
    pub end: LineEnd,
}

impl<'a> FramedLine<'a> {
    /// A text that arrived as one, with newlines in it or not; of a longer one the head is kept.
    pub(crate) fn of_message(text: &'a [u8], key: &DigestKey) -> FramedLine<'a> {
        let (bytes, cut) = match text.get(..LINE_BYTES_MAX) {
            Some(head) if text.len() > LINE_BYTES_MAX => {
                (&head[..cut::head_len(head)], Some(key.digest(text)))
            }
            _ => (text, None),
        };
        FramedLine {
            bytes,
            nuls: 0,
            offset: 0,
            whole_bytes: text.len() as u64,
            cut,
            end: LineEnd::Lf,
        }
    }

    /// Where the next line starts.
    pub fn next_offset(&self) -> u64 {
        self.offset + self.whole_bytes + self.end.byte_len()
    }

    /// The keyed digest of the line as it came, without its end.
    pub fn digest(&self, key: &DigestKey) -> [u8; 32] {
        self.cut.unwrap_or_else(|| {
            let mut running = key.running();
            running.update_nuls(self.nuls);
            running.update(self.bytes);
            running.so_far()
        })
    }
}

/// Cuts chunks into lines. Feed a chunk by calling [`Framer::next`] until it answers `None`, and at
/// the end of the input call [`Framer::finish`].
///
/// ```
/// use boundlane_ingest::{DigestKey, Framer};
///
/// let mut framer = Framer::new(DigestKey::new(&[7; 32]), 0);
/// let mut chunk: &[u8] = b"one\ntw";
/// assert_eq!(framer.next(&mut chunk).map(|line| line.bytes), Some(&b"one"[..]));
/// assert_eq!(framer.next(&mut chunk), None);
/// let mut chunk: &[u8] = b"o\r\n";
/// assert_eq!(framer.next(&mut chunk).map(|line| line.bytes), Some(&b"two"[..]));
/// assert_eq!(framer.finish(), None);
/// ```
#[derive(Debug)]
pub struct Framer {
    key: DigestKey,
    offset: u64,
    /// NULs in front of the line that is being put together.
    nuls: u64,
    carry: Vec<u8>,
    /// The carried bytes were handed out; the next call forgets them.
    spent: bool,
    long: Option<LongLine>,
}

/// A line that is over the limit: its head stays in `carry`, the rest goes through here.
#[derive(Debug)]
struct LongLine {
    digest: RunningDigest,
    bytes: u64,
    /// The last byte was a CR, which belongs to the line only if no LF follows.
    held_cr: bool,
}

impl LongLine {
    fn new(key: &DigestKey, nuls: u64) -> LongLine {
        let mut digest = key.running();
        digest.update_nuls(nuls);
        LongLine {
            digest,
            bytes: nuls,
            held_cr: false,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let Some((last, before)) = bytes.split_last() else {
            return;
        };
        if std::mem::take(&mut self.held_cr) {
            self.count(b"\r");
        }
        self.held_cr = *last == b'\r';
        self.count(if self.held_cr { before } else { bytes });
    }

    fn count(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.bytes += len(bytes);
    }
}

impl Framer {
    /// Starts at a line's start, `offset` bytes into the input.
    pub fn new(key: DigestKey, offset: u64) -> Framer {
        Framer {
            key,
            offset,
            nuls: 0,
            carry: Vec::new(),
            spent: false,
            long: None,
        }
    }

    /// Where the next line starts, or the one that is not complete yet.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next complete line. Takes what it uses off the front of `chunk`; `None` means that all of
    /// it was taken and more input is needed.
    pub fn next<'s, 'c: 's>(&'s mut self, chunk: &mut &'c [u8]) -> Option<FramedLine<'s>> {
        self.forget_spent();
        if chunk.first() == Some(&0) && self.carry.is_empty() {
            self.pass_nuls(chunk);
        }
        let Some(at) = memchr(b'\n', chunk) else {
            self.hold(chunk);
            *chunk = &[];
            return None;
        };
        let line = &chunk[..at];
        *chunk = &chunk[at + 1..];
        if self.carry.is_empty() {
            let (text, end) = without_cr(line);
            if text.len() <= LINE_BYTES_MAX {
                return Some(self.whole(text, end));
            }
        }
        self.hold(line);
        Some(self.carried(LineEnd::Lf))
    }

    /// The last line, when the input does not end with a newline.
    pub fn finish(&mut self) -> Option<FramedLine<'_>> {
        self.forget_spent();
        let is_empty = self.carry.is_empty() && self.nuls == 0;
        (!is_empty).then(|| self.carried(LineEnd::None))
    }

    /// Takes the NULs off the front of `chunk`.
    #[cold]
    fn pass_nuls(&mut self, chunk: &mut &[u8]) {
        let nuls = nuls_in_front(chunk);
        self.nuls += len(&chunk[..nuls]);
        *chunk = &chunk[nuls..];
    }

    fn forget_spent(&mut self) {
        if std::mem::take(&mut self.spent) {
            self.carry.clear();
            self.long = None;
            self.nuls = 0;
        }
    }

    /// Puts a part of a line aside: into the buffer while it may still fit, into the digest after.
    fn hold(&mut self, part: &[u8]) {
        if let Some(long) = &mut self.long {
            return long.take(part);
        }
        // One byte more than the limit may be the CR of CR LF.
        let room = (LINE_BYTES_MAX + 1).saturating_sub(self.carry.len());
        if part.len() <= room {
            return self.carry.extend_from_slice(part);
        }
        self.carry.extend_from_slice(&part[..room]);
        self.begin_long(&part[room..]);
    }

    fn whole<'s>(&mut self, bytes: &'s [u8], end: LineEnd) -> FramedLine<'s> {
        let nuls = std::mem::take(&mut self.nuls);
        let line = FramedLine {
            bytes,
            nuls,
            offset: self.offset,
            whole_bytes: nuls + len(bytes),
            cut: None,
            end,
        };
        self.offset = line.next_offset();
        line
    }

    /// The line put together in the buffer.
    fn carried(&mut self, end: LineEnd) -> FramedLine<'_> {
        self.spent = true;
        if self.long.is_none() {
            let (text, end) = match end {
                LineEnd::None => (self.carry.as_slice(), end),
                _ => without_cr(&self.carry),
            };
            let (kept, over) = (text.len(), text.len() > LINE_BYTES_MAX);
            if !over {
                self.carry.truncate(kept);
                return self.carried_line(self.nuls + len(&self.carry), None, end);
            }
            self.begin_long(&[]);
        }
        self.carried_long(end)
    }

    fn begin_long(&mut self, rest: &[u8]) {
        let mut long = LongLine::new(&self.key, self.nuls);
        long.take(&self.carry);
        long.take(rest);
        self.long = Some(long);
        self.carry
            .truncate(cut::head_len(&self.carry[..LINE_BYTES_MAX]));
    }

    fn carried_long(&mut self, end: LineEnd) -> FramedLine<'_> {
        let nuls = self.nuls;
        let long = self.long.take();
        let mut long = long.unwrap_or_else(|| LongLine::new(&self.key, nuls));
        let end = match (long.held_cr, end) {
            (true, LineEnd::Lf) => LineEnd::CrLf,
            (true, _) => {
                long.count(b"\r");
                end
            }
            (false, _) => end,
        };
        self.carried_line(long.bytes, Some(long.digest.so_far()), end)
    }

    fn carried_line(
        &mut self,
        whole_bytes: u64,
        cut: Option<[u8; 32]>,
        end: LineEnd,
    ) -> FramedLine<'_> {
        let line = FramedLine {
            bytes: &self.carry,
            nuls: self.nuls,
            offset: self.offset,
            whole_bytes,
            cut,
            end,
        };
        self.offset = line.next_offset();
        line
    }
}

/// The line without the CR of its CR LF.
fn without_cr(line: &[u8]) -> (&[u8], LineEnd) {
    match line.split_last() {
        Some((b'\r', text)) => (text, LineEnd::CrLf),
        _ => (line, LineEnd::Lf),
    }
}

/// How many NULs `bytes` begins with.
pub(crate) fn nuls_in_front(bytes: &[u8]) -> usize {
    let other = bytes.iter().position(|byte| *byte != 0);
    other.unwrap_or(bytes.len())
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
