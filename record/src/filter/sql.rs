//! The same choice as SQL text, over columns named as in [`crate::Column`].
//!
//! Every value that a person or a sandbox chose becomes a quoted literal here and nowhere else.
//! Windows are spelled without `coalesce`, so that an engine can skip files and row groups by the
//! statistics of `time` and `observed`.

use super::Filter;
use super::glob::{Case, Glob};
use super::scope::{AFTER_TIME, BEFORE_TIME, Scope, Window};
use crate::coverage::rfc3339;
use crate::number::Micros;

/// `text` as an SQL literal: quotes doubled, nothing else is special.
pub fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `moment` as an SQL literal: RFC 3339, UTC, in the years 1 to 9999 that SQL can spell.
pub fn quoted_time(moment: Micros) -> String {
    format!("'{}'", rfc3339(moment))
}

impl Filter {
    /// The condition on all rows: losses and sessions by scope, records by everything.
    pub fn to_sql(&self) -> String {
        let losses = self.scope.loss_sql();
        let sessions = self.scope.moment_sql();
        if self.is_scope_only() && losses == sessions {
            return sessions;
        }
        format!(
            "CASE WHEN kind IN {LOSS_KINDS} THEN {losses} WHEN kind = 'session' THEN {sessions} ELSE {} END",
            self.record_sql()
        )
    }

    /// The condition on rows that are neither losses nor sessions.
    pub fn record_sql(&self) -> String {
        let mut all = Vec::new();
        if self.deny {
            all.push("outcome = 'denied'".to_owned());
        }
        push_any(
            &mut all,
            self.hosts.iter().map(|glob| compare("host", glob)),
        );
        push_any(&mut all, self.processes.iter().map(process_sql));
        push_any(
            &mut all,
            self.rules.iter().map(|glob| compare("rule", glob)),
        );
        all.push(self.scope.moment_sql());
        conjunction(&all)
    }
}

const LOSS_KINDS: &str = "('gap', 'drops', 'rejected')";

impl Scope {
    /// The condition on rows that happened at one moment.
    pub fn moment_sql(&self) -> String {
        let mut all = self.names_sql(false);
        all.extend(self.window.moment_sql());
        conjunction(&all)
    }

    /// The condition on losses: those that may stand for lines of this scope.
    pub fn loss_sql(&self) -> String {
        let mut all = self.names_sql(true);
        all.extend(self.window.span_sql());
        conjunction(&all)
    }

    fn names_sql(&self, unnamed: bool) -> Vec<String> {
        let mut all = Vec::new();
        let or_null = |column: &str| match unnamed {
            true => format!(" OR {column} IS NULL"),
            false => String::new(),
        };
        if !self.sandboxes.is_empty() {
            let names = list(&self.sandboxes);
            let or_null = or_null("sandbox");
            all.push(format!(
                "(sandbox IN {names} OR sandbox_id IN {names}{or_null})"
            ));
        }
        if !self.sources.is_empty() {
            let or_null = or_null("source");
            all.push(format!("(source IN {}{or_null})", list(&self.sources)));
        }
        all
    }
}

impl Window {
    fn moment_sql(self) -> Option<String> {
        let bounds = |column: &str| {
            let since = self
                .since
                .map(|at| format!("{column} >= {}", quoted_time(at)));
            let until = self
                .until
                .map(|at| format!("{column} < {}", quoted_time(at)));
            since
                .into_iter()
                .chain(until)
                .collect::<Vec<_>>()
                .join(" AND ")
        };
        let (time, observed) = (bounds("time"), bounds("observed"));
        (!self.is_unbounded()).then(|| format!("(({time}) OR (time IS NULL AND {observed}))"))
    }

    fn span_sql(self) -> Option<String> {
        let observed = self.meets_sql("\"from\"", "\"to\"", quoted_time);
        let (after, before) = (evidence_sql(AFTER_TIME), evidence_sql(BEFORE_TIME));
        let happened = self.meets_sql(&after, &before, |at| at.0.to_string());
        (!self.is_unbounded()).then(|| format!("(({observed}) OR ({happened}))"))
    }

    fn meets_sql(self, from: &str, to: &str, literal: fn(Micros) -> String) -> String {
        let begins = self
            .until
            .map(|at| format!("({from} < {}) IS NOT FALSE", literal(at)));
        let ends = self
            .since
            .map(|at| format!("({to} >= {}) IS NOT FALSE", literal(at)));
        begins
            .into_iter()
            .chain(ends)
            .collect::<Vec<_>>()
            .join(" AND ")
    }
}

fn evidence_sql(key: &str) -> String {
    format!("TRY_CAST(regexp_match(evidence, '\"{key}\":(-?[0-9]+)')[1] AS BIGINT)")
}

fn compare(column: &str, glob: &Glob) -> String {
    let column = match glob.case() {
        Case::Sensitive => column.to_owned(),
        Case::Insensitive => format!("lower({column})"),
    };
    if glob.is_exact() {
        return format!("{column} = {}", quoted_text(glob.pattern()));
    }
    let mut like = String::new();
    for c in glob.pattern().chars() {
        match c {
            '*' => like.push('%'),
            '?' => like.push('_'),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            c => like.push(c),
        }
    }
    format!("{column} LIKE {} ESCAPE '\\'", quoted_text(&like))
}

fn process_sql(glob: &Glob) -> String {
    let whole = compare("process", glob);
    if glob.has_slash() {
        return whole;
    }
    format!(
        "{whole} OR {}",
        compare("split_part(process, '/', -1)", glob)
    )
}

fn list(values: &[String]) -> String {
    let quoted: Vec<_> = values.iter().map(|value| quoted_text(value)).collect();
    format!("({})", quoted.join(", "))
}

fn push_any(all: &mut Vec<String>, choices: impl Iterator<Item = String>) {
    let choices: Vec<_> = choices.collect();
    if !choices.is_empty() {
        all.push(format!("({})", choices.join(" OR ")));
    }
}

fn conjunction(all: &[String]) -> String {
    match all.is_empty() {
        true => "TRUE".to_owned(),
        false => all.join(" AND "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_in_a_filter_stays_inside_its_literal() {
        let filter = Filter {
            hosts: vec![Glob::new("x' OR '1'='1", Case::Insensitive)],
            scope: Scope {
                sandboxes: vec!["a'; DROP TABLE entries; --".into()],
                ..Scope::default()
            },
            ..Filter::default()
        };
        assert_eq!(
            filter.record_sql(),
            "(lower(host) = 'x'' or ''1''=''1') AND (sandbox IN ('a''; DROP TABLE entries; --') \
             OR sandbox_id IN ('a''; DROP TABLE entries; --'))"
        );
    }

    #[test]
    fn what_like_would_read_as_a_wildcard_is_escaped() {
        let rule = Glob::new(r"a_b%c\*?", Case::Sensitive);
        assert_eq!(
            compare("rule", &rule),
            r"rule LIKE 'a\_b\%c\\%_' ESCAPE '\'"
        );
    }

    #[test]
    fn a_filter_that_asks_for_nothing_chooses_everything() {
        assert_eq!(Filter::default().to_sql(), "TRUE");
        assert_eq!(Filter::default().record_sql(), "TRUE");
    }

    #[test]
    fn a_window_is_spelled_so_that_statistics_of_both_times_can_prune() {
        let window = Window {
            since: Some(Micros(0)),
            until: None,
        };
        assert_eq!(
            window.moment_sql().unwrap_or_default(),
            "((time >= '1970-01-01T00:00:00.000000Z') OR \
             (time IS NULL AND observed >= '1970-01-01T00:00:00.000000Z'))"
        );
    }
}
