//! One line on standard error for each change of state; what was said already is not said again.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::context::stderr_line;
use crate::text::escape;

/// What is told about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum About {
    /// The gateway as a whole.
    Gateway,
    /// Which sandboxes are followed.
    Roster,
    /// One sandbox.
    Sandbox(String),
    /// The journal.
    Journal,
    /// What waits in the journal for a consumer.
    Queue,
    /// The wall clock.
    Clock,
    /// The disk.
    Disk,
    /// The configuration.
    Configuration,
    /// The archive.
    Archive,
}

/// Says changes of state.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    quiet: bool,
    said: Mutex<HashMap<About, String>>,
}

impl Teller {
    /// `quiet` says nothing but what went wrong.
    pub(crate) fn new(quiet: bool) -> Teller {
        Teller {
            quiet,
            said: Mutex::default(),
        }
    }

    /// Says how things stand, unless they stood so already.
    pub(crate) fn say(&self, about: About, text: &str) {
        if self.is_new(about, text) && !self.quiet {
            print(text);
        }
    }

    /// Says that something is wrong, unless it was said; also with `-q`.
    pub(crate) fn warn(&self, about: About, text: &str) {
        if self.is_new(about, text) {
            print(text);
        }
    }

    /// Forgets what was said about something that is no more.
    pub(crate) fn forget(&self, about: &About) {
        if let Ok(mut said) = self.said.lock() {
            said.remove(about);
        }
    }

    fn is_new(&self, about: About, text: &str) -> bool {
        let Ok(mut said) = self.said.lock() else {
            return true;
        };
        said.insert(about, text.to_owned()).as_deref() != Some(text)
    }
}

fn print(text: &str) {
    stderr_line(&escape::visible_lines(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_new_once_and_again_after_another() {
        let teller = Teller::new(true);
        assert!(teller.is_new(About::Gateway, "a"));
        assert!(!teller.is_new(About::Gateway, "a"));
        assert!(teller.is_new(About::Roster, "a"), "another subject");
        assert!(teller.is_new(About::Gateway, "b"));
        assert!(teller.is_new(About::Gateway, "a"));
        teller.forget(&About::Gateway);
        assert!(teller.is_new(About::Gateway, "a"));
    }
}
