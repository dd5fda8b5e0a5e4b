//! A question only reads, and only the record.

use std::fs;

use boundlane_query::{QueryError, Question, VIEWS};
use boundlane_record::filter::{Case, Glob};

use crate::world::{World, asked, decision, gap, session};

fn world() -> World {
    World::archived(&[
        session(0, "attached"),
        decision(1, "denied", "o'brien.example"),
        gap(1, 2),
        decision(3, "allowed", "pypi.org"),
    ])
}

#[test]
fn everything_that_is_not_a_question_is_refused_and_does_nothing() {
    let world = world();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.csv");
    fs::write(&secret, "token\nhunter2\n").unwrap();
    let target = outside.path().join("out.parquet");
    let (secret, target) = (secret.display(), target.display());
    let file = world.files().remove(0);
    for sql in [
        format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{secret}'"),
        format!("COPY decisions TO '{target}'"),
        format!("COPY (SELECT 1) TO '{target}' STORED AS CSV"),
        format!("EXPLAIN ANALYZE COPY decisions TO '{target}'"),
        format!("INSERT INTO decisions SELECT * FROM '{secret}'"),
        format!("SELECT * FROM '{secret}'"),
        format!("SELECT * FROM \"{secret}\""),
        format!("SELECT * FROM '{}'", file.display()),
        format!("SELECT * FROM read_csv('{secret}')"),
        "CREATE TABLE t AS SELECT * FROM decisions".to_owned(),
        "CREATE VIEW v AS SELECT * FROM decisions".to_owned(),
        "CREATE FUNCTION f(x INT) RETURNS INT RETURN $1".to_owned(),
        "DROP TABLE decisions".to_owned(),
        "DROP VIEW decisions".to_owned(),
        "DELETE FROM decisions".to_owned(),
        "UPDATE decisions SET host = 'x'".to_owned(),
        "TRUNCATE TABLE decisions".to_owned(),
        "SET datafusion.catalog.has_header = true".to_owned(),
        "RESET datafusion.catalog.has_header".to_owned(),
        "BEGIN".to_owned(),
        "PREPARE p AS SELECT 1".to_owned(),
        "EXECUTE p".to_owned(),
        "SELECT 1; DROP TABLE decisions".to_owned(),
        String::new(),
    ] {
        let asked = asked(&world.request(Question::Sql(sql.clone())));
        let error = asked.expect_err(&sql);
        assert!(matches!(error, QueryError::Question(_)), "{sql}: {error:?}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(world.ask("SELECT count(*) FROM decisions").0.rows, ["2"]);
}

#[test]
fn an_error_names_what_is_wrong_in_one_line() {
    let error = asked(&world().request(Question::Sql("SELECT hots FROM decisions".into())));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("hots") && !error.contains('\n'), "{error}");
}

#[test]
fn text_in_a_filter_stays_text() {
    let world = world();
    let hostile = [
        "' OR '1'='1",
        "o'brien.example",
        "x'; DROP TABLE decisions; --",
        "\\' OR 1=1 --",
        "a\" OR \"1\"=\"1",
        "\u{0}",
        "%",
        "_____org",
    ];
    for text in hostile {
        let count = Question::Sql("SELECT count(*) FROM decisions".into());
        let mut request = world.request(count);
        request.filter.hosts = vec![Glob::new(text, Case::Insensitive)];
        let (table, _) = asked(&request).unwrap();
        let expected = if text == "o'brien.example" { "1" } else { "0" };
        assert_eq!(table.rows, [expected], "host `{text}`");
        let mut request = world.request(request.question);
        request.filter.scope.sandboxes = vec![text.to_owned()];
        assert_eq!(asked(&request).unwrap().0.rows, ["0"], "sandbox `{text}`");
    }
}

#[test]
fn columns_that_are_words_of_sql_can_be_named() {
    let world = world();
    let sql = "SELECT \"from\", \"to\", \"count\", cause FROM gaps WHERE \"from\" < \"to\"";
    assert_eq!(world.ask(sql).0.rows, ["@1 @2 5 lagged"]);
    let sql = "SELECT time, host, path, method FROM decisions ORDER BY time DESC LIMIT 1";
    assert_eq!(world.ask(sql).0.rows, ["@3 pypi.org - -"]);
    let sql = "SELECT count FROM gaps WHERE count > 1";
    assert_eq!(world.ask(sql).0.rows, ["5"]);
}

#[test]
fn every_view_answers_and_can_be_described() {
    let world = world();
    for (view, _) in VIEWS {
        let (table, outcome) = world.ask(&format!("SELECT * FROM {view}"));
        assert!(table.columns.contains(&"seq".to_owned()), "{view}");
        assert!(outcome.cut.is_none());
        let described = world.ask(&format!("DESCRIBE {view}")).0;
        assert!(
            described.rows.iter().any(|row| row.starts_with("host ")),
            "{view}"
        );
    }
    let shown = world.ask("SHOW TABLES").0;
    assert!(shown.rows.iter().any(|row| row.contains("decisions")));
}

#[test]
fn absent_values_are_null_and_not_empty() {
    let world = world();
    let sql = "SELECT count(*), count(reason), count(DISTINCT rule) FROM decisions";
    assert_eq!(world.ask(sql).0.rows, ["2 0 1"]);
    let sql = "SELECT count(*) FROM entries WHERE outcome IS NULL";
    assert_eq!(world.ask(sql).0.rows, ["2"]);
}
