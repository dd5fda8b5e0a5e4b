//! `ingest` killed with SIGKILL at 200 moments spread evenly over its durable progress, on a file and on
//! a pipe that is fed from its start again: every line is in the journal once, and the books balance.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use boundlane_benches::workload::Workload;
use boundlane_record::{Kind, canonical};
use boundlane_store::{Found, Reader, Select, StateDir};
use boundlane_tests::{Home, feed};

const LINES: usize = 200_000;
/// Two passes of a hundred moments each, the second half a step later, so that they interleave.
const PASSES: usize = 2;
/// Steps of a pass: the last one ends at the end, where there is nothing left to kill.
const MOMENTS_PER_PASS: usize = 101;

/// How the log reaches the program.
#[derive(Clone, Copy)]
enum Way {
    File,
    Pipe,
}

struct Log {
    text: String,
    path: PathBuf,
}

impl Log {
    fn new(home: &Home) -> Log {
        let text = Workload::text(20_260_401, LINES);
        let path = home.file("agent.log", &text);
        Log { text, path }
    }

    fn start(&self, home: &Home, way: Way) -> Child {
        let mut arguments = vec!["ingest", "--sandbox", "killed", "--no-archive"];
        match way {
            Way::File => {
                arguments.push(self.path.to_str().unwrap());
                home.command(arguments).spawn().unwrap()
            }
            Way::Pipe => {
                arguments.push("-");
                let mut child = home
                    .command(arguments)
                    .stdin(Stdio::piped())
                    .spawn()
                    .unwrap();
                feed(&mut child, self.text.as_bytes());
                child
            }
        }
    }
}

/// Watches the journal from outside, as any reader may.
struct Watch {
    state: StateDir,
    reader: Option<Reader>,
}

impl Watch {
    fn new(state: &Path) -> Watch {
        Watch {
            state: StateDir::at(state),
            reader: None,
        }
    }

    /// Lines whose fate is durable.
    fn lines(&mut self) -> u64 {
        if self.reader.is_none() {
            self.reader = Reader::open(&self.state).ok().flatten();
        }
        let totals = self.reader.as_ref().and_then(|reader| reader.totals().ok());
        totals.map_or(0, |totals| totals.books.lines_read)
    }

    /// Waits until `lines` are durable or the child has ended; whether it is still running.
    fn wait_for(&mut self, lines: u64, child: &mut Child) -> bool {
        loop {
            if self.lines() >= lines {
                return true;
            }
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::yield_now();
        }
    }
}

/// Kills at each moment of one pass, then reads to the end. Returns how often it was killed.
fn pass(home: &Home, log: &Log, way: Way, offset: u64) -> usize {
    let step = (LINES / MOMENTS_PER_PASS) as u64;
    let mut watch = Watch::new(&home.state());
    let mut killed = 0;
    let mut target = offset;
    while target < LINES as u64 {
        let mut child = log.start(home, way);
        if watch.wait_for(target, &mut child) {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        target = target.max(watch.lines()) / step * step + step;
    }
    let ended = log.start(home, way).wait_with_output().unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    killed
}

/// What a record says that is checked: its raw text, and the policy in force for a decision.
struct Recorded {
    raw: String,
    policy: Option<Option<String>>,
}

/// Every record in number order, and how many entries of each kind there are.
fn recorded(state: &Path) -> (Vec<Recorded>, HashMap<String, u64>) {
    let reader = Reader::open(&StateDir::at(state)).unwrap().unwrap();
    let (mut raw, mut kinds) = (Vec::new(), HashMap::<String, u64>::new());
    let stopped = reader.each_entry(Select::all(), |found| {
        let Found::Entry(_, entry) = found else {
            return ControlFlow::Break(());
        };
        let row = canonical::decode(entry).unwrap();
        let kind = row.kind.as_deref().unwrap();
        *kinds.entry(kind.to_owned()).or_default() += 1;
        if Kind::from_word(kind).unwrap().is_record() {
            let policy = row.policy_hash.map(|hash| hash.into_owned());
            raw.push(Recorded {
                raw: row.raw.unwrap().into_owned(),
                policy: (kind == Kind::Decision.word()).then_some(policy),
            });
        }
        ControlFlow::Continue(())
    });
    assert_eq!(stopped.unwrap(), None, "an entry cannot be read");
    (raw, kinds)
}

fn check(home: &Home, log: &Log) {
    let (raw, kinds) = recorded(&home.state());
    let lines: Vec<&str> = log
        .text
        .lines()
        .filter(|line| !line.contains("] [openshell_supervisor] "))
        .collect();
    assert_eq!(
        raw.len(),
        lines.len(),
        "records, against lines that are records"
    );
    let mut policy: Option<String> = None;
    for (number, (stored, line)) in raw.iter().zip(&lines).enumerate() {
        match line.split_once('?') {
            None => assert_eq!(stored.raw, *line, "record {number}"),
            Some((before, _)) => assert!(stored.raw.starts_with(before), "record {number}"),
        }
        if let Some((_, hash)) = line.split_once("[policy_hash:") {
            policy = Some(hash.trim_end_matches(']').to_owned());
        }
        if let Some(in_force) = &stored.policy {
            assert_eq!(
                *in_force, policy,
                "L3: the policy in force moves with the place, record {number}"
            );
        }
    }
    assert_eq!(kinds.get("gap"), None, "nothing was lost");
    assert_eq!(kinds.get("drops"), None, "nothing was shed");
    let reader = Reader::open(&StateDir::at(home.state())).unwrap().unwrap();
    let books = reader.totals().unwrap().books;
    assert!(books.balance(), "L4: {books:?}");
    assert_eq!(
        books.lines_read, LINES as u64,
        "each line was taken once: {books:?}"
    );
    let fsck = home.run(["fsck"]).ok();
    assert!(
        fsck.stdout()
            .contains("every law that can be checked here holds"),
        "{fsck:?}"
    );
}

fn killed_at_200_moments(way: Way) {
    let mut killed = 0;
    for number in 0..PASSES {
        let home = Home::new();
        let log = Log::new(&home);
        let step = LINES / MOMENTS_PER_PASS;
        let offset = (step + number * step / PASSES) as u64;
        killed += pass(&home, &log, way, offset);
        check(&home, &log);
    }
    let _ = writeln!(std::io::stderr(), "killed {killed} times");
    // A fast disk can be more than a step ahead when the signal arrives; a third of the moments may be skipped.
    assert!(
        killed >= PASSES * MOMENTS_PER_PASS * 2 / 3,
        "killed only {killed} times"
    );
}

#[test]
fn a_file_whose_reader_is_killed_is_stored_once() {
    killed_at_200_moments(Way::File);
}

#[test]
fn a_pipe_fed_again_after_its_reader_was_killed_is_stored_once() {
    killed_at_200_moments(Way::Pipe);
}
