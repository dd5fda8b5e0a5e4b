//! `status`.

use crate::recorded::{Home, allowed, denied, gap};
use crate::run::run;

/// The books are those of the journal, in both forms, and they balance.
#[test]
fn the_books_are_cooked() {
    let home = Home::new();
    home.record(
        "agent-1",
        &[allowed(0, "/bin/a", "h"), denied(1, "/bin/a", "h"), gap()],
    );
    let status = run(home.path(), &["status"]);
    assert_eq!((status.code, status.stderr.as_str()), (0, ""));
    for line in [
        "forwarder  not running",
        "gateway    not known: nobody follows",
        "server     not enrolled",
        "directory  ~/.local/state/boundlane",
        "streams    1 (sandboxes: 1)",
        "books      2 lines read = 2 records + 0 ignored + 0 repeats + 0 refused",
        "losses     ever: 1 gap (lagged; at most 12 lines)",
        "           in 24 hours: none",
        "           most: agent-1 (1)",
        "archive    empty",
        "agent-1  import        2       1  2026-04-01 06:04:32.690  import/agent-1/1",
    ] {
        assert!(
            status.stdout.lines().any(|found| found == line),
            "{line}\n{}",
            status.stdout
        );
    }
    let json = run(home.path(), &["status", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let books = &document["journal"]["books"];
    assert_eq!(
        (books["lines_read"].as_u64(), books["balance"].as_bool()),
        (Some(2), Some(true))
    );
    let numbers = &document["journal"]["numbers"];
    assert_eq!(numbers["given"], 4);
    assert_eq!(numbers["queued"], 4);
    assert_eq!(document["journal"]["losses"][0]["lines_at_most"], 12);
    assert_eq!(document["journal"]["most_losses"][0]["sandbox"], "agent-1");
    assert_eq!(document["journal"]["queue"]["entries"], 4);
    assert_eq!(document["forwarder"]["running"], false);
    assert_eq!(document["server"]["enrolled"], false);
}

/// `--check` is 1 unless the word is `healthy`: entries of an old day wait for the archive.
#[test]
fn a_degraded_machine_passes_the_check() {
    let home = Home::new();
    let nothing = run(home.path(), &["status", "--check"]);
    assert_eq!(nothing.code, 0);
    assert!(
        nothing
            .stdout
            .starts_with("healthy: nothing is recorded yet\n")
    );
    home.record("agent-1", &[allowed(0, "/bin/a", "h")]);
    let behind = run(home.path(), &["status", "--check"]);
    assert_eq!(behind.code, 1);
    assert!(
        behind
            .stdout
            .starts_with("degraded: 2 entries wait for the archive"),
        "{}",
        behind.stdout
    );
    assert_eq!(run(home.path(), &["status"]).code, 0);
}

/// A journal of a newer program is not damage: 3, and nothing is touched.
#[test]
fn a_newer_journal_is_called_damaged() {
    let home = Home::new();
    home.record("agent-1", &[]);
    let path = home.path().join(".local/state/boundlane/journal.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    // `user_version` in SQLite's header.
    bytes[60..64].copy_from_slice(&999u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    for command in ["status", "log"] {
        let newer = run(home.path(), &[command]);
        assert_eq!(
            (newer.code, newer.stdout.as_str()),
            (3, ""),
            "{}",
            newer.stderr
        );
        assert!(newer.stderr.starts_with("boundlane: "), "{}", newer.stderr);
    }
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
