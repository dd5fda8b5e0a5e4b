//! The journal as its users see it: what is appended is there, whole, once, whatever happens.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod append;
mod crash;
mod damage;
mod feed;
mod losses;
mod model;
mod open;
mod property;
mod queue;
mod reader;
mod retention;
mod salvage;
mod versions;
