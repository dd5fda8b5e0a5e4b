//! Command lines that cannot be understood: 2, nothing on standard output, and what to type instead.

use crate::run::{ended, failed, program, run};

#[test]
fn a_wrong_word_gets_no_help() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        run(home.path(), &["statsu"]),
        failed(
            2,
            "\
boundlane: unrecognized subcommand 'statsu'

  tip: a similar subcommand exists: 'status'

Usage: boundlane [OPTIONS] [COMMAND]

For more information, try '--help'.
"
        )
    );
    let wrong = run(home.path(), &["log", "--sicne", "2h"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
    assert!(
        wrong
            .stderr
            .contains("tip: a similar argument exists: '--since'")
    );
}

/// Words of the command line are untrusted too: a script may pass on what a sandbox chose.
#[test]
fn a_hostile_word_reaches_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let hostile = "\u{1b}]0;x\u{7}\u{9b}2J";
    for args in [
        [hostile, "a"],
        ["log", &format!("--{hostile}")],
        ["log", &format!("--since={hostile}")],
    ] {
        let wrong = run(home.path(), &args);
        assert_eq!(wrong.code, 2);
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!wrong.stderr.contains(acts), "{:?}", wrong.stderr);
    }
    let since = run(home.path(), &["log", &format!("--since={hostile}")]);
    assert!(
        since
            .stderr
            .contains("`--since \\x1b]0;x\\x07\\x9b2J`: not a time"),
        "{}",
        since.stderr
    );
}

#[test]
fn a_contradiction_is_accepted() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        run(home.path(), &["log", "a", "--sandbox", "b"]),
        failed(2, "boundlane: two sandboxes are named, `a` and `b`\n")
    );
    assert_eq!(
        run(home.path(), &["log", "-f", "-o", "json"]),
        failed(
            2,
            "boundlane: `-o json` is one document and `--follow` has no end\n  take `-o jsonl`\n"
        )
    );
    let column = run(home.path(), &["log", "--columns", "host,colour"]);
    assert_eq!((column.code, column.stdout.as_str()), (2, ""));
    assert!(
        column
            .stderr
            .starts_with("boundlane: `colour` is not a column\n  columns are journal")
    );
}

/// Without a place for the data: 2, naming the flag, and nothing is written anywhere.
#[test]
fn no_state_directory_is_a_crash() {
    let home = tempfile::tempdir().unwrap();
    let no_home = ended(
        program(home.path()).env_remove("HOME").arg("status"),
        home.path(),
    );
    assert_eq!(
        no_home,
        failed(
            2,
            "boundlane: there is no directory to keep the record in: `HOME` is not set\n  \
             name one with `--state-dir DIR` or `BOUNDLANE_STATE_DIR`\n"
        )
    );
}
