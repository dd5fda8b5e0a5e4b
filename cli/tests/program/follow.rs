//! `log --follow`, with another process's commits.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use boundlane_record::Row;

use crate::recorded::{Home, allowed, denied};
use crate::run::program;

/// A follower that is ended when the test ends, however it ends.
struct Follower {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Follower {
    fn begin(home: &Home, args: &[&str]) -> Follower {
        let mut child = program(home.path())
            .args(["log", "-q", "-f"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Follower { child, lines }
    }

    /// The next line; waits for it.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Rows come once each and in order, from the history and from later commits, filtered alike.
#[test]
fn a_row_is_missed_or_printed_twice() {
    let home = Home::new();
    home.record(
        "agent-1",
        &[denied(0, "/bin/a", "first"), allowed(1, "/bin/a", "other")],
    );
    let args = [
        "agent-1",
        "--deny",
        "-o",
        "csv",
        "--no-header",
        "--columns",
        "host",
    ];
    let mut follower = Follower::begin(&home, &args);
    assert_eq!(follower.line(), "first\r\n");
    for n in 0..20 {
        let host = format!("host-{n}");
        home.record(
            "agent-1",
            &[denied(n, "/bin/a", &host), allowed(n, "/bin/a", "other")],
        );
        home.record("agent-2", &[denied(n, "/bin/a", "elsewhere")]);
        assert_eq!(follower.line(), format!("{host}\r\n"));
    }
}

/// A sandbox whose stream its gateway ended is shown to its end, and then the program ends too.
#[test]
fn an_ended_sandbox_is_followed_for_ever() {
    let home = Home::new();
    let end = Row {
        kind: Some("session".into()),
        cause: Some("end".into()),
        ..Row::default()
    };
    home.record_from("gateway", "agent-1", &[denied(0, "/bin/a", "h"), end]);
    let mut follower = Follower::begin(&home, &["agent-1", "--columns", "host", "--no-header"]);
    assert_eq!(
        (follower.line(), follower.line()),
        ("h\n".to_owned(), "-\n".to_owned())
    );
    assert_eq!(follower.line(), "");
    assert_eq!(follower.child.wait().unwrap().code(), Some(0));
}

/// Ctrl-C ends it with 130.
#[test]
fn an_interrupt_has_another_code() {
    let home = Home::new();
    home.record("agent-1", &[denied(0, "/bin/a", "h")]);
    let mut follower = Follower::begin(&home, &["--columns", "host", "--no-header"]);
    assert_eq!(follower.line(), "h\n");
    let pid = rustix::process::Pid::from_child(&follower.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(follower.child.wait().unwrap().code(), Some(130));
}
