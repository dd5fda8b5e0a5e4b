//! Questions that are wrong, or about nothing: each ends, and says what was meant and what to do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use boundlane_tests::Home;

const LINE: &str = "[1791291600.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /usr/bin/curl(7) -> h.example:443 [policy:-]\n";

/// A record of the sandbox `agent-1`, of these lines.
fn recorded(lines: &str) -> Home {
    let home = Home::new();
    let file = home.file("a.log", lines);
    home.run(["ingest", file.to_str().unwrap(), "--sandbox", "agent-1"])
        .ok();
    home
}

/// What is recorded is shown, and the run ends by itself: the test hangs when it does not.
#[test]
fn following_a_span_that_is_over_never_ends() {
    let home = recorded(LINE);
    let ran = home
        .run(["log", "agent-1", "-f", "--until", "2026-10-07"])
        .ok();
    assert!(ran.stdout().contains("h.example"), "{ran:?}");
    assert!(ran.stderr().contains("nothing is waited for"), "{ran:?}");
    let before = home
        .run(["log", "agent-1", "-f", "--until", "2026-10-01"])
        .ok();
    assert!(!before.stdout().contains("h.example"), "{before:?}");
    // Nothing is recorded at all: that is not waited for either.
    let empty = Home::new();
    let ran = empty.run(["log", "-f", "--until", "yesterday"]).ok();
    assert!(ran.stderr().contains("nothing is recorded yet"), "{ran:?}");
}

#[test]
fn an_unknown_sandbox_is_a_quiet_one() {
    let home = recorded(LINE);
    for command in [
        &["log", "agent-l"][..],
        &["log", "--sandbox", "agent-l"],
        &["query", "--sandbox", "agent-l"],
        &["query", "denied", "--sandbox", "agent-l"],
    ] {
        let ran = home.run(command).ok();
        let told = "nothing is recorded for `agent-l`, did you mean `agent-1`?";
        assert!(ran.stderr().contains(told), "{command:?}: {ran:?}");
    }
    let required = home.run(["query", "--sandbox", "agent-l", "--require-complete"]);
    required.ended_with(4);
    let known = home
        .run(["query", "--sandbox", "agent-1", "--host", "none"])
        .ok();
    assert!(!known.stderr().contains("nothing is recorded"), "{known:?}");
}

#[test]
fn a_zone_that_is_none_is_utc_without_a_word() {
    let home = recorded(LINE);
    for command in [&["log"][..], &["status"], &["query", "denied"]] {
        let said = |tz: &str| {
            let output = home.command(command).env("TZ", tz).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stderr).unwrap()
        };
        assert_eq!(
            said("Bogus/Zone").matches("`TZ` is `Bogus/Zone`").count(),
            1
        );
        assert!(!said("CET-1CEST,M3.5.0,M10.5.0/3").contains("`TZ`"));
    }
}

#[test]
fn a_pattern_that_fits_no_host_answers_with_nothing() {
    let home = recorded(LINE);
    for command in ["log", "query"] {
        let ran = home.run([command, "--host", "api.[ab].com"]).ended_with(2);
        let told = "`--host api.[ab].com`: `[` at character 5 is in no host name";
        assert!(ran.stderr().contains(told), "{ran:?}");
    }
}

#[test]
fn a_received_line_is_taken_for_a_loss_in_raw_output() {
    let forged = "# boundlane gap: an unknown number of lines never reached us (lagged)\n";
    let home = recorded(&format!("{LINE}{forged}{LINE}"));
    let raw = home.run(["log", "agent-1", "--raw"]).ok().stdout();
    assert!(raw.contains(&format!("\n\\{forged}")), "{raw}");
    let ours = raw.lines().filter(|line| line.starts_with("# boundlane "));
    assert_eq!(ours.count(), 2, "attached and detached: {raw}");
}

/// The engine's words are not ours: what, where and what to do, and no talk of its own faults.
#[test]
fn an_error_of_the_engine_is_shown_as_it_comes() {
    let home = recorded(LINE);
    for (sql, code, told) in [
        (
            "SELECT nothing FROM entries",
            2,
            "the question cannot be understood: ",
        ),
        (
            "SELEC 1 FROM entries",
            2,
            "the question cannot be understood: ",
        ),
        (
            "SELECT seq / 0 FROM entries",
            1,
            "failed while it was computed: ",
        ),
        (
            "SELECT cast(raw AS BIGINT) FROM decisions",
            1,
            "failed while it was computed: ",
        ),
    ] {
        let ran = home.run(["query", sql]).ended_with(code);
        let said = ran.stderr();
        assert!(said.contains(told), "{said}");
        assert!(
            !said.contains("DataFusion") && !said.contains("rror: "),
            "{said}"
        );
        assert!(
            said.lines().any(|line| line.starts_with("  ")),
            "no advice: {said}"
        );
    }
}

/// What the configuration calls a secret is none of a file's name, of a path that is missing, or of an argument.
#[test]
fn a_pattern_of_the_configuration_does_not_reach_names_and_messages() {
    let home = Home::new();
    let secret = "ACME-73c1-99f0";
    home.file(
        "config.toml",
        "redact = [\"ACME-[0-9a-f]{4}-[0-9a-f]{4}\"]\n",
    );
    let config = home.path().join("config.toml");
    let run = |arguments: &[&str]| {
        let mut all = vec!["--config", config.to_str().unwrap()];
        all.extend(arguments);
        home.run(all)
    };
    let file = home.file(&format!("{secret}.log"), LINE);
    let missing = format!("/nowhere/{secret}.log");
    let all = [
        run(&["ingest", file.to_str().unwrap(), "--sandbox", "s"]).ok(),
        run(&["ingest", &missing, "--sandbox", "s"]).ended_with(1),
        run(&["ingest", file.to_str().unwrap(), "--sandbox", secret]).ended_with(2),
        run(&["log", secret]).ok(),
        run(&["query", secret]).ended_with(2),
        run(&["query", "SELECT * FROM entries", "-o", "jsonl"]).ok(),
    ];
    for ran in all {
        assert!(
            !ran.stdout().contains(secret) && !ran.stderr().contains(secret),
            "{ran:?}"
        );
    }
    let journal = std::fs::read(home.state().join("journal.sqlite")).unwrap();
    let found = journal
        .windows(secret.len())
        .any(|bytes| bytes == secret.as_bytes());
    assert!(!found, "it is in the journal's file");
}
