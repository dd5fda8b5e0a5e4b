//! From bytes to canonical entries.

mod digest;
mod framer;
pub mod input;
pub mod place;

pub use digest::{DigestKey, RunningDigest};
pub use framer::{FramedLine, Framer, LINE_BYTES_MAX, LineEnd};
