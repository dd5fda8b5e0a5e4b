//! From bytes to canonical entries.

mod digest;

pub use digest::{DigestKey, RunningDigest};
