//! From bytes to canonical entries.

mod digest;
pub mod input;
pub mod place;

pub use digest::{DigestKey, RunningDigest};
