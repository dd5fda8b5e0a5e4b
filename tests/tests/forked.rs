//! Two histories of one journal: the archive has one, the file that was set aside the other. Both are answered.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use boundlane_tests::Home;
use serde_json::Value;

fn denied(host: &str) -> String {
    format!(
        "[1791291600.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /usr/bin/curl(7) -> {host}.example:443 [policy:-]\n"
    )
}

fn ingest(home: &Home, host: &str, more: &[&str]) {
    let file = home.file(&format!("{host}.log"), denied(host));
    let mut arguments = vec!["ingest", file.to_str().unwrap(), "--sandbox", "s"];
    arguments.extend(more);
    home.run(arguments).ok();
}

/// The journal was copied back over a later one and went on. The archive has `shared` and `archived`, the
/// journal that is set aside now has `shared` and `aside`, and the new journal has `after`.
fn forked() -> Home {
    let home = Home::new();
    let journal = home.state().join("journal.sqlite");
    ingest(&home, "shared", &[]);
    let copy = std::fs::read(&journal).unwrap();
    assert!(
        std::fs::metadata(home.state().join("journal.sqlite-wal")).map_or(0, |wal| wal.len()) == 0
    );
    ingest(&home, "archived", &[]);
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(home.state().join(format!("journal.sqlite{suffix}")));
    }
    std::fs::write(&journal, copy).unwrap();
    let archive = home.state().join("archive");
    let away = home.state().join("away");
    std::fs::rename(&archive, &away).unwrap();
    ingest(&home, "aside", &["--no-archive"]);
    ingest(&home, "aside2", &["--no-archive"]);
    let _ = std::fs::remove_dir_all(&archive);
    std::fs::rename(&away, &archive).unwrap();
    ingest(&home, "after", &[]);
    home
}

const ALL: [&str; 5] = ["shared", "archived", "aside", "aside2", "after"];

/// Hosts in the order of the rows.
fn hosts(rows: &[Value]) -> Vec<String> {
    let host = |row: &Value| Some(row["host"].as_str()?.strip_suffix(".example")?.to_owned());
    rows.iter().filter_map(host).collect()
}

#[test]
fn entries_of_a_journal_that_was_set_aside_are_in_no_answer() {
    let home = forked();
    assert_eq!(
        std::fs::read_dir(home.state().join("journals"))
            .unwrap()
            .count(),
        1
    );
    let log = home.run(["log", "s", "-o", "jsonl"]).ok();
    assert_eq!(hosts(&log.json_lines()), ALL, "{log:?}");
    let listed = home.run(["query", "-o", "jsonl"]).ok();
    assert_eq!(hosts(&listed.json_lines()), ALL, "{listed:?}");
    let asked = home
        .run(["query", "SELECT host FROM decisions", "-o", "jsonl"])
        .ok();
    let (mut found, mut all) = (hosts(&asked.json_lines()), ALL.map(str::to_owned).to_vec());
    found.sort();
    all.sort();
    assert_eq!(found, all);
    // What cannot be told apart is marked.
    for ran in [&log, &listed] {
        assert!(ran.stderr().contains("1 gap (forked"), "{ran:?}");
    }
    let last = home.run(["log", "s", "-o", "jsonl", "-n", "9"]).ok();
    assert_eq!(hosts(&last.json_lines()), ALL, "{last:?}");
}

#[test]
fn status_does_not_know_of_a_journal_that_was_set_aside() {
    let home = forked();
    let status = home.run(["status", "--json"]).ok().json();
    let aside = &status["set_aside"][0];
    assert_eq!(aside["denied"], 3, "{status}");
    let entries = aside["entries"].as_u64().unwrap();
    let only_here = aside["only_here"].as_u64().unwrap();
    assert!(only_here > 0 && only_here < entries, "{status}");
    let screen = home.run(["status"]).ok().stdout();
    assert!(
        screen.contains(&format!("{only_here} of them in no archive file")),
        "{screen}"
    );
}
