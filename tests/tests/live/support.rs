//! The program started beside a gateway, and what it printed so far.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use boundlane_tests::gateway::{Gateway, Line, PATIENCE, Settings};
use boundlane_tests::{Home, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Both generations, with their names for messages.
pub(crate) fn generations() -> [(&'static str, Settings); 2] {
    [("new", Settings::default()), ("old", Settings::old())]
}

/// The first words of a sandbox, without which its beginning is a gap.
pub(crate) fn first_words() -> Line {
    Line::tracing("INFO", "openshell_sandbox", "Starting sandbox")
}

/// A decision that carries its number in the host's name.
pub(crate) fn numbered(number: usize) -> Line {
    Line::ocsf(format!(
        "NET:OPEN [INFO] ALLOWED curl(1) -> h{number}.example.net:443/tcp [policy:p engine:opa]"
    ))
}

/// A sandbox that has said its first words.
pub(crate) fn sandbox(gateway: &Gateway, name: &str) -> String {
    let id = gateway.create(name);
    gateway.publish(name, [first_words()]);
    id
}

/// The program with these arguments, told where the gateway is.
pub(crate) fn command<A: AsRef<OsStr>>(
    home: &Home,
    gateway: &Gateway,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = home.command(arguments);
    command.env("OPENSHELL_GATEWAY_ENDPOINT", gateway.url());
    command
}

/// Runs it to its end.
pub(crate) fn run<A: AsRef<OsStr>>(
    home: &Home,
    gateway: &Gateway,
    arguments: impl IntoIterator<Item = A>,
) -> Ran {
    Ran(command(home, gateway, arguments).output().unwrap())
}

/// The numbers that the decisions among these rows carry.
pub(crate) fn numbers<'a>(rows: impl IntoIterator<Item = &'a Value>) -> Vec<usize> {
    let number = |row: &Value| {
        let host = row["host"].as_str()?.strip_prefix('h')?;
        host.split_once('.')?.0.parse().ok()
    };
    rows.into_iter().filter_map(number).collect()
}

/// The causes of the rows of this kind.
pub(crate) fn causes<'a>(rows: &'a [Value], kind: &str) -> Vec<&'a str> {
    rows.iter()
        .filter(|row| row["kind"] == kind)
        .filter_map(|row| row["cause"].as_str())
        .collect()
}

/// What the journal and the archive have of a sandbox; no gateway is asked.
pub(crate) fn recorded(home: &Home, name: &str) -> Vec<Value> {
    home.run(["log", name, "-o", "jsonl"]).ok().json_lines()
}

/// The numbers below `count`, each once and in order.
#[track_caller]
pub(crate) fn assert_all(rows: &[Value], count: usize) {
    let found = numbers(rows);
    let missing: Vec<usize> = (0..count).filter(|n| !found.contains(n)).take(5).collect();
    assert!(found.is_sorted(), "not in order");
    assert_eq!(found.len(), count, "missing {missing:?}");
    assert_eq!(missing, [0; 0]);
}

/// The books balance and every law holds.
#[track_caller]
pub(crate) fn assert_sound(home: &Home) {
    home.run(["fsck"]).ok();
    let status = home.run(["status", "--json"]).ok().json();
    assert_eq!(status["journal"]["books"]["balance"], true, "{status:#}");
}

