//! Questions asked of real Parquet files and of a journal that a test holds in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod canned;
mod covered;
mod filtered;
mod limited;
mod listed;
mod read_only;
mod world;
