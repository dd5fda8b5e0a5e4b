//! Questions with names.

use boundlane_query::{Canned, Question};
use boundlane_record::Row;

use crate::world::{World, asked, decision, gap, session};

fn told(by: &str, row: Row<'static>) -> Row<'static> {
    Row {
        source: Some(by.to_owned().into()),
        ..row
    }
}

fn world() -> World {
    let allowed = |n, host| decision(n, "allowed", host);
    let denied = |n, host| Row {
        reason: Some("no rule".into()),
        rule: None,
        ..decision(n, "denied", host)
    };
    let unnamed = Row {
        sandbox: None,
        sandbox_id: None,
        ..denied(20, "evil.example")
    };
    World::archived(&[
        session(0, "attached"),
        allowed(1, "pypi.org"),
        denied(2, "evil.example"),
        told("file_ocsf", denied(2, "evil.example")),
        told("cli_text", denied(2, "evil.example")),
        gap(3, 4),
        decision(5, "reset", "pypi.org"),
        Row {
            method: Some("POST".into()),
            ..allowed(6, "pypi.org")
        },
        unnamed,
    ])
}

#[test]
fn two_testimonies_about_one_sandbox_are_not_added_up() {
    let world = world();
    let (table, outcome) = asked(&world.request(Question::Canned(Canned::Hosts))).unwrap();
    assert_eq!(
        table.columns,
        [
            "host",
            "allowed",
            "denied",
            "reset",
            "other",
            "sandboxes",
            "first_seen",
            "last_seen"
        ]
    );
    assert_eq!(
        table.rows,
        ["evil.example 0 2 0 0 1 @2 @20", "pypi.org 2 0 1 0 1 @1 @6"]
    );
    let left_out: Vec<_> = outcome
        .uncounted
        .iter()
        .map(|left| {
            (
                left.sandbox.as_deref(),
                left.source.as_str(),
                left.decisions,
            )
        })
        .collect();
    assert_eq!(
        left_out,
        [(Some("dev"), "file_ocsf", 1), (Some("dev"), "cli_text", 1)]
    );

    let mut request = world.request(Question::Canned(Canned::Hosts));
    request.filter.scope.sources = vec!["file_ocsf".into()];
    let (table, outcome) = asked(&request).unwrap();
    assert_eq!(table.rows, ["evil.example 0 1 0 0 1 @2 @2"]);
    assert!(outcome.uncounted.is_empty());
}

#[test]
fn every_canned_question_answers_and_its_sql_asks_the_same() {
    let world = world();
    for canned in Canned::ALL {
        assert_eq!(Canned::from_word(canned.word()), Some(*canned));
        let (table, outcome) = asked(&world.request(Question::Canned(*canned))).unwrap();
        let is_empty = matches!(canned, Canned::Drops | Canned::Approvals);
        assert_eq!(
            table.rows.is_empty(),
            is_empty,
            "{}: {table:?}",
            canned.word()
        );
        let (again, _) = world.ask(&outcome.sql.unwrap());
        assert_eq!(again.rows, table.rows, "{}", canned.word());
    }
}

#[test]
fn denials_are_told_with_who_and_why() {
    let (table, _) = asked(&world().request(Question::Canned(Canned::Denied))).unwrap();
    assert_eq!(
        table.rows,
        ["/usr/bin/curl evil.example 443 - no rule 2 1 @2 @20"]
    );
}
