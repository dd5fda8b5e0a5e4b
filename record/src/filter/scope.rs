//! Whose testimony about which time: the part of a question that coverage is about, too.

use crate::column::Row;
use crate::number::Micros;

/// A span of `coalesce(time, observed)`: `since` belongs to it, `until` does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// The first moment, in microseconds UTC; `None` is unbounded.
    pub since: Option<Micros>,
    /// The first moment after; `None` is unbounded.
    pub until: Option<Micros>,
}

impl Window {
    /// Whether `moment` lies in it. A row without any time lies in the unbounded window only.
    pub fn holds(self, moment: Option<Micros>) -> bool {
        match moment {
            Some(moment) => {
                self.since.is_none_or(|since| moment >= since)
                    && self.until.is_none_or(|until| moment < until)
            }
            None => self.is_unbounded(),
        }
    }

    /// Whether a span with these ends, both its own, shares a moment with it; an end that is not known
    /// reaches without bound.
    pub fn meets(self, from: Option<Micros>, to: Option<Micros>) -> bool {
        let begins_in_time = from.is_none_or(|from| self.until.is_none_or(|until| from < until));
        let ends_in_time = to.is_none_or(|to| self.since.is_none_or(|since| to >= since));
        begins_in_time && ends_in_time
    }

    /// Whether every moment lies in it.
    pub fn is_unbounded(self) -> bool {
        self.since.is_none() && self.until.is_none()
    }
}

/// Sandboxes, sources and a window; the default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// One of these sandboxes, by name or by id, exactly as written; empty is all.
    pub sandboxes: Vec<String>,
    /// One of these [`crate::Source`] words; empty is all. Two sources of one sandbox are two
    /// testimonies, so a loss of another source is no loss of this one.
    pub sources: Vec<String>,
    /// The time.
    pub window: Window,
}

impl Scope {
    /// Whether a row that happened at one moment lies in it.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        self.window.holds(row.time.or(row.observed)) && self.is_about(row, false)
    }

    /// Whether lines of this scope may be among those that the loss `row` stands for.
    ///
    /// The span that was observed counts, and so does the span between the event times of the
    /// neighbours that `evidence` keeps: lines can be read long after they happened. What is not known
    /// reaches without bound, and a loss that names no sandbox may be of any.
    pub fn touched_by(&self, row: &Row<'_>) -> bool {
        let evidence = row.evidence.as_deref().unwrap_or("");
        let (after, before) = (
            evidence_time(evidence, AFTER_TIME),
            evidence_time(evidence, BEFORE_TIME),
        );
        self.is_about(row, true)
            && (self.window.is_unbounded()
                || self.window.meets(row.from, row.to)
                || self.window.meets(after, before))
    }

    /// Whether `row` names a sandbox and a source of this scope; `unnamed` is the answer for a row that
    /// does not say.
    pub fn is_about(&self, row: &Row<'_>, unnamed: bool) -> bool {
        let is = |name: Option<&str>, wanted: &[String]| {
            name.is_some_and(|name| wanted.iter().any(|wanted| wanted == name))
        };
        let sandbox = self.sandboxes.is_empty()
            || is(row.sandbox.as_deref(), &self.sandboxes)
            || is(row.sandbox_id.as_deref(), &self.sandboxes)
            || (unnamed && row.sandbox.is_none());
        let source = self.sources.is_empty()
            || is(row.source.as_deref(), &self.sources)
            || (unnamed && row.source.is_none());
        sandbox && source
    }
}

/// The key of the event time of the last line before a loss, in microseconds.
pub(crate) const AFTER_TIME: &str = "after_time";
/// The key of the event time of the first line after a loss, in microseconds.
pub(crate) const BEFORE_TIME: &str = "before_time";

/// The integer after `"key":`. Evidence is compact JSON of our own, and a quote inside one of its texts
/// is escaped, so nothing that a sandbox chose can spell a key.
fn evidence_time(evidence: &str, key: &str) -> Option<Micros> {
    let spelled = format!("\"{key}\":");
    let rest = &evidence[evidence.find(&spelled)? + spelled.len()..];
    let digits = rest
        .bytes()
        .enumerate()
        .take_while(|&(at, byte)| byte.is_ascii_digit() || (at == 0 && byte == b'-'))
        .count();
    rest[..digits].parse().ok().map(Micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(since: i64, until: i64) -> Scope {
        Scope {
            window: Window {
                since: Some(Micros(since)),
                until: Some(Micros(until)),
            },
            ..Scope::default()
        }
    }

    fn gap<'a>(from: i64, to: i64, evidence: &'a str) -> Row<'a> {
        Row {
            kind: Some("gap".into()),
            sandbox: Some("dev".into()),
            sandbox_id: Some("id-1".into()),
            source: Some("gateway".into()),
            from: Some(Micros(from)),
            to: Some(Micros(to)),
            evidence: Some(evidence.into()),
            ..Row::default()
        }
    }

    #[test]
    fn since_is_inside_and_until_is_not() {
        let window = scope(10, 20).window;
        assert!(!window.holds(Some(Micros(9))));
        assert!(window.holds(Some(Micros(10))));
        assert!(window.holds(Some(Micros(19))));
        assert!(!window.holds(Some(Micros(20))));
        assert!(!window.holds(None));
        assert!(Window::default().holds(None));
    }

    #[test]
    fn a_loss_read_tomorrow_touches_the_day_its_lines_happened() {
        let late = gap(1000, 1100, r#"{"after_time":12,"before_time":15}"#);
        assert!(scope(10, 20).touched_by(&late));
        assert!(scope(1050, 1060).touched_by(&late));
        assert!(!scope(20, 30).touched_by(&late));
        assert!(!scope(1101, 2000).touched_by(&late));
    }

    #[test]
    fn a_neighbour_that_is_not_known_reaches_without_bound() {
        let open = gap(1000, 1100, r#"{"after_time":12}"#);
        assert!(scope(500, 600).touched_by(&open));
        assert!(!scope(0, 12).touched_by(&open));
        assert!(scope(0, 1).touched_by(&gap(1000, 1100, "{}")));
    }

    #[test]
    fn text_inside_evidence_cannot_spell_a_bound() {
        let forged = gap(
            1000,
            1100,
            r#"{"note":"\"before_time\":1","after_time":12}"#,
        );
        assert!(scope(500, 600).touched_by(&forged));
    }

    #[test]
    fn a_loss_of_an_unnamed_sandbox_may_be_of_any_and_a_named_one_is_not() {
        let mut asked = scope(0, 2000);
        asked.sandboxes = vec!["other".into()];
        let mut row = gap(0, 1, "{}");
        assert!(!asked.touched_by(&row));
        row.sandbox = None;
        assert!(asked.touched_by(&row));
        asked.sandboxes = vec!["id-1".into()];
        row.sandbox = Some("dev".into());
        assert!(asked.touched_by(&row));
    }
}
