//! What a request lets through. Applied after the last lines are cut off, so a filtered tail can be far
//! shorter than what was asked for.

use super::model::Line;

/// The filters of one request.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    /// Exact sources; empty lets all through.
    pub(super) sources: Vec<String>,
    /// The least level; empty lets all through.
    pub(super) min_level: String,
    /// Only what was written since, in milliseconds. Never applied to live lines.
    pub(super) since_ms: Option<i64>,
}

impl Filter {
    /// Whether a live line passes.
    pub(super) fn passes(&self, line: &Line) -> bool {
        let source = line.spoken_by();
        let of_source = self.sources.is_empty() || self.sources.iter().any(|one| one == source);
        of_source && self.passes_level(&line.level)
    }

    /// Whether something replayed and written at `time_ms` passes: a line without a time does not.
    pub(super) fn is_since(&self, time_ms: Option<i64>) -> bool {
        match self.since_ms {
            Some(since) => time_ms.is_some_and(|time| time >= since),
            None => true,
        }
    }

    /// An unknown level passes only an unknown filter.
    fn passes_level(&self, level: &str) -> bool {
        if self.min_level.is_empty() {
            return true;
        }
        match (rank(level), rank(&self.min_level)) {
            (Some(level), Some(least)) => level >= least,
            (level, least) => level.is_none() && least.is_none(),
        }
    }
}

/// OCSF counts as INFO: a filter of WARN hides every decision, denials included.
fn rank(level: &str) -> Option<u8> {
    match level.to_ascii_uppercase().as_str() {
        "TRACE" => Some(0),
        "DEBUG" => Some(1),
        "INFO" | "OCSF" => Some(2),
        "WARN" => Some(3),
        "ERROR" => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(min_level: &str, level: &str) -> bool {
        let filter = Filter {
            min_level: min_level.into(),
            ..Filter::default()
        };
        filter.passes(&Line::tracing(level, "x", ""))
    }

    #[test]
    fn a_filter_of_warn_hides_decisions_and_one_of_info_does_not() {
        assert!(passes("", "OCSF") && passes("info", "OCSF") && passes("DEBUG", "OCSF"));
        assert!(!passes("warn", "OCSF") && !passes("error", "OCSF"));
        assert!(!passes("info", "FATAL") && passes("FATAL", "NOTICE") && !passes("FATAL", "INFO"));
    }

    #[test]
    fn an_empty_source_is_the_gateway() {
        let filter = Filter {
            sources: vec!["gateway".into()],
            ..Filter::default()
        };
        assert!(filter.passes(&Line::ocsf("").from("")));
        assert!(!filter.passes(&Line::ocsf("")));
    }

    #[test]
    fn a_line_without_a_time_is_never_since() {
        let filter = Filter {
            since_ms: Some(5),
            ..Filter::default()
        };
        assert!(filter.is_since(Some(5)) && !filter.is_since(Some(4)) && !filter.is_since(None));
        assert!(Filter::default().is_since(None));
    }
}
