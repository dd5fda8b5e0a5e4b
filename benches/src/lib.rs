//! Seeded workloads for benches and whole-program tests.

pub mod workload;
