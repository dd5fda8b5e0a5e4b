//! Keeping the place of files and pipes: scenarios, and properties against naive models.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

#[path = "place/alignment.rs"]
mod alignment;
#[path = "place/book.rs"]
mod book;
#[path = "place/histories.rs"]
mod histories;
#[path = "place/input.rs"]
mod input;
#[path = "place/pipe.rs"]
mod pipe;
#[path = "place/scenarios.rs"]
mod scenarios;
#[path = "place/stdin.rs"]
mod stdin;
