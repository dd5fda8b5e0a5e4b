//! Names of sandboxes, as arguments and as completions.

use std::path::PathBuf;

use clap_complete::{ArgValueCandidates, CompletionCandidate};

/// Offers the names that the journal knows.
pub(super) fn sandbox_names() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let directory = directory_of_words(std::env::args_os().collect());
        let names = crate::commands::sandbox_names(directory.as_deref());
        names
            .into_iter()
            .filter(|name| is_safe(name))
            .map(CompletionCandidate::new)
            .collect()
    })
}

/// `--state-dir` of the words that are being completed: the parser has not seen them yet.
fn directory_of_words(words: Vec<std::ffi::OsString>) -> Option<PathBuf> {
    let mut words = words.into_iter().skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        if word == "--state-dir" || word == "-state-dir" {
            return words.next().map(PathBuf::from);
        }
        if let Some(value) = word
            .to_str()
            .and_then(|word| word.strip_prefix("--state-dir="))
        {
            return Some(PathBuf::from(value));
        }
    }
    None
}

/// Whether a shell takes `name` as one word and does nothing with it. Names come from logs: one that
/// is not made of these characters is never offered.
fn is_safe(name: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=128).contains(&name.len()) && name.chars().all(safe) && !name.starts_with(['-', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that a shell would act on, or that would read as an option, is not offered.
    #[test]
    fn a_hostile_name_is_offered() {
        for name in [
            "$(reboot)",
            "a b",
            "a;b",
            "-rf",
            "..",
            "",
            "a\nb",
            "ä",
            "`x`",
            "a'b",
            "~",
        ] {
            assert!(!is_safe(name), "{name}");
        }
        for name in ["agent-1", "my_box.2", "A"] {
            assert!(is_safe(name), "{name}");
        }
    }

    #[test]
    fn the_directory_on_the_line_is_overlooked() {
        let words = |text: &str| text.split(' ').map(Into::into).collect();
        let found = |text| directory_of_words(words(text));
        assert_eq!(
            found("boundlane -- boundlane log --state-dir /s "),
            Some("/s".into())
        );
        assert_eq!(
            found("boundlane -- boundlane --state-dir=/s log "),
            Some("/s".into())
        );
        assert_eq!(found("boundlane -- boundlane log "), None);
    }
}
