//! The environment variables, as an argument: tests bring their own.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where variables are looked up.
pub(crate) trait Environment {
    /// The variable as it is, also when empty.
    fn var(&self, name: &str) -> Option<OsString>;

    /// The variable as text; `None` when it is not UTF-8.
    fn text(&self, name: &str) -> Option<String> {
        self.var(name)?.into_string().ok()
    }

    /// The variable as a path; an empty one counts as unset.
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.var(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    }
}

/// The process's own.
pub(crate) struct Process;

impl Environment for Process {
    fn var(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

/// Variables of a test.
#[cfg(test)]
pub(crate) struct Fixed(Vec<(String, String)>);

#[cfg(test)]
impl Fixed {
    /// These and no others.
    pub(crate) fn new(variables: &[(&str, &str)]) -> Fixed {
        Fixed(
            variables
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
    }
}

#[cfg(test)]
impl Environment for Fixed {
    fn var(&self, name: &str) -> Option<OsString> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.into())
    }
}
