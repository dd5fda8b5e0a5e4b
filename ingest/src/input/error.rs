//! What can be wrong with an input, in the words of whoever has to put it right.

use std::io;

use super::Compression;

/// Why an input cannot be opened, or cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A directory was named.
    #[error("`{name}` is a directory; name the log files in it")]
    Directory {
        /// The input.
        name: String,
    },
    /// Nothing has this name.
    #[error("`{name}` does not exist; check the path, or use `-` for standard input")]
    Missing {
        /// The input.
        name: String,
    },
    /// The user may not read it.
    #[error(
        "`{name}` may not be read by this user; change its permissions, or pipe it in and use `-`"
    )]
    Forbidden {
        /// The input.
        name: String,
    },
    /// The operating system failed to open or read it.
    #[error(
        "`{name}` cannot be read past {at_bytes} decompressed bytes: {cause}; run again when it can"
    )]
    Unreadable {
        /// The input.
        name: String,
        /// Decompressed bytes that were delivered before.
        at_bytes: u64,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The compressed data stop before their end.
    #[error(
        "`{name}` is cut short: its {} data break off after {at_bytes} decompressed bytes, which were read \
         ({confirmed_bytes} of them confirmed by a checksum); get the whole file and run again, it goes on from there",
        compression.word()
    )]
    CutShort {
        /// The input.
        name: String,
        /// How it is packed.
        compression: Compression,
        /// Decompressed bytes that were delivered before.
        at_bytes: u64,
        /// Of these, the ones that a checksum covers.
        confirmed_bytes: u64,
    },
    /// The compressed data contradict themselves.
    #[error(
        "`{name}` is damaged: its {} data are wrong after {at_bytes} decompressed bytes ({cause}), which were read \
         ({confirmed_bytes} of them confirmed by a checksum); get an undamaged copy and run again",
        compression.word()
    )]
    Corrupt {
        /// The input.
        name: String,
        /// How it is packed.
        compression: Compression,
        /// Decompressed bytes that were delivered before.
        at_bytes: u64,
        /// Of these, the ones that a checksum covers.
        confirmed_bytes: u64,
        /// What the decoder says.
        cause: io::Error,
    },
    /// Something that is not compressed data follows them.
    #[error(
        "`{name}` holds other bytes after its {} data, which were read to their end ({at_bytes} decompressed bytes); \
         look at what follows, it was not read",
        compression.word()
    )]
    Trailing {
        /// The input.
        name: String,
        /// How it is packed.
        compression: Compression,
        /// Decompressed bytes that were delivered before.
        at_bytes: u64,
    },
}

impl InputError {
    /// An error of opening, by what the operating system says.
    pub(super) fn opening(name: &str, cause: io::Error) -> InputError {
        let name = name.to_owned();
        match cause.kind() {
            io::ErrorKind::NotFound => InputError::Missing { name },
            io::ErrorKind::PermissionDenied => InputError::Forbidden { name },
            io::ErrorKind::IsADirectory => InputError::Directory { name },
            _ => InputError::Unreadable {
                name,
                at_bytes: 0,
                cause,
            },
        }
    }

    /// A fault of reading, with where it happened.
    pub(super) fn of(fault: Fault, name: &str, compression: Compression, read: Read) -> Self {
        let name = name.to_owned();
        let Read {
            at_bytes,
            confirmed_bytes,
        } = read;
        match fault {
            Fault::Source(cause) => InputError::Unreadable {
                name,
                at_bytes,
                cause,
            },
            Fault::CutShort => InputError::CutShort {
                name,
                compression,
                at_bytes,
                confirmed_bytes,
            },
            Fault::Corrupt(cause) => InputError::Corrupt {
                name,
                compression,
                at_bytes,
                confirmed_bytes,
                cause,
            },
            Fault::Trailing => InputError::Trailing {
                name,
                compression,
                at_bytes,
            },
        }
    }
}

/// How far an input was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Read {
    /// Decompressed bytes that were delivered.
    pub(super) at_bytes: u64,
    /// Those that a checksum covers.
    pub(super) confirmed_bytes: u64,
}

/// What a decoder met.
#[derive(Debug)]
pub(super) enum Fault {
    Source(io::Error),
    CutShort,
    Corrupt(io::Error),
    Trailing,
}

impl Fault {
    /// A gzip member's error. Decoders wrap neither the source's errors nor their own, so the kind tells.
    pub(super) fn of_member(cause: io::Error) -> Fault {
        match cause.kind() {
            io::ErrorKind::UnexpectedEof => Fault::CutShort,
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Fault::Corrupt(cause),
            _ => Fault::Source(cause),
        }
    }

    /// A zstd frame's error: the library's own come without an error number of the operating system.
    pub(super) fn of_frame(cause: io::Error) -> Fault {
        match cause.kind() {
            io::ErrorKind::UnexpectedEof => Fault::CutShort,
            io::ErrorKind::Other if cause.raw_os_error().is_none() => match cause.to_string() {
                text if text.contains("Unknown frame descriptor") => Fault::Trailing,
                _ => Fault::Corrupt(cause),
            },
            _ => Fault::Source(cause),
        }
    }

    pub(super) fn is_interruption(&self) -> bool {
        matches!(self, Fault::Source(cause) if cause.kind() == io::ErrorKind::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves by the kind alone (root may read everything) that a refusal names the path and a way out.
    #[test]
    fn permission_error_names_the_path_and_a_way_out() {
        let refusal = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = InputError::opening("/var/log/agent.log", refusal);
        assert_eq!(
            error.to_string(),
            "`/var/log/agent.log` may not be read by this user; change its permissions, or pipe it in and use `-`"
        );
    }
}
