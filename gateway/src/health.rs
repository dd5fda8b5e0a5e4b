//! What a gateway says of itself, and which of its generations it is.

use crate::wire::{HealthResponse, ServiceStatus};

/// Which requests a gateway reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// Up to 0.0.116: sandboxes by id, no cursor.
    Old,
    /// From 0.1.0: sandboxes by name, a cursor to resume after.
    New,
}

/// What a gateway says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `unspecified`, `healthy`, `degraded` or `unhealthy`; `unknown` for a word newer than this program.
    pub status: &'static str,
    /// Its version as it spells it.
    pub version: String,
    /// Which requests it reads.
    pub generation: Generation,
}

impl Health {
    /// `None` when the version is none: it is not guessed what such a gateway reads.
    pub(crate) fn of(answer: HealthResponse) -> Option<Health> {
        Some(Health {
            status: status_word(answer.status),
            generation: generation(&answer.version)?,
            version: answer.version,
        })
    }
}

/// `0.0.x` is old; everything after it is new.
fn generation(version: &str) -> Option<Generation> {
    let mut parts = version
        .trim()
        .trim_start_matches('v')
        .split(|c: char| !c.is_ascii_digit());
    let mut number = || parts.next()?.parse::<u32>().ok();
    match (number()?, number()?) {
        (0, 0) => Some(Generation::Old),
        _ => Some(Generation::New),
    }
}

fn status_word(status: i32) -> &'static str {
    match ServiceStatus::try_from(status) {
        Ok(ServiceStatus::Unspecified) => "unspecified",
        Ok(ServiceStatus::Healthy) => "healthy",
        Ok(ServiceStatus::Degraded) => "degraded",
        Ok(ServiceStatus::Unhealthy) => "unhealthy",
        Err(_) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The break is between 0.0 and 0.1; what is no version is not guessed.
    #[test]
    fn generations_by_version() {
        use Generation::{New, Old};
        for (version, expected) in [
            ("0.0.116", Some(Old)),
            ("v0.0.37", Some(Old)),
            ("0.0.0-dev.5+g12ab", Some(Old)),
            ("0.1.0", Some(New)),
            ("0.1.5-rc.1", Some(New)),
            ("0.10", Some(New)),
            ("1.0.0", Some(New)),
            ("", None),
            ("7", None),
            ("main", None),
        ] {
            assert_eq!(generation(version), expected, "{version}");
        }
    }
}
