//! Seeded workloads for benches and whole-program tests, and the comparison of what they measure.

pub mod compare;
pub mod workload;
