//! The filter in SQL, the filter in Rust and a plain loop agree, over every file and the journal.

use std::sync::Arc;

use boundlane_query::Question;
use boundlane_record::filter::{Case, Filter, Glob, Scope, Window};
use boundlane_record::{Column, Micros, Row};
use proptest::prelude::*;

use crate::world::{DAY, SECOND, World, asked, decision, gap, session};

fn some_text(choices: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.9, prop::sample::select(choices).prop_map(str::to_owned))
}

fn moment(second: i64) -> Micros {
    Micros(DAY + second * SECOND)
}

fn neighbours(after: Option<i64>, before: Option<i64>) -> String {
    let fields: Vec<_> = [("after_time", after), ("before_time", before)]
        .into_iter()
        .filter_map(|(key, at)| Some(format!("\"{key}\":{}", moment(at?).0)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn row() -> impl Strategy<Value = Row<'static>> {
    let time = prop::option::weighted(0.8, 0i64..60);
    let kind = prop::sample::select(
        &[
            "decision", "decision", "decision", "event", "gap", "drops", "session", "rejected",
            "newer",
        ][..],
    );
    (
        (kind, time, 0i64..60),
        some_text(&["allowed", "denied", "reset", "other"]),
        some_text(&[
            "pypi.org",
            "PyPI.org",
            "a.example.com",
            "b_c%d.example.com",
            "x\ny",
            "é.org",
            "",
        ]),
        some_text(&[
            "/usr/bin/curl",
            "curl",
            "/opt/py/bin/sh",
            "/",
            "",
            "C:\\x\\curl",
            "/a/cu rl",
        ]),
        some_text(&["web", "we_b", "w%b", "-", "we\\b"]),
        (
            some_text(&["dev", "o'b"]),
            some_text(&["id-1", "dev"]),
            some_text(&["gateway", "cli_text"]),
        ),
        (
            prop::option::of(0i64..60),
            prop::option::of(0i64..60),
            prop::option::of(0i64..60),
            prop::option::of(0i64..60),
        ),
    )
        .prop_map(
            |((kind, time, observed), outcome, host, process, rule, who, span)| {
                let base = if kind == "gap" {
                    gap(0, 1)
                } else {
                    session(0, "mark")
                };
                Row {
                    kind: Some(kind.into()),
                    time: time.map(moment),
                    observed: Some(moment(observed)),
                    outcome: outcome.map(Into::into),
                    host: host.map(Into::into),
                    process: process.map(Into::into),
                    rule: rule.map(Into::into),
                    sandbox: who.0.map(Into::into),
                    sandbox_id: who.1.map(Into::into),
                    source: who.2.map(Into::into),
                    from: span.0.map(moment),
                    to: span.1.map(moment),
                    evidence: Some(neighbours(span.2, span.3).into()),
                    ..base
                }
            },
        )
}

fn globs(choices: &'static [&'static str], case: Case) -> impl Strategy<Value = Vec<Glob>> {
    let glob = prop::sample::select(choices).prop_map(move |pattern| Glob::new(pattern, case));
    prop_oneof![3 => Just(vec![]), 2 => prop::collection::vec(glob, 1..3)]
}

fn filter() -> impl Strategy<Value = Filter> {
    let bound = || prop::option::of((0i64..60).prop_map(moment));
    (
        any::<bool>(),
        globs(
            &[
                "PYPI.ORG",
                "*.example.com",
                "b_c%*",
                "x*y",
                "?.org",
                "*",
                "",
            ],
            Case::Insensitive,
        ),
        globs(
            &["curl", "cu*", "/usr/*", "*/curl", "", "p*", "C:\\x*"],
            Case::Sensitive,
        ),
        globs(&["web", "we_b", "w%*", "we\\?", "*"], Case::Sensitive),
        prop_oneof![
            Just(vec![]),
            Just(vec!["dev".to_owned()]),
            Just(vec!["o'b".to_owned(), "id-1".to_owned()])
        ],
        prop_oneof![3 => Just(vec![]), 1 => Just(vec!["gateway".to_owned()])],
        (bound(), bound()),
    )
        .prop_map(
            |(deny, hosts, processes, rules, sandboxes, sources, (since, until))| Filter {
                deny,
                hosts,
                processes,
                rules,
                scope: Scope {
                    sandboxes,
                    sources,
                    window: Window { since, until },
                },
            },
        )
}

/// Rows laid out over three files and the journal.
fn laid_out(rows: &[Row<'_>], cuts: (usize, usize, usize)) -> World {
    let mut ends = [
        cuts.0 % (rows.len() + 1),
        cuts.1 % (rows.len() + 1),
        cuts.2 % (rows.len() + 1),
    ];
    ends.sort_unstable();
    let mut world = World::new();
    let mut from = 0;
    for end in ends {
        if end > from {
            world.append(&rows[from..end]).archive();
        }
        from = end;
    }
    world.append(&rows[from..]);
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// For all rows, layouts and filters: a listing gives exactly the rows that `Filter::matches`
    /// chooses, in number order, and counts by SQL are those of a plain loop over them.
    #[test]
    fn a_listing_and_a_count_choose_what_a_plain_loop_chooses(
        rows in prop::collection::vec(row(), 1..120),
        cuts in any::<(usize, usize, usize)>(),
        filter in filter(),
    ) {
        let world = laid_out(&rows, cuts);
        let mut request = world.request(Question::Rows { columns: vec![Column::kind] });
        request.live = Some(Arc::new(world.live(1)));
        request.filter = filter.clone();
        let chosen: Vec<_> = rows.iter().zip(1..).filter(|(row, _)| filter.matches(row)).collect();
        let (table, _) = asked(&request).unwrap();
        let expected: Vec<String> = chosen
            .iter()
            .map(|(row, seq)| format!("{seq} {} {}", crate::world::JOURNAL, row.kind.as_deref().unwrap()))
            .collect();
        prop_assert_eq!(table.rows, expected);

        let count = |keep: &dyn Fn(&Row<'_>) -> bool| chosen.iter().filter(|(row, _)| keep(row)).count();
        let expected = format!(
            "{} {} {}",
            chosen.len(),
            count(&|row| row.kind.as_deref() == Some("decision") && row.outcome.as_deref() == Some("denied")),
            count(&|row| row.kind.as_deref() == Some("gap")),
        );
        request.question = Question::Sql(
            "SELECT (SELECT count(*) FROM entries) AS a, \
             (SELECT count(*) FROM decisions WHERE outcome = 'denied') AS b, \
             (SELECT count(*) FROM gaps) AS c".into(),
        );
        prop_assert_eq!(asked(&request).unwrap().0.rows, vec![expected]);
    }
}

#[test]
fn a_filter_without_rows_counts_nothing_and_says_zero() {
    let world = World::archived(&[decision(1, "denied", "a")]);
    let mut request = world.request(Question::Sql("SELECT count(*) FROM decisions".into()));
    request.filter.rules = vec![Glob::new("none", Case::Sensitive)];
    assert_eq!(asked(&request).unwrap().0.rows, ["0"]);
}
