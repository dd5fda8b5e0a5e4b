//! From bytes to canonical entries.
//!
//! [`Framer`] cuts a stream of bytes into physical lines. A [`Decoder`], one for each stream, tells a
//! line's form by its content, reads it into borrowed [`Fields`], cuts secrets out of each field and of
//! the line itself, and appends one canonical entry to a batch, or says why the line is none. What a
//! later line depends on is its [`DecodeState`], a part of the checkpoint. `place` keeps how far an
//! input was read.
//!
//! Class, activity, severity and action come before any text that a sandbox can choose: they are right
//! whenever a line is a record. The rest is right, or the row's `flags` say that it is not.
//!
//! Limits: a line is kept up to [`LINE_BYTES_MAX`], an entry up to 512 KiB, named values up to 64 a
//! line, a policy's hash and version up to 256 bytes each.
//!
//! ```
//! use std::sync::Arc;
//! use boundlane_ingest::{DecodeOptions, DecodeState, Decoder, DigestKey, Framer};
//! use boundlane_record::{EntryBatch, Micros, StreamName, canonical, redact::Redactor};
//!
//! let key = DigestKey::new(&[7; 32]);
//! let mut framer = Framer::new(key.clone(), 0);
//! let mut decoder = Decoder::new(
//!     DecodeOptions::default(), Arc::new(Redactor::default()), key, DecodeState::default(),
//! );
//! let stream = StreamName { stream: "import/demo/1".into(), source: "import".into(), ..StreamName::default() };
//! let mut entries = EntryBatch::new();
//! let mut chunk: &[u8] = b"NET:OPEN [MED] DENIED /usr/bin/curl(64) -> httpbin.org:443 [policy:- engine:opa]\n";
//! while let Some(line) = framer.next(&mut chunk) {
//!     decoder.line(&line, &stream, Micros(1_775_014_133_000_000), &mut entries);
//! }
//! let (bytes, _) = entries.iter().next().ok_or("no entry")?;
//! let row = canonical::decode(bytes)?;
//! assert_eq!(row.outcome.as_deref(), Some("denied"));
//! assert_eq!((row.host.as_deref(), row.port), (Some("httpbin.org"), Some(443)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attributes;
mod clock;
mod decoder;
mod digest;
mod escape;
mod fields;
mod fields_of;
mod framer;
mod held;
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
pub mod watch;

pub use clock::DateYmd;
pub use decoder::{
    BadState, DecodeOptions, DecodeState, Decoded, Decoder, Format, Ignored, Message, StatedSandbox,
};
pub use digest::{DigestKey, RunningDigest};
pub use escape::{Spelling, meaning, spell_bytes};
pub use fields::{Attribute, Attributes, Body, Class, Fields, Spelled};
pub use fields_of::fields;
pub use framer::{FramedLine, Framer, LINE_BYTES_MAX, LineEnd};
pub use held::Held;
pub use sniff::{SNIFF_BYTES_MAX, Sniff, carries_time, line_time, sniff};
