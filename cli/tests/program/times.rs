//! Times on the command line, in German time.

use crate::run::{done, failed, program, run};

#[test]
fn a_time_that_is_none_or_two_is_guessed() {
    let home = tempfile::tempdir().unwrap();
    for (args, message) in [
        (
            &["log", "--since", "soon"][..],
            "`--since soon`: not a time; write `2h`, `7d`, `today`, `2026-08-21`, \
             `2026-08-21 21:50` or RFC 3339",
        ),
        (
            &["log", "--since", "2026-10-25 02:30"],
            "`--since 2026-10-25 02:30`: the clock showed this twice; write \
             `2026-10-25T00:30:00.000000Z` or `2026-10-25T01:30:00.000000Z`",
        ),
        (
            &["log", "--until", "2026-03-29 02:30"],
            "`--until 2026-03-29 02:30`: the clock never showed this: it went from \
             `2026-03-29 02:00` to `2026-03-29 03:00`",
        ),
        (
            &["log", "--since", "2026-04-02", "--until", "2026-04-01"],
            "`--since` is not before `--until`: `2026-04-01T22:00:00.000000Z` and \
             `2026-03-31T22:00:00.000000Z`",
        ),
        (
            &["log", "--since", "2026-02-30"],
            "`--since 2026-02-30`: there is no such time",
        ),
    ] {
        assert_eq!(
            run(home.path(), args),
            failed(2, &format!("boundlane: {message}\n"))
        );
    }
}

/// What was understood is told back in UTC; with `--utc` the same text means something else; `-q` is
/// quiet.
#[test]
fn a_local_time_is_not_told_back() {
    let home = tempfile::tempdir().unwrap();
    let nothing = "nothing is recorded yet\n  openshell logs my-agent | boundlane ingest --sandbox my-agent\n";
    for (args, told) in [
        (
            &["log", "--since", "2026-10-25 01:59"][..],
            "since 2026-10-24T23:59:00.000000Z\n",
        ),
        (
            &["log", "--since", "2026-10-25 02:30", "--utc"],
            "since 2026-10-25T02:30:00.000000Z\n",
        ),
        (
            &["log", "-since", "2026-01-01", "-until", "2026-01-02"],
            "since 2025-12-31T23:00:00.000000Z until 2026-01-01T23:00:00.000000Z\n",
        ),
        (&["log"], ""),
    ] {
        assert_eq!(
            run(home.path(), args),
            done("", &format!("{told}{nothing}"))
        );
    }
    assert_eq!(
        run(home.path(), &["log", "-q", "--since", "2h"]),
        done("", "")
    );
}

/// The zone of the environment decides, not the machine's.
#[test]
fn the_zone_of_the_environment_is_overlooked() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program(home.path());
    command
        .env("TZ", "EST5")
        .args(["log", "--since", "2026-10-25 02:30"]);
    let ended = crate::run::ended(&mut command, home.path());
    assert!(
        ended
            .stderr
            .starts_with("since 2026-10-25T07:30:00.000000Z\n"),
        "{}",
        ended.stderr
    );
}
