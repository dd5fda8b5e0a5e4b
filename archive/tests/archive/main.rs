//! The archive as its users meet it: written, read, damaged, interrupted.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crash;
mod damage;
mod identity;
mod lying;
mod ranges;
mod support;
mod table;
mod versions;
mod workload;
