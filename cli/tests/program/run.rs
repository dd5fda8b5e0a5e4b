//! Runs the program with an environment of its own.

use std::path::Path;
use std::process::{Command, Stdio};

/// A run that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program with nothing in its environment but an empty home, German time and a wide terminal.
pub(crate) fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boundlane"));
    command
        .env_clear()
        .env("HOME", home)
        .env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

/// Runs it to its end. The home is spelled `~` in what it prints.
pub(crate) fn run(home: &Path, args: &[&str]) -> Ended {
    ended(program(home).args(args), home)
}

/// Runs a prepared command to its end.
pub(crate) fn ended(command: &mut Command, home: &Path) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .unwrap()
            .replace(home.to_str().unwrap(), "~")
    };
    Ended {
        code: output.status.code().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// A run that ended well.
pub(crate) fn done(stdout: &str, stderr: &str) -> Ended {
    Ended {
        code: 0,
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    }
}

/// A run that failed and printed no result.
pub(crate) fn failed(code: i32, stderr: &str) -> Ended {
    Ended {
        code,
        stdout: String::new(),
        stderr: stderr.to_owned(),
    }
}
