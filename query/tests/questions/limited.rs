//! Limits say when they cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use boundlane_query::{Cut, OutputColumn, QueryError, Question, Rows, Sink, run};

use boundlane_record::Micros;

use crate::world::{DAY, SECOND, Table, World, all_rows, asked, decision};

/// A question that no machine answers in a minute.
const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 1000000000) a \
    JOIN generate_series(1, 1000000) b ON a.value % 7 <> b.value % 5";

#[test]
fn a_question_that_needs_more_memory_than_it_may_take_is_cut() {
    let world = World::archived(&[decision(1, "denied", "a")]);
    let mut request = world.request(Question::Sql(
        "SELECT value, count(*) FROM generate_series(1, 3000000) GROUP BY value".into(),
    ));
    request.limits.memory_bytes_max = 4 << 20;
    let (_, outcome) = asked(&request).unwrap();
    assert_eq!(outcome.cut, Some(Cut::Memory { bytes_max: 4 << 20 }));
    assert!(!outcome.is_complete());
    assert!(outcome.cut.unwrap().to_string().contains("4 MiB"));
}

#[test]
fn a_question_that_takes_longer_than_it_may_is_cut() {
    let world = World::archived(&[decision(1, "denied", "a")]);
    let mut request = world.request(Question::Sql(ENDLESS.into()));
    request.limits.time_max = Some(Duration::from_millis(1_500));
    let (_, outcome) = asked(&request).unwrap();
    assert_eq!(outcome.cut, Some(Cut::Time { seconds_max: 1 }));
    assert!(!outcome.is_complete());
}

#[test]
fn an_interruption_ends_the_answer_at_once() {
    let world = World::archived(&[decision(1, "denied", "a")]);
    let mut request = world.request(Question::Sql(ENDLESS.into()));
    let interrupted = Arc::new(AtomicBool::new(false));
    request.interrupted = Arc::clone(&interrupted);
    let (told, tell) = std::sync::mpsc::channel();
    let answer = std::thread::spawn(move || {
        told.send(()).unwrap();
        asked(&request).unwrap().1
    });
    tell.recv().unwrap();
    let begun = Instant::now();
    interrupted.store(true, Ordering::Relaxed);
    let outcome = answer.join().unwrap();
    assert_eq!(outcome.cut, Some(Cut::Interrupted));
    // 200 ms is the promise on an idle machine; tests share theirs.
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
}

struct Full;

impl Sink for Full {
    fn columns(&mut self, _: &[OutputColumn]) -> std::io::Result<()> {
        Ok(())
    }

    fn rows(&mut self, _: &Rows) -> std::io::Result<()> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_sink_that_takes_no_more_ends_the_answer() {
    let world = World::archived(&[decision(1, "denied", "a"), decision(2, "denied", "b")]);
    for question in [all_rows(), Question::Sql("SELECT * FROM decisions".into())] {
        let error = run(&world.request(question), &mut Full).unwrap_err();
        let QueryError::Sink(error) = error else {
            panic!("{error:?}");
        };
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
}

#[test]
fn an_answer_without_rows_still_has_columns() {
    let (table, outcome): (Table, _) =
        World::new().ask("SELECT host, time FROM decisions WHERE host = 'x'");
    assert_eq!(table.columns, ["host", "time"]);
    assert_eq!(outcome.rows, 0);
}

#[test]
fn a_window_opens_only_the_files_and_row_groups_that_it_needs() {
    let mut world = World::new();
    for file in 0..10 {
        let rows: Vec<_> = (0..200)
            .map(|n| decision(file * 200 + n, "denied", "a"))
            .collect();
        world.append(&rows).archive();
    }
    let explain =
        "EXPLAIN ANALYZE SELECT count(*), max(rule) FROM decisions WHERE outcome = 'denied'";
    let mut request = world.request(Question::Sql(explain.into()));
    request.filter.scope.window.since = Some(Micros(DAY + 1_270 * SECOND));
    request.filter.scope.window.until = Some(Micros(DAY + 1_280 * SECOND));
    let (table, _) = asked(&request).unwrap();
    let plan = table.rows.join("\n");
    for pruned in [
        "files_ranges_pruned_statistics=10 total → 1 matched",
        "row_groups_pruned_statistics=4 total → 1 matched",
    ] {
        assert!(plan.contains(pruned), "{pruned}: {plan}");
    }
}
