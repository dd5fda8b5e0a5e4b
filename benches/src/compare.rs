//! What was measured, beside a committed baseline and the bars of the design.
//!
//! Machines are noisy and differ, so a time is compared only as a ratio against a yardstick that ran beside
//! it: a scan for newlines, or an SQLite loop with a row an entry. Memory and file sizes are compared as they
//! are. Nothing here reads a file: callers bring the texts.

mod baseline;
mod criterion;
mod measures;
mod whole;

use std::fmt;

pub use baseline::{BadBaseline, Baseline};
pub use criterion::{Bench, bench};
pub use measures::{Measure, measures};
pub use whole::{Run, Runs};

/// A value beside the one in the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What was measured.
    pub name: &'static str,
    /// Its ratio to the yardstick, or its size; smaller is better.
    pub value: f64,
    /// The same in the baseline, if it is known there.
    pub before: Option<f64>,
    /// What it is in people's units.
    pub printed: String,
    /// The bar that it misses.
    pub missed: Option<String>,
}

impl Compared {
    /// Whether it is over the baseline by more than `tolerance`: 0.25 is a quarter.
    pub fn is_over(&self, tolerance: f64) -> bool {
        self.before
            .is_some_and(|before| self.value > before * (1.0 + tolerance))
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared {
            name,
            value,
            printed,
            ..
        } = self;
        write!(f, "{name:<32} {printed:>20} {value:>12.4}")?;
        match self.before {
            Some(before) => write!(
                f,
                " {before:>12.4} {:>+6.0} %",
                (value / before - 1.0) * 100.0
            ),
            None => write!(f, " {:>12}", "-"),
        }
    }
}
