//! What Criterion leaves below `target/criterion/<group>/<bench>/new`.

use serde_json::Value;

/// One bench: how long one of its elements takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bench {
    /// Nanoseconds an element, median of the samples.
    pub nanos: f64,
}

impl Bench {
    /// Elements a second.
    pub fn per_second(self) -> f64 {
        1e9 / self.nanos
    }
}

/// Reads `estimates.json` (a time an iteration) and `benchmark.json` (how many elements that is).
pub fn bench(estimates: &str, benchmark: &str) -> Option<Bench> {
    let estimates: Value = serde_json::from_str(estimates).ok()?;
    let benchmark: Value = serde_json::from_str(benchmark).ok()?;
    let nanos = estimates.pointer("/median/point_estimate")?.as_f64()?;
    let elements = benchmark.pointer("/throughput/Elements")?.as_f64()?;
    Some(Bench {
        nanos: nanos / elements,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_divided_by_the_elements_of_an_iteration() {
        let estimates = r#"{"mean":{"point_estimate":9e9},"median":{"point_estimate":1e9}}"#;
        let read = bench(estimates, r#"{"throughput":{"Elements":500000}}"#);
        assert_eq!(read, Some(Bench { nanos: 2000.0 }));
        assert_eq!(read.map(Bench::per_second), Some(500_000.0));
        assert_eq!(bench(estimates, r#"{"throughput":null}"#), None);
    }
}
