//! The program under test, following the gateway of a run.

use std::io::{BufRead, BufReader, Read};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::Home;

/// Every wait of the program is divided by this.
pub const PACE: &str = "50";
/// How long an asked-for end may take.
pub const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// A running `boundlane forward`.
#[derive(Debug)]
pub struct Forwarder {
    pid: Pid,
    ended: Receiver<ExitStatus>,
    said: Receiver<String>,
    /// What it said so far.
    log: Vec<String>,
}

impl Forwarder {
    /// Starts it on the state directory of `home`, in a hurry.
    pub fn start(home: &Home, url: &str) -> Forwarder {
        Forwarder::start_paced(home, url, PACE)
    }

    /// Starts it with every wait divided by `pace`.
    pub fn start_paced(home: &Home, url: &str, pace: &str) -> Forwarder {
        let arguments = ["forward", "--gateway", url, "--all", "--pace", pace];
        let mut command = home.command(arguments);
        command.stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (saying, said) = channel();
        listen(child.stdout.take().unwrap(), saying.clone());
        listen(child.stderr.take().unwrap(), saying);
        let pid = Pid::from_child(&child);
        until_it_listens(pid);
        let (ending, ended) = channel();
        std::thread::spawn(move || ending.send(child.wait().unwrap()));
        Forwarder {
            pid,
            ended,
            said,
            log: Vec::new(),
        }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until it says something, or for so long.
    pub fn wait_word(&mut self, at_most: Duration) {
        match self.said.recv_timeout(at_most) {
            Ok(line) => self.log.push(line),
            Err(RecvTimeoutError::Timeout) => {}
            // It has closed its output: nothing more will be said, so only time is waited for.
            Err(RecvTimeoutError::Disconnected) => {
                let _ = self.ended.recv_timeout(at_most);
            }
        }
    }

    /// Kills it if it still runs, waits until it is gone, and tells what it said.
    pub fn kill(mut self) -> Vec<String> {
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = self.ended.recv();
        self.log.extend(self.said.iter());
        std::mem::take(&mut self.log)
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// It does not within [`ENDS_WITHIN`], or not with 0.
    pub fn end(&mut self) -> Result<(), String> {
        let _ = kill_process(self.pid, Signal::TERM);
        match self.ended.recv_timeout(ENDS_WITHIN) {
            Ok(status) if status.code() == Some(0) => Ok(()),
            Ok(status) => Err(format!("ended with {status}")),
            Err(_) => {
                let _ = kill_process(self.pid, Signal::KILL);
                Err(format!("does not end within {ENDS_WITHIN:?}"))
            }
        }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

fn listen(pipe: impl Read + Send + 'static, saying: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if saying.send(line).is_err() {
                break;
            }
        }
    });
}

/// Waits until the process handles SIGTERM, or has ended: before that it is ended by it.
fn until_it_listens(pid: Pid) {
    const SIGTERM_BIT: u64 = 1 << 14;
    let status = format!("/proc/{}/status", pid.as_raw_nonzero());
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if caught.is_none_or(|mask| mask & SIGTERM_BIT != 0) || text.contains("State:\tZ") {
            return;
        }
        std::thread::yield_now();
    }
}
