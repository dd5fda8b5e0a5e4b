//! What a reading has to say against itself.

use boundlane_ingest::input::InputError;

/// Lines that may be stored already, and are stored once more.
pub(super) struct MayRepeat {
    /// The stream that may hold them.
    pub(super) stream: String,
    /// Where they begin in the input, in decompressed bytes.
    pub(super) from_byte: u64,
}

impl MayRepeat {
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({"stream": self.stream, "from_byte": self.from_byte})
    }
}

/// Compressed data that ended before their end.
pub(super) struct Broken {
    /// How, as `detached` says it.
    pub(super) word: &'static str,
    /// Decompressed bytes that a checksum confirmed.
    pub(super) confirmed_bytes: u64,
}

impl Broken {
    /// `None` for an error that says nothing about what was read.
    pub(super) fn of(error: &InputError) -> Option<Broken> {
        let (word, confirmed_bytes) = match error {
            InputError::CutShort {
                confirmed_bytes, ..
            } => ("cut_short", confirmed_bytes),
            InputError::Corrupt {
                confirmed_bytes, ..
            } => ("damaged", confirmed_bytes),
            _ => return None,
        };
        Some(Broken {
            word,
            confirmed_bytes: *confirmed_bytes,
        })
    }
}
