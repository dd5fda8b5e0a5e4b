//! How a gateway behaves where versions or installations differ.

use serde::{Deserialize, Serialize};

use super::cursor;
use super::model::Generation;

/// Where a lag warning stands among what one drain found. Both were written; the release is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningPlace {
    /// Before the messages that follow the hole.
    BeforeFollowing,
    /// After everything that the same drain found: messages behind the hole come before it.
    AfterDrain,
}

/// Which replica behind the one port serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// The one that accepted the connection; connections go round.
    PerConnection,
    /// Each call goes to the next one.
    PerCall,
}

/// The settings of one gateway. Changed at run time too.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What `Health` says; decides the generation.
    pub version: String,
    /// Where lag warnings stand; 0.1.x.
    pub warning_place: WarningPlace,
    /// Whether replayed tail lines carry an empty cursor; 0.1.x.
    pub tail_with_floor: bool,
    /// Whether each new sandbox starts with the gateway's two own lines.
    pub opening_lines: bool,
    /// The version in front of cursors: another one than `v1` is a gateway that reads no older cursor.
    pub encoding: String,
    /// The longest page of a listing.
    pub page_size_max: usize,
    /// The bearer token that every call but `Health` needs.
    pub token: Option<String>,
    /// Whether that token is expired.
    pub token_expired: bool,
    /// With a text, every call but `Health` is refused with `PERMISSION_DENIED`.
    pub denied: Option<String>,
    /// So many of the next calls are over the rate limit.
    pub refused_calls: u32,
    /// How long every answer takes.
    pub answer_after_ms: u64,
    /// Gateway processes behind the port.
    pub replicas: usize,
    /// How calls are spread over them.
    pub spread: Spread,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            version: "0.1.5".into(),
            warning_place: WarningPlace::BeforeFollowing,
            tail_with_floor: false,
            opening_lines: true,
            encoding: cursor::ENCODING.into(),
            page_size_max: 100,
            token: None,
            token_expired: false,
            denied: None,
            refused_calls: 0,
            answer_after_ms: 0,
            replicas: 1,
            spread: Spread::PerConnection,
        }
    }
}

impl Settings {
    /// The last release of the old interface.
    pub fn old() -> Settings {
        Settings {
            version: "0.0.116".into(),
            ..Settings::default()
        }
    }

    /// Which interface this gateway speaks.
    pub fn generation(&self) -> Generation {
        Generation::of(&self.version)
    }
}
