//! What the tests of the whole program share: the real binary, a state directory of its own, waiting
//! for durable progress.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::missing_panics_doc, reason = "a test fails by panicking")]

pub mod gateway;
pub mod world;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

/// The `boundlane` binary of this build: built once if the tests were started without it. Another one
/// can be tried with `BOUNDLANE_BINARY`.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(given) = std::env::var_os("BOUNDLANE_BINARY") {
            return PathBuf::from(given);
        }
        let own = std::env::current_exe().unwrap();
        let target = own.parent().unwrap().parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--locked", "--quiet", "--package", "boundlane"]);
        if target.file_name() == Some(OsStr::new("release")) {
            build.arg("--release");
        }
        build.env("CARGO_TARGET_DIR", target.parent().unwrap());
        build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        assert!(
            build.status().unwrap().success(),
            "the binary cannot be built"
        );
        target.join("boundlane")
    })
}

/// A file of this repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A state directory of its own, and the program run on it.
pub struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    /// An empty home.
    #[allow(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Home {
        Home {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// The temporary directory: `state` below it is the program's.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// A file in the temporary directory with these contents.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// The program with these arguments, not started: no terminal, UTC, nothing inherited that it reads.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .env_clear()
            .env("TZ", "UTC")
            .env("HOME", self.path());
        command.env("BOUNDLANE_STATE_DIR", self.state());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        Ran(self.command(arguments).output().unwrap())
    }

    /// Runs the program to its end with `input` on its standard input.
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        feed(&mut child, input);
        Ran(child.wait_with_output().unwrap())
    }
}

/// Writes all of `input` from a thread of its own and closes the pipe; a reader that is gone is no error.
pub fn feed(child: &mut Child, input: &[u8]) {
    use std::io::Write;
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    std::thread::spawn(move || {
        let _ = pipe.write_all(&input);
    });
}

/// How the program ended and what it printed.
#[derive(Debug)]
pub struct Ran(pub Output);

impl Ran {
    /// The exit code; a signal is a failed test.
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    /// Standard output as text.
    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    /// Standard error as text.
    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// The same, when it ended with 0.
    #[track_caller]
    pub fn ok(self) -> Ran {
        self.ended_with(0)
    }

    /// The same, when it ended with `code`.
    #[track_caller]
    pub fn ended_with(self, code: i32) -> Ran {
        assert_eq!(
            self.0.status.code(),
            Some(code),
            "{}\n{}",
            self.stdout(),
            self.stderr()
        );
        self
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.0.stdout).unwrap()
    }
}
