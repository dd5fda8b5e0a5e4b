//! What a check says.

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Good to know, or not to be known from here.
    Note,
    /// Something may be hidden or lost.
    Warning,
    /// Something is.
    Error,
}

impl Level {
    /// As it is printed.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// What was looked at: stable, for scripts.
    pub(super) check: &'static str,
    /// How bad it is.
    pub(super) level: Level,
    /// What was found.
    pub(super) what: String,
    /// What to do, where something can be done.
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(check, Level::Ok, what)
    }

    pub(super) fn note(check: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(check, Level::Note, what)
    }

    pub(super) fn warning(check: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(check, Level::Warning, what)
    }

    pub(super) fn error(check: &'static str, what: impl Into<String>) -> Finding {
        Finding::new(check, Level::Error, what)
    }

    pub(super) fn new(check: &'static str, level: Level, what: impl Into<String>) -> Finding {
        Finding {
            check,
            level,
            what: what.into(),
            fix: None,
        }
    }

    /// A message of another crate, which ends with what to do behind a semicolon.
    pub(super) fn told(check: &'static str, level: Level, message: &str) -> Finding {
        match message.rsplit_once("; ") {
            Some((what, fix)) => Finding::new(check, level, what).fix(fix),
            None => Finding::new(check, level, message),
        }
    }

    /// The same with what to do.
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Finding {
        self.fix = Some(fix.into());
        self
    }
}

/// The first names of many, and how many more.
pub(super) fn some_of<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const NAMES_MAX: usize = 5;
    let more = names.len().saturating_sub(NAMES_MAX);
    let told: Vec<String> = names
        .take(NAMES_MAX)
        .map(|name| format!("`{}`", crate::text::escape::visible(name)))
        .collect();
    match more {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

/// So long, in the one or two largest units.
pub(super) fn span(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        0 => format!("{} ms", micros / 1000),
        1..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_in_the_wrong_place() {
        let finding = Finding::told("x", Level::Error, "it broke: a; b; do this");
        assert_eq!(finding.what, "it broke: a; b");
        assert_eq!(finding.fix.as_deref(), Some("do this"));
        assert_eq!(Finding::told("x", Level::Error, "it broke").fix, None);
    }

    #[test]
    fn a_hundred_names_or_a_long_time_are_told_in_full() {
        let names: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let told = some_of(names.iter().map(String::as_str));
        assert_eq!(told, "`0`, `1`, `2`, `3`, `4` and 95 more");
        assert_eq!(some_of(["a\u{1b}"].into_iter()), "`a\\x1b`");
        assert_eq!(span(1_500), "1 ms");
        assert_eq!(span(90_000_000), "90 s");
        assert_eq!(span(3_600_000_000), "60 min");
        assert_eq!(span(86_400_000_000 * 3), "3 days");
    }
}
