//! The power goes at every operation on the disk: what was promised is there, the rest whole or not.
//!
//! Each scenario is a script. It runs once to count its operations, then once for each of them (for a
//! sample, unless `BOUNDLANE_POWER_SEEDS` is set) with the power going right there. What an honest disk
//! may then still hold is opened, compared with what the same script left step by step on a journal
//! without a cut, and the script goes on from there to its end.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "how many crash points were tried")]

#[path = "../journal/feed.rs"]
#[allow(dead_code, reason = "shared with the tests of the journal")]
mod feed;

mod check;
mod commits;
mod cut;
mod script;
