//! Readers that go away, and what is coloured for whom.

use std::io::Read as _;
use std::process::Stdio;

use crate::recorded::{Home, allowed};
use crate::run::{ended, program};

/// A reader that went away ends the program quietly with 0, whatever it prints.
#[test]
fn a_closed_pipe_is_a_panic_or_an_error() {
    let home = Home::new();
    let rows: Vec<_> = (0..400)
        .map(|n| allowed(n, "/usr/bin/curl", "api.github.com"))
        .collect();
    for _ in 0..8 {
        home.record("agent-1", &rows);
    }
    for args in [
        &["log", "-q"][..],
        &["log", "-q", "-o", "jsonl"],
        &["log", "-q", "-o", "json"],
        &["log", "-q", "-o", "csv"],
        &["log", "-q", "--raw"],
        &["log", "--help"],
        &["completions", "bash"],
        &[],
    ] {
        let mut child = program(home.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The other end is gone before anything was read, or after the first bytes.
        let mut stdout = child.stdout.take().unwrap();
        let _ = stdout.read(&mut [0; 1]).unwrap();
        drop(stdout);
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), stderr.as_str()),
            (Some(0), ""),
            "{args:?}"
        );
    }
}

/// A full disk is an error, told once.
#[test]
fn a_full_disk_is_a_success() {
    let home = Home::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = program(home.path());
    command.arg("version").stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "boundlane: cannot write to standard output: No space left on device (os error 28)\n  write to a place that has room and ask again\n"
    );
}

/// No colour in a pipe unless it is asked for; the flag beats the environment.
#[test]
fn a_pipe_gets_colour_unasked() {
    let home = Home::new();
    home.record("agent-1", &[allowed(0, "/bin/a", "h")]);
    let coloured = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = program(home.path());
        command
            .envs(variables.iter().copied())
            .args(["log", "-q"])
            .args(args);
        ended(&mut command, home.path())
            .stdout
            .contains("\u{1b}[32mallowed\u{1b}[0m")
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&[], &["--color", "always"]));
    assert!(coloured(&[("NO_COLOR", "1")], &["--color=always"]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
    assert!(!coloured(&[], &["--color", "always", "-o", "jsonl"]));
}
