//! A `-wal`, frame by frame: which commits it holds, and whether some that were made are gone from it.
//!
//! SQLite ends at the first frame that does not fit, as if nothing had come after. That is right for a
//! commit that a power cut interrupted, and loses commits silently where bytes were damaged later. What
//! tells the two apart: a later commit behind the misfit (each begins after the one before is on the
//! disk), or the `-shm` of this boot, which names the last frame that was committed.
//!
//! The format is <https://www.sqlite.org/fileformat2.html#walformat>, that of `-shm` is
//! <https://www.sqlite.org/walformat.html>.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// The magic number; its last bit says that checksums are over big-endian words.
const MAGIC: u32 = 0x377f_0682;
/// Both copies of the header of the `-shm`, and how far frames have been moved into the file.
const SHM_BYTES: usize = 100;

/// The running checksum.
type Sum = (u32, u32);

/// A page as one commit, or a part of one, left it.
pub(crate) struct Frame {
    pub(crate) page: u32,
    /// Pages of the file after the commit that this frame ends; 0 inside one.
    commit: u32,
    /// Where the page's bytes begin.
    pub(crate) at: u64,
    /// Whether its checksum follows from the frame before it.
    pub(crate) sound: bool,
}

/// The frames of one generation of a `-wal`.
pub(crate) struct Wal {
    pub(crate) file: File,
    /// Through the last commit.
    pub(crate) frames: Vec<Frame>,
    /// Frames that SQLite would use.
    whole: usize,
    salt: [u8; 8],
    has_header: bool,
    pub(crate) page_bytes: usize,
}

impl Wal {
    /// Reads it; `None` when there is none or it is empty.
    pub(crate) fn read(path: &Path, page_bytes: usize) -> io::Result<Option<Wal>> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        let mut header = [0; HEADER_BYTES];
        let is_long = read_whole(&mut file, &mut header)?;
        let magic = word(&header, 0);
        let big = magic == MAGIC | 1;
        let sum = checksum(&header[..24], (0, 0), big);
        let has_header = is_long && magic & !1 == MAGIC && sum == stored(&header, 24);
        let page_bytes = match word(&header, 8) as usize {
            bytes if has_header && (512..=65536).contains(&bytes) => bytes,
            _ => page_bytes,
        };
        let mut wal = Wal {
            file,
            frames: Vec::new(),
            whole: 0,
            salt: [0; 8],
            has_header,
            page_bytes,
        };
        wal.salt.copy_from_slice(&header[16..24]);
        wal.read_frames(stored(&header, 24), big)?;
        Ok(Some(wal))
    }

    fn read_frames(&mut self, mut sum: Sum, big: bool) -> io::Result<()> {
        let mut frame = vec![0; FRAME_HEADER_BYTES + self.page_bytes];
        let mut at = HEADER_BYTES as u64;
        let mut last_commit = 0;
        let mut ends_at_misfit = !self.has_header;
        while read_whole(&mut self.file, &mut frame)? {
            if self.frames.is_empty() && !self.has_header {
                self.salt.copy_from_slice(&frame[8..16]);
            }
            let (page, commit) = (word(&frame, 0), word(&frame, 4));
            let after = checksum(&frame[..8], sum, big);
            let after = checksum(&frame[FRAME_HEADER_BYTES..], after, big);
            let is_of_this = frame[8..16] == self.salt;
            let sound = is_of_this && page > 0 && after == stored(&frame, 16);
            ends_at_misfit |= !sound;
            sum = stored(&frame, 16);
            self.frames.push(Frame {
                page,
                commit: if is_of_this { commit } else { 0 },
                at: at + FRAME_HEADER_BYTES as u64,
                sound,
            });
            at += frame.len() as u64;
            if is_of_this && commit > 0 {
                last_commit = self.frames.len();
                self.whole = if ends_at_misfit {
                    self.whole
                } else {
                    last_commit
                };
            }
        }
        self.frames.truncate(last_commit);
        Ok(())
    }

    /// Commits that end after the frames that SQLite would use.
    fn commits_behind(&self) -> usize {
        let behind = self.frames.iter().skip(self.whole);
        behind.filter(|frame| frame.commit > 0).count()
    }
}

/// What the `-shm` says of the `-wal`.
struct Index {
    frames: u32,
    moved: u32,
    salt: [u8; 8],
}

/// Why commits that were made are not in the `-wal` any more, `None` when nothing says so.
/// `shm_counts` tells whether the `-shm` is of this boot: an older one can be behind.
pub(crate) fn lost(
    wal_path: &Path,
    shm_path: &Path,
    page_bytes: usize,
    shm_counts: bool,
) -> io::Result<Option<&'static str>> {
    let index = match shm_counts {
        true => read_index(shm_path)?,
        false => None,
    };
    let Some(wal) = Wal::read(wal_path, page_bytes)? else {
        let is_cut = index.is_some_and(|index| index.frames > index.moved);
        return Ok(is_cut.then_some("its `-wal` is gone, and commits with it"));
    };
    if !wal.has_header {
        return Ok(Some("the header of its `-wal` does not fit"));
    }
    let named = index.filter(|index| index.salt == wal.salt);
    let committed = named.map_or(0, |index| index.frames) as usize;
    Ok(match wal.commits_behind() {
        _ if committed > wal.whole => Some("its `-wal` holds less than was committed"),
        0 | 1 => None,
        _ => Some("a frame of its `-wal` before later commits does not fit"),
    })
}

fn read_index(path: &Path) -> io::Result<Option<Index>> {
    let mut bytes = [0; SHM_BYTES];
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !read_whole(&mut file, &mut bytes)? || bytes[..48] != bytes[48..96] {
        return Ok(None);
    }
    let native = |at: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[at..at + 4]);
        u32::from_ne_bytes(word)
    };
    let sum = checksum(&bytes[..40], (0, 0), cfg!(target_endian = "big"));
    if sum != (native(40), native(44)) {
        return Ok(None);
    }
    let mut salt = [0; 8];
    salt.copy_from_slice(&bytes[32..40]);
    Ok(Some(Index {
        frames: native(16),
        moved: native(96),
        salt,
    }))
}

/// SQLite's checksum over 8-byte steps.
fn checksum(bytes: &[u8], (mut s0, mut s1): Sum, big: bool) -> Sum {
    for pair in bytes.chunks_exact(8) {
        let word = |at: usize| {
            let mut word = [0; 4];
            word.copy_from_slice(&pair[at..at + 4]);
            match big {
                true => u32::from_be_bytes(word),
                false => u32::from_le_bytes(word),
            }
        };
        s0 = s0.wrapping_add(word(0)).wrapping_add(s1);
        s1 = s1.wrapping_add(word(4)).wrapping_add(s0);
    }
    (s0, s1)
}

fn stored(bytes: &[u8], at: usize) -> Sum {
    (word(bytes, at), word(bytes, at + 4))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Fills `buffer`; false when the file ends before.
fn read_whole(file: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

/// Reads the page of a frame.
pub(crate) fn read_page(file: &mut File, at: u64, page: &mut [u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(at))?;
    read_whole(file, page)
}
