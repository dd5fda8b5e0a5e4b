//! The place as JSON text, versioned. Older texts are read for ever: a field that they lack has its
//! default, so that no content looks new because the program is.

use boundlane_record::Mark;
use serde::{Deserialize, Serialize};

use super::{AheadLines, Chain, ContentId, Hints, PendingLine, Place};
use crate::input::Compression;

/// The version that is written.
const VERSION: u32 = 1;

/// Why a stored place cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// A newer program wrote it.
    #[error(
        "the stored place has version {version}, this program reads up to {VERSION}; use the newer program"
    )]
    Newer {
        /// The version found.
        version: u32,
    },
    /// It is not the text of a place.
    #[error("the stored place is damaged at byte {at}; run `boundlane fsck`")]
    Damaged {
        /// Where reading stopped.
        at: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct Text {
    v: u32,
    bytes: u64,
    digest: String,
    #[serde(default, skip_serializing_if = "is_default")]
    ahead: AheadText,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<PendingText>,
    #[serde(default, skip_serializing_if = "is_default")]
    chain: ChainText,
    #[serde(default, skip_serializing_if = "is_default")]
    input: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    lines: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    older_lines: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inode: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    compression: Compression,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    displaced: Option<u64>,
}

#[derive(Serialize, Deserialize, PartialEq, Default)]
#[serde(default)]
struct AheadText {
    older: u64,
    repeats: u64,
    expected: u64,
}

#[derive(Serialize, Deserialize)]
struct PendingText {
    bytes: u64,
    digest: String,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Default)]
#[serde(rename_all = "lowercase")]
enum ChainText {
    #[default]
    File,
    Stdin,
}

/// The version alone, which a newer text still has.
#[derive(Deserialize)]
struct Versioned {
    v: u32,
}

impl Place {
    /// The text for the checkpoint: one JSON object, digests in hex.
    pub fn to_json(&self) -> String {
        let text = Text {
            v: VERSION,
            bytes: self.mark.offset,
            digest: hex(&self.mark.digest),
            ahead: AheadText {
                older: self.ahead.older,
                repeats: self.ahead.repeats,
                expected: self.ahead.expected,
            },
            pending: self.pending.map(|line| PendingText {
                bytes: line.bytes,
                digest: hex(&line.digest),
            }),
            chain: match self.chain {
                Chain::File => ChainText::File,
                Chain::Stdin => ChainText::Stdin,
            },
            input: self.input,
            lines: self.lines,
            older_lines: self.older_lines,
            path: self.hints.path.clone(),
            device: self.hints.device,
            inode: self.hints.inode,
            compression: self.hints.compression,
            displaced: self.displaced.map(|content| content.0),
        };
        // A struct of numbers and strings always has a text.
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// Reads what any released version wrote.
    pub fn from_json(json: &str) -> Result<Place, PlaceError> {
        let damaged = |error: serde_json::Error| PlaceError::Damaged { at: error.column() };
        let Versioned { v } = serde_json::from_str(json).map_err(damaged)?;
        if v > VERSION {
            return Err(PlaceError::Newer { version: v });
        }
        let text: Text = serde_json::from_str(json).map_err(damaged)?;
        place_of(text).ok_or(PlaceError::Damaged { at: 0 })
    }
}

fn place_of(text: Text) -> Option<Place> {
    let pending = match text.pending {
        Some(line) => Some(PendingLine {
            bytes: line.bytes,
            digest: unhex(&line.digest)?,
        }),
        None => None,
    };
    Some(Place {
        mark: Mark {
            offset: text.bytes,
            digest: unhex(&text.digest)?,
        },
        ahead: AheadLines {
            older: text.ahead.older,
            repeats: text.ahead.repeats,
            expected: text.ahead.expected,
        },
        pending,
        chain: match text.chain {
            ChainText::File => Chain::File,
            ChainText::Stdin => Chain::Stdin,
        },
        input: text.input,
        lines: text.lines,
        older_lines: text.older_lines,
        hints: Hints {
            path: text.path,
            device: text.device,
            inode: text.inode,
            compression: text.compression,
        },
        displaced: text.displaced.map(ContentId),
    })
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0u8; 32];
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = [nibble(pair[0])?, nibble(pair[1])?];
        *byte = high << 4 | low;
    }
    Some(digest)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
