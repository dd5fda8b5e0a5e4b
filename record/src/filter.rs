//! What a reader asked for: the filters that `log` and `query` share.
//!
//! Repeating a flag widens it (one of the hosts), another flag narrows the answer (that host *and* that
//! rule). [`Scope`] says whose testimony about which time; the rest choose records in it. A loss or a
//! session entry is hidden by the scope alone: a gap that a filter hid would read as silence.
//!
//! [`Filter::matches`] and [`Filter::to_sql`] choose the same rows.

mod glob;
mod scope;
mod sql;

pub use glob::{Case, Glob};
pub use scope::{Scope, Window};
pub use sql::{quoted_text, quoted_time};

use crate::column::Row;
use crate::vocabulary::{Kind, Outcome};

/// Which rows a reader wants; the default wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Whose testimony, about which time.
    pub scope: Scope,
    /// Only what was denied: `outcome = 'denied'`.
    pub deny: bool,
    /// One of these hosts; [`Case::Insensitive`].
    pub hosts: Vec<Glob>,
    /// One of these executables, by full path or by base name; [`Case::Sensitive`].
    pub processes: Vec<Glob>,
    /// One of these rules; [`Case::Sensitive`].
    pub rules: Vec<Glob>,
}

impl Filter {
    /// Whether `row` is to be shown.
    pub fn matches(&self, row: &Row<'_>) -> bool {
        match row.kind.as_deref().and_then(Kind::from_word) {
            Some(kind) if kind.is_loss() => self.scope.touched_by(row),
            Some(Kind::Session) => self.scope.holds(row),
            _ => self.scope.holds(row) && self.matches_record(row),
        }
    }

    /// Whether only the scope narrows the answer.
    pub fn is_scope_only(&self) -> bool {
        !self.deny && self.hosts.is_empty() && self.processes.is_empty() && self.rules.is_empty()
    }

    fn matches_record(&self, row: &Row<'_>) -> bool {
        (!self.deny || row.outcome.as_deref() == Some(Outcome::Denied.word()))
            && any(&self.hosts, row.host.as_deref(), Glob::matches)
            && any(&self.processes, row.process.as_deref(), matches_process)
            && any(&self.rules, row.rule.as_deref(), Glob::matches)
    }
}

/// An empty list asks for nothing; an absent value fits no pattern.
fn any(globs: &[Glob], value: Option<&str>, fits: fn(&Glob, &str) -> bool) -> bool {
    globs.is_empty() || value.is_some_and(|value| globs.iter().any(|glob| fits(glob, value)))
}

fn matches_process(glob: &Glob, process: &str) -> bool {
    let base = process.rsplit('/').next().unwrap_or(process);
    glob.matches(process) || (!glob.has_slash() && glob.matches(base))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Micros;

    fn record<'a>(host: &'a str, process: &'a str, outcome: &'a str) -> Row<'a> {
        Row {
            kind: Some("decision".into()),
            outcome: Some(outcome.into()),
            host: Some(host.into()),
            process: Some(process.into()),
            observed: Some(Micros(10)),
            ..Row::default()
        }
    }

    #[test]
    fn the_same_flag_widens_and_another_narrows() {
        let host = |pattern| Glob::new(pattern, Case::Insensitive);
        let filter = Filter {
            deny: true,
            hosts: vec![host("pypi.org"), host("*.NPMJS.org")],
            ..Filter::default()
        };
        assert!(filter.matches(&record("pypi.org", "/bin/a", "denied")));
        assert!(filter.matches(&record("registry.npmjs.org", "/bin/a", "denied")));
        assert!(!filter.matches(&record("registry.npmjs.org", "/bin/a", "allowed")));
        assert!(!filter.matches(&record("example.com", "/bin/a", "denied")));
        assert!(!filter.matches(&Row {
            host: None,
            ..record("", "/bin/a", "denied")
        }));
    }

    #[test]
    fn a_process_is_known_by_its_base_name_and_not_by_a_folder() {
        let filter = |pattern| Filter {
            processes: vec![Glob::new(pattern, Case::Sensitive)],
            ..Filter::default()
        };
        let row = record("h", "/opt/python/bin/curl", "allowed");
        assert!(filter("curl").matches(&row));
        assert!(filter("/opt/*/curl").matches(&row));
        assert!(filter("cu*").matches(&row));
        assert!(!filter("python*").matches(&row));
        assert!(!filter("bin/curl").matches(&row));
    }

    #[test]
    fn losses_and_sessions_are_hidden_by_no_filter_on_records() {
        let filter = Filter {
            deny: true,
            hosts: vec![Glob::new("nothing", Case::Insensitive)],
            rules: vec![Glob::new("none", Case::Sensitive)],
            ..Filter::default()
        };
        for kind in ["gap", "drops", "rejected", "session"] {
            let row = Row {
                kind: Some(kind.into()),
                observed: Some(Micros(1)),
                ..Row::default()
            };
            assert!(filter.matches(&row), "{kind}");
        }
    }
}
