//! From bytes to canonical entries.

mod attributes;
mod clock;
mod decoder;
mod digest;
mod escape;
mod fields;
mod fields_of;
mod framer;
pub mod input;
mod key_value;
mod line;
mod ocsf_json;
mod outcome;
pub mod place;
mod scan;
mod shorthand;
mod sniff;
mod tracing_line;

pub use clock::DateYmd;
pub use decoder::{
    BadState, DecodeOptions, DecodeState, Decoded, Decoder, Format, Ignored, StatedSandbox,
};
pub use digest::{DigestKey, RunningDigest};
pub use escape::{Spelling, meaning, spell_bytes};
pub use fields::{Attribute, Attributes, Body, Class, Fields, Spelled};
pub use fields_of::fields;
pub use framer::{FramedLine, Framer, LINE_BYTES_MAX, LineEnd};
pub use sniff::{SNIFF_BYTES_MAX, Sniff, carries_time, line_time, sniff};