/// A program that runs.
pub(crate) struct Running {
    pid: Pid,
    ended: Receiver<ExitStatus>,
    status: Option<ExitStatus>,
    out: Receiver<String>,
    err: Receiver<String>,
    /// What it said on standard error so far.
    pub(crate) said: Vec<String>,
    /// What it printed so far.
    pub(crate) printed: Vec<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let out = listen(child.stdout.take().unwrap());
        let err = listen(child.stderr.take().unwrap());
        let pid = Pid::from_child(&child);
        let (ending, ended) = channel();
        std::thread::spawn(move || ending.send(child.wait().unwrap()));
        Running {
            pid,
            ended,
            status: None,
            out,
            err,
            said: Vec::new(),
            printed: Vec::new(),
        }
    }

    /// `forward` with these options, its waits made short.
    pub(crate) fn forward(home: &Home, gateway: &Gateway, options: &[&str]) -> Running {
        let arguments = ["forward", "--pace", "50"].iter().chain(options);
        Running::start(command(home, gateway, arguments))
    }

    /// `log -f -o jsonl` of a sandbox.
    pub(crate) fn log(home: &Home, gateway: &Gateway, name: &str) -> Running {
        Running::start(command(home, gateway, ["log", name, "-f", "-o", "jsonl"]))
    }

    /// Waits until it says a line that holds `text`, which it did not say before; that line.
    #[track_caller]
    pub(crate) fn until_said(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.err.recv_timeout(end - Instant::now()) {
                Ok(line) => self.said.push(line),
                Err(_) => panic!("`{text}` is not said:\n{}", self.said.join("\n")),
            }
            let last = self.said.last().unwrap();
            if last.contains(text) {
                return last.clone();
            }
        }
    }

    /// Waits until it has printed `count` rows in which `wanted` holds.
    #[track_caller]
    pub(crate) fn until_rows(&mut self, count: usize, wanted: impl Fn(&Value) -> bool) {
        let end = Instant::now() + PATIENCE;
        let is_wanted = |line: &String| wanted(&serde_json::from_str(line).unwrap());
        let mut found = self.printed.iter().filter(|line| is_wanted(line)).count();
        while found < count {
            match self.out.recv_timeout(end - Instant::now()) {
                Ok(line) => {
                    found += usize::from(is_wanted(&line));
                    self.printed.push(line);
                }
                Err(_) => {
                    self.said.extend(self.err.try_iter());
                    let last = self.printed.last();
                    panic!(
                        "{found} of {count} rows: {last:?}\n{}",
                        self.said.join("\n")
                    );
                }
            }
        }
    }

    /// The rows it printed so far.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let row = |line: &String| serde_json::from_str(line).unwrap();
        self.printed.iter().map(row).collect()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid, signal);
    }

    /// Waits until it has ended, with `code`.
    #[track_caller]
    pub(crate) fn ended_with(&mut self, code: i32) {
        self.ended_within(PATIENCE, code);
    }

    #[track_caller]
    pub(crate) fn ended_within(&mut self, within: Duration, code: i32) {
        let ended = match self.status.take() {
            Some(status) => Ok(status),
            None => self.ended.recv_timeout(within),
        };
        let status = match ended {
            Ok(status) => status,
            Err(error) => {
                self.said.extend(self.err.try_iter());
                panic!("does not end ({error}):\n{}", self.said.join("\n"));
            }
        };
        self.printed.extend(self.out.iter());
        self.said.extend(self.err.iter());
        assert_eq!(status.code(), Some(code), "{}", self.said.join("\n"));
    }

    /// Waits until it has ended by a signal.
    #[track_caller]
    pub(crate) fn until_killed(&mut self) {
        let status = self.ended.recv_timeout(PATIENCE).unwrap();
        assert_eq!(status.code(), None);
    }

    /// Whether it has; how is still to be asked.
    pub(crate) fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.ended.try_recv().ok();
        }
        self.status.is_some()
    }

    /// Asks it to end, and waits until it has, with 0.
    #[track_caller]
    pub(crate) fn end(&mut self) {
        self.signal(Signal::TERM);
        self.ended_within(Duration::from_secs(5), 0);
    }

    /// Asks until there is an answer, while it runs.
    #[track_caller]
    pub(crate) fn until<A>(&mut self, what: &str, mut ask: impl FnMut() -> Option<A>) -> A {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            match self.err.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
                Err(_) => panic!("not {what}:\n{}", self.said.join("\n")),
            }
        }
    }

    /// Waits until the journal has `count` records of the sandbox, by what is printed of it.
    #[track_caller]
    pub(crate) fn until_recorded(&mut self, home: &Home, name: &str, count: usize) {
        let end = Instant::now() + PATIENCE;
        loop {
            let reader =
                boundlane_store::Reader::open(&boundlane_store::StateDir::at(home.state()));
            let streams = reader.ok().flatten().map(|reader| reader.streams_of(name));
            let streams = streams.transpose().ok().flatten().unwrap_or_default();
            let found: u64 = streams.iter().map(|state| state.tally.records()).sum();
            if found >= count as u64 {
                return;
            }
            match self.err.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
                Err(_) => panic!("{found} of {count} records:\n{}", self.said.join("\n")),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
        self.signal(Signal::KILL);
    }
}

fn listen(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (saying, said): (Sender<String>, _) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if saying.send(line).is_err() {
                break;
            }
        }
    });
    said
}
