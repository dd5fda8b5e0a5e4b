//! Where bytes come from: a path or standard input, opened as one stream of decompressed bytes.
//!
//! gzip (every member) and zstd (every frame) are told by their first bytes, whatever the name says;
//! everything else is read as it is. Decompression is streamed: an input that expands a thousandfold
//! costs time, not memory. What came before a fault is delivered first, then the fault, once.
//!
//! Limits: [`BUFFER_BYTES`] of compressed bytes, [`ZSTD_WINDOW_LOG_MAX`] for the window of a zstd frame.

mod error;
mod gzip;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use error::Fault;
pub use error::InputError;
use gzip::Gzip;
use serde::{Deserialize, Serialize};

use crate::held::Held;
use crate::place::{Chain, Hints};

/// One read while looking ahead.
const LOOK_BYTES: usize = 16 * 1024;

/// NULs that are passed over at most while looking for the first line: a sparse file's hole, but not
/// `/dev/zero`. They are counted, not kept.
pub const LOOK_NULS_MAX: u64 = 4 << 30;

/// Compressed bytes that are read at once.
pub const BUFFER_BYTES: usize = 128 << 10;

/// The widest window of a zstd frame, as a power of two in bytes: what `zstd` itself accepts unasked.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// The length of the longest magic number that is looked for.
const MAGIC_BYTES: u64 = 4;

/// How the bytes of an input are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// RFC 1952, one or more members.
    Gzip,
    /// RFC 8878, one or more frames.
    Zstd,
}

impl Compression {
    /// By the first bytes of the input; fewer than the magic number needs is no match.
    fn sniffed(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// The word in messages and in the stored place.
    pub fn word(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

type Source = Box<dyn BufRead + Send>;

enum Body {
    Plain(Source),
    Gzip(Gzip<Source>),
    Zstd(zstd::stream::read::Decoder<'static, Source>),
    /// Ended or failed: nothing more comes.
    Closed,
}

impl Body {
    fn open(compression: Compression, source: Source) -> io::Result<Body> {
        Ok(match compression {
            Compression::None => Body::Plain(source),
            Compression::Gzip => Body::Gzip(Gzip::new(source)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Body::Zstd(decoder)
            }
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        match self {
            Body::Plain(source) => source.read(buffer).map_err(Fault::Source),
            Body::Gzip(members) => members.read(buffer),
            Body::Zstd(frames) => frames.read(buffer).map_err(Fault::of_frame),
            Body::Closed => Ok(0),
        }
    }

    /// Decompressed bytes that a checksum covers. zstd's frames need not have one, so none is claimed.
    fn confirmed_bytes(&self) -> u64 {
        match self {
            Body::Gzip(members) => members.confirmed_bytes(),
            _ => 0,
        }
    }
}

/// One opened input.
pub struct Input {
    name: String,
    chain: Chain,
    hints: Hints,
    compression: Compression,
    body: Body,
    delivered_bytes: u64,
    ahead: Ahead,
}

/// Bytes that were looked at and not delivered yet, and the fault that came after them.
#[derive(Default)]
struct Ahead {
    held: Held,
    fault: Option<Fault>,
}

impl Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> Option<Result<usize, Fault>> {
        match self.held.read(buffer) {
            0 => self.fault.take().map(Err),
            length => Some(Ok(length)),
        }
    }
}

impl Input {
    /// Opens the file at `path`. A named pipe, a socket or a device is read like standard input.
    pub fn open(path: &Path) -> Result<Input, InputError> {
        let name = spelled(path);
        let refused = |cause: io::Error| InputError::opening(&name, cause);
        let file = File::open(path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        if metadata.is_dir() {
            return Err(InputError::Directory { name });
        }
        let mut input = Input::from_reader(&name, file)?;
        if metadata.is_file() {
            input.chain = Chain::File;
            input.hints.path = std::path::absolute(path).ok().map(|path| spelled(&path));
            input.hints.device = Some(metadata.dev());
            input.hints.inode = Some(metadata.ino());
        }
        Ok(input)
    }

    /// Standard input.
    pub fn stdin() -> Result<Input, InputError> {
        Input::from_reader("standard input", io::stdin())
    }

    /// Any stream of bytes that comes once; `name` is for messages.
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
    ) -> Result<Input, InputError> {
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
        let unreadable = |cause| {
            let nothing = error::Read::default();
            InputError::of(Fault::Source(cause), name, Compression::None, nothing)
        };
        let mut head = Vec::new();
        let mut first = reader.by_ref().take(MAGIC_BYTES);
        first.read_to_end(&mut head).map_err(unreadable)?;
        let compression = Compression::sniffed(&head);
        let source: Source = Box::new(Cursor::new(head).chain(reader));
        Ok(Input {
            name: name.to_owned(),
            chain: Chain::Stdin,
            hints: Hints {
                compression,
                ..Hints::default()
            },
            compression,
            body: Body::open(compression, source).map_err(unreadable)?,
            delivered_bytes: 0,
            ahead: Ahead::default(),
        })
    }

    /// Looks at the first decompressed bytes without taking them: at least `bytes_max` of them, or all, or
    /// as many as are `enough`. NULs in front of them count for nothing, up to [`LOOK_NULS_MAX`]. A fault
    /// among them is met again by [`Input::read`]. Before the first read only.
    pub fn look(&mut self, bytes_max: usize, enough: impl Fn(&[u8]) -> bool) -> &Held {
        let mut buffer = vec![0; LOOK_BYTES];
        let Ahead { held, fault } = &mut self.ahead;
        while fault.is_none() && held.bytes().len() < bytes_max && held.nuls() < LOOK_NULS_MAX {
            match self.body.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => held.extend(&buffer[..length]),
                Err(error) if error.is_interruption() => {}
                Err(error) => *fault = Some(error),
            }
            if enough(held.bytes()) {
                break;
            }
        }
        held
    }

    /// Fills `buffer` with decompressed bytes from its start; 0 at the end, and after an error.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, InputError> {
        loop {
            let next = self
                .ahead
                .read(buffer)
                .unwrap_or_else(|| self.body.read(buffer));
            match next {
                Ok(length) => {
                    self.delivered_bytes += length as u64;
                    return Ok(length);
                }
                Err(fault) if fault.is_interruption() => {}
                Err(fault) => {
                    let at = error::Read {
                        at_bytes: self.delivered_bytes,
                        confirmed_bytes: self.body.confirmed_bytes(),
                    };
                    self.body = Body::Closed;
                    return Err(InputError::of(fault, &self.name, self.compression, at));
                }
            }
        }
    }

    /// What messages call it, safe to print.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a file that can be known again by its place, or comes once.
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// Where it was found.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// How it is packed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Decompressed bytes delivered so far.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("name", &self.name)
            .field("chain", &self.chain)
            .field("compression", &self.compression)
            .field("delivered_bytes", &self.delivered_bytes)
            .finish_non_exhaustive()
    }
}

/// A path as text that a terminal cannot act on: whoever names files must not write to our screen.
pub fn spelled(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control() || is_format(c) {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    text
}

/// Characters that are not seen and change how others are.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
