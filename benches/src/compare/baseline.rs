//! The committed baseline: `benches/baseline.toml`.

use std::collections::BTreeMap;

/// Values that were measured once, by the names of their measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// By how much a value may be over: 0.25 is a quarter.
    pub tolerance: f64,
    values: BTreeMap<String, f64>,
}

/// Why a baseline cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBaseline(pub String);

impl Baseline {
    /// Reads the file's text: `tolerance`, and a table `values`.
    ///
    /// # Errors
    /// [`BadBaseline`].
    pub fn read(text: &str) -> Result<Baseline, BadBaseline> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| BadBaseline(error.to_string()))?;
        let missing = |what: &str| BadBaseline(format!("it has no `{what}`"));
        let values = table.get("values").and_then(toml::Value::as_table);
        let values = values.ok_or_else(|| missing("values"))?.iter();
        let values = values.filter_map(|(name, value)| Some((name.clone(), value.as_float()?)));
        Ok(Baseline {
            tolerance: table
                .get("tolerance")
                .and_then(toml::Value::as_float)
                .ok_or_else(|| missing("tolerance"))?,
            values: values.collect(),
        })
    }

    /// The value of a measure.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_committed_baseline_names_every_measure_and_no_other() {
        let text = include_str!("../../baseline.toml");
        let baseline = Baseline::read(text).unwrap();
        let mut known: Vec<&str> = crate::compare::measures().map(|it| it.name).collect();
        known.sort_unstable();
        let named: Vec<&str> = baseline.values.keys().map(String::as_str).collect();
        assert_eq!(named, known);
    }

    #[test]
    fn a_baseline_without_a_tolerance_is_refused() {
        assert!(Baseline::read("[values]").is_err());
        assert!(Baseline::read("tolerance = 0.5").is_err());
    }
}
