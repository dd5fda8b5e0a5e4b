//! Lines of the gateway's own tracing: read, counted and passed over, unless they carry a decision as
//! key=value (see [`crate::key_value`]).

const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// Whether `level` is a tracing level as the CLI pads it, to five characters.
pub(crate) fn is_padded_level(level: &str) -> bool {
    level.len() == 5 && LEVELS.contains(&level.trim_end_matches(' '))
}

/// What follows `LEVEL target:`, from the target on.
pub(crate) fn after_level(text: &str) -> Option<&str> {
    let level = LEVELS.iter().find(|level| text.starts_with(**level))?;
    let rest = text[level.len()..]
        .strip_prefix(' ')?
        .trim_start_matches(' ');
    // A span's fields may stand between level and target, so only the first word has to be one.
    let end = rest.find([' ', '{'])?;
    let is_target = rest[..end].trim_end_matches(':').split("::").all(|part| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    });
    (is_target && rest.contains(": ")).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_and_target_make_a_tracing_line() {
        assert_eq!(after_level("WARN a::b: text"), Some("a::b: text"));
        assert_eq!(after_level("INFO  a: text"), Some("a: text"));
        assert_eq!(
            after_level("INFO request{id=3}: a::b: text"),
            Some("request{id=3}: a::b: text")
        );
        for text in [
            "INFO",
            "INFO text without target",
            "NOTE a: b",
            "WARN /bin/x: y",
        ] {
            assert_eq!(after_level(text), None, "{text}");
        }
    }
}
