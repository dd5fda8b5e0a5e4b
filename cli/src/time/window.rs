//! A span of time as two options state it: since is part of it, until is not.

use boundlane_record::Micros;
use boundlane_record::filter::Window;

use super::parse::{TimeError, instant};
use super::print::rfc3339;
use super::zone::Zone;

/// Why two texts are not a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowError {
    /// `--since` is not an instant.
    Since(String, TimeError),
    /// `--until` is not an instant.
    Until(String, TimeError),
    /// It would be empty or backwards.
    Backwards(Micros, Micros),
}

impl std::fmt::Display for WindowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WindowError::Since(text, error) => write!(f, "`--since {text}`: {error}"),
            WindowError::Until(text, error) => write!(f, "`--until {text}`: {error}"),
            WindowError::Backwards(since, until) => write!(
                f,
                "`--since` is not before `--until`: `{}` and `{}`",
                rfc3339(*since),
                rfc3339(*until)
            ),
        }
    }
}

impl std::error::Error for WindowError {}

/// The span that `--since` and `--until` mean at `now` for a person in `zone`.
///
/// # Errors
/// [`WindowError`] when one cannot be read or nothing lies between them.
pub fn window(
    since: Option<&str>,
    until: Option<&str>,
    now: Micros,
    zone: &dyn Zone,
) -> Result<Window, WindowError> {
    let read = |text: Option<&str>, fault: fn(String, TimeError) -> WindowError| {
        text.map(|text| instant(text, now, zone).map_err(|error| fault(text.to_owned(), error)))
            .transpose()
    };
    let since = read(since, WindowError::Since)?;
    let until = read(until, WindowError::Until)?;
    match (since, until) {
        (Some(since), Some(until)) if since >= until => Err(WindowError::Backwards(since, until)),
        _ => Ok(Window { since, until }),
    }
}

/// The ends as they were understood; `None` when neither was named.
pub fn described(window: &Window) -> Option<String> {
    let since = window
        .since
        .map(|since| format!("since {}", rfc3339(since)));
    let until = window
        .until
        .map(|until| format!("until {}", rfc3339(until)));
    match (since, until) {
        (None, None) => None,
        (Some(end), None) | (None, Some(end)) => Some(end),
        (Some(since), Some(until)) => Some(format!("{since} {until}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::time::Utc;

    const NOW: Micros = Micros(1_787_341_800_000_000);

    #[test]
    fn the_first_instant_is_left_out_or_the_last_is_not() {
        let window = window(Some("2h"), Some("1h"), NOW, &Utc).unwrap();
        let hour = 3_600_000_000;
        assert!(window.holds(Some(Micros(NOW.0 - 2 * hour))));
        assert!(!window.holds(Some(Micros(NOW.0 - 2 * hour - 1))));
        assert!(!window.holds(Some(Micros(NOW.0 - hour))));
        assert_eq!(
            described(&window).unwrap(),
            "since 2026-08-21T17:50:00.000000Z until 2026-08-21T18:50:00.000000Z"
        );
    }

    #[test]
    fn an_empty_or_backward_span_is_taken() {
        for (since, until) in [("1h", "2h"), ("1h", "60m"), ("now", "now")] {
            let error = window(Some(since), Some(until), NOW, &Utc).unwrap_err();
            assert!(
                matches!(error, WindowError::Backwards(..)),
                "{since} {until}"
            );
        }
        let error = window(None, Some("soon"), NOW, &Utc).unwrap_err();
        assert!(error.to_string().starts_with("`--until soon`: not a time"));
        assert!(window(None, None, NOW, &Utc).unwrap().is_unbounded());
    }
}
