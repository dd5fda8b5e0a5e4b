//! Whole runs of the program: the command, and all that it prints.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archived;
mod completions;
mod config;
mod doctor;
mod follow;
mod help;
mod log;
mod pipes;
mod recorded;
mod run;
mod status;
mod times;
mod usage;
