//! Patterns of the filters: `*` stands for any run of characters, `?` for exactly one.
//!
//! Everything else stands for itself and nothing escapes anything, so a pattern without either is an
//! exact comparison. `*` crosses dots and slashes: `*.example.com` is every name below `example.com`,
//! and not `example.com` itself.

use std::borrow::Cow;
use std::str::Chars;

/// Whether `A` and `a` are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They differ: paths and rules.
    Sensitive,
    /// They are the same: host names.
    Insensitive,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pattern: String,
    case: Case,
}

impl Glob {
    /// The pattern spelled `pattern`.
    pub fn new(pattern: &str, case: Case) -> Glob {
        let pattern = match case {
            Case::Sensitive => pattern.to_owned(),
            Case::Insensitive => pattern.to_lowercase(),
        };
        Glob { pattern, case }
    }

    /// The pattern as it is compared: lower case when case makes no difference.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether `text` fits the whole pattern.
    pub fn matches(&self, text: &str) -> bool {
        let text = match self.case {
            Case::Sensitive => Cow::Borrowed(text),
            Case::Insensitive => lower(text),
        };
        if self.is_exact() {
            return self.pattern == text;
        }
        fits(&self.pattern, &text)
    }

    /// Whether the pattern stands for one text only.
    pub(super) fn is_exact(&self) -> bool {
        !self.pattern.contains(['*', '?'])
    }

    /// Whether no text between two slashes can fit, because the pattern itself has a slash.
    pub(super) fn has_slash(&self) -> bool {
        self.pattern.contains('/')
    }

    pub(super) fn case(&self) -> Case {
        self.case
    }
}

fn lower(text: &str) -> Cow<'_, str> {
    let is_lower = text
        .bytes()
        .all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    if is_lower {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Matches greedily and goes back to the last `*` only: at most pattern × text steps.
fn fits(pattern: &str, text: &str) -> bool {
    let mut wanted = pattern.chars();
    let mut left = text.chars();
    let mut retry: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let mut after = wanted.clone();
        let next = after.next();
        if next == Some('*') {
            retry = Some((after.clone(), left.clone()));
            wanted = after;
            continue;
        }
        let mut rest = left.clone();
        match (next, rest.next()) {
            (None, None) => return true,
            (Some('?'), Some(_)) => (wanted, left) = (after, rest),
            (Some(w), Some(c)) if w == c => (wanted, left) = (after, rest),
            _ => {
                let Some((after_star, from)) = &mut retry else {
                    return false;
                };
                if from.next().is_none() {
                    return false;
                }
                (wanted, left) = (after_star.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_that_took_too_much_gives_back() {
        for (pattern, text, expected) in [
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "a.example.com.evil.net", false),
            ("a*b*c", "axxbyybzzc", true),
            ("a*b*c", "axxbyybzz", false),
            ("*", "", true),
            ("?", "", false),
            ("?", "é", true),
            ("a?c", "abc", true),
            ("**", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("*a", "ba\n a", true),
        ] {
            let glob = Glob::new(pattern, Case::Sensitive);
            assert_eq!(glob.matches(text), expected, "`{pattern}` on `{text}`");
        }
    }

    #[test]
    fn case_matters_for_paths_and_not_for_hosts() {
        assert!(Glob::new("PyPI.org", Case::Insensitive).matches("pypi.ORG"));
        assert!(Glob::new("*.ÄB", Case::Insensitive).matches("x.äb"));
        assert!(!Glob::new("Curl", Case::Sensitive).matches("curl"));
    }
}
