//! A journal that nobody acknowledges, flooded: `flood [LINES] [KILLS]`, by default 10,000,000 lines of 50 sandboxes
//! and 20 times SIGKILL.
//!
//! Every line's sandbox and outcome follow from its number, so that what must be stored or counted as dropped is
//! known for each. Prints the resident memory of each life, the disk that is taken beside the bound, and ends
//! with 1 when one line is unaccounted for.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a terminal"
)]

use std::error::Error;
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::time::Duration;

use boundlane_record::{Books, EntryBatch, Kind, Micros, Outcome, Row, StreamName};
use boundlane_store::{Checkpoint, Item, Journal, Limits, Reader, Setup, StateDir, WhenFull, fsck};

type Failure = Box<dyn Error>;

const SANDBOXES: u64 = 50;
const ITEM_LINES: u64 = 500;
const STORED_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Between two looks at the writer.
const LOOK: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let done = match arguments.next().as_deref() {
        Some("write") => {
            let (path, lines) = (arguments.next(), arguments.next());
            write(&path.unwrap_or_default(), number(lines, 0))
        }
        lines => {
            let lines = number(lines.map(str::to_owned), 10_000_000);
            flood(lines, number(arguments.next(), 20))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("flood: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn number(text: Option<String>, usual: u64) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn name(sandbox: u64) -> StreamName {
    StreamName {
        stream: format!("gateway/{sandbox}"),
        sandbox: Some(format!("agent-{sandbox}")),
        sandbox_id: Some(format!("00000000-0000-4000-8000-{sandbox:012}")),
        source: "gateway".into(),
        ..StreamName::default()
    }
}

/// Line `n` of a sandbox is a denial or not.
fn is_denied(sandbox: u64, line: u64) -> bool {
    (line + sandbox).is_multiple_of(7)
}

/// How many lines each sandbox brings: the first is as loud as all others together.
fn lines_of(sandbox: u64, lines: u64) -> u64 {
    let items = lines / ITEM_LINES;
    let loud = items / 2;
    let quiet = (items - loud) / (SANDBOXES - 1);
    ITEM_LINES * if sandbox == 0 { loud } else { quiet }
}

/// Goes on from the stored places to the end.
fn write(path: &str, lines: u64) -> Result<(), Failure> {
    let setup = Setup {
        program: "flood".into(),
        machine_label: "flood".into(),
        machine_id: None,
        redaction: 1,
        now: Micros(1),
        known_heads: Vec::new(),
    };
    let (mut journal, _) = Journal::open(&StateDir::at(path), &setup)?;
    journal.set_limits(&Limits {
        queued_stored_bytes_max: STORED_BYTES_MAX,
        ..Limits::default()
    })?;
    let mut places = Vec::new();
    for sandbox in 0..SANDBOXES {
        let stored = journal.stream(&name(sandbox).stream)?;
        let place = stored.as_ref().map(|stored| stored.place.parse());
        let version = stored.as_ref().map(|stored| stored.version);
        places.push((place.transpose()?.unwrap_or(0), version));
    }
    let mut entries = EntryBatch::new();
    loop {
        let mut is_over = true;
        for turn in 0..2 * (SANDBOXES - 1) {
            let sandbox = if turn % 2 == 0 { 0 } else { turn / 2 + 1 };
            let (place, version) = &mut places[usize::try_from(sandbox)?];
            if *place < lines_of(sandbox, lines) {
                append(&mut journal, sandbox, place, version, &mut entries)?;
                is_over = false;
            }
        }
        if is_over {
            return Ok(());
        }
    }
}

fn append(
    journal: &mut Journal,
    sandbox: u64,
    place: &mut u64,
    version: &mut Option<u64>,
    entries: &mut EntryBatch,
) -> Result<(), Failure> {
    let name = name(sandbox);
    let at = Micros(1_791_291_600_000_000 + i64::try_from(*place)? * 1000);
    entries.clear();
    for line in *place..*place + ITEM_LINES {
        let outcome = if is_denied(sandbox, line) {
            "denied"
        } else {
            "allowed"
        };
        let mut row = Row {
            kind: Some("decision".into()),
            outcome: Some(outcome.into()),
            time: Some(at),
            observed: Some(at),
            raw: Some(
                format!(
                    "{line} NET:OPEN -> h{}.example.net:443",
                    line * 7919 % 99_991
                )
                .into(),
            ),
            ..Row::default()
        };
        name.label(&mut row);
        entries.push(&row);
    }
    *place += ITEM_LINES;
    let item = Item {
        stream: &name,
        entries,
        at,
        books: Books {
            lines_read: ITEM_LINES,
            records: ITEM_LINES,
            ..Books::default()
        },
        expects: *version,
        checkpoint: &Checkpoint {
            place: place.to_string(),
            ..Checkpoint::default()
        },
        open_losses: &[],
        when_full: WhenFull::Shed,
    };
    *version = Some(journal.append(&[item])?.items[0].version);
    Ok(())
}

fn flood(lines: u64, kills: u64) -> Result<(), Failure> {
    let work = tempfile::tempdir()?;
    let path = work.path().join("state");
    let total: u64 = (0..SANDBOXES).map(|sandbox| lines_of(sandbox, lines)).sum();
    let mut most_kib = Vec::new();
    for life in 0..=kills {
        let until = if life < kills {
            total * (life + 1) / (kills + 1)
        } else {
            u64::MAX
        };
        most_kib.push(live(&path, lines, until)?);
    }
    println!("{total} lines of {SANDBOXES} sandboxes, killed {kills} times");
    let (first, last) = (most_kib[0], most_kib[most_kib.len() - 1]);
    let most = most_kib.iter().max().copied().unwrap_or(0);
    println!("resident memory: {first} KiB in the first life, {last} in the last, {most} at most");
    let dir = StateDir::at(&path);
    let size = |suffix: &str| {
        let mut name = dir.journal_path().into_os_string();
        name.push(suffix);
        std::fs::metadata(name).map_or(0, |file| file.len())
    };
    println!(
        "disk: {} bytes and {} of -wal, the bound is {STORED_BYTES_MAX}",
        size(""),
        size("-wal")
    );
    account(&dir, lines)
}

/// One life of the writer, ended by SIGKILL once so many lines are behind it. The most memory that was seen.
fn live(path: &Path, lines: u64, until: u64) -> Result<u64, Failure> {
    let mut writer = Command::new(std::env::current_exe()?)
        .arg("write")
        .arg(path)
        .arg(lines.to_string())
        .spawn()?;
    let mut most = 0;
    loop {
        most = most.max(resident_kib(&writer));
        if let Some(status) = writer.try_wait()? {
            return if status.success() {
                Ok(most)
            } else {
                Err("the writer failed".into())
            };
        }
        let reader = Reader::open(&StateDir::at(path)).ok().flatten();
        let totals = reader.and_then(|reader| reader.totals().ok());
        if totals.is_some_and(|totals| totals.books.lines_read >= until) {
            writer.kill()?;
            writer.wait()?;
            return Ok(most);
        }
        #[allow(
            clippy::disallowed_methods,
            reason = "memory is sampled: nothing announces it"
        )]
        std::thread::sleep(LOOK);
    }
}

fn resident_kib(writer: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", writer.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next());
    kib.and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// Every line is stored, or counted as dropped under its sandbox and outcome.
fn account(dir: &StateDir, lines: u64) -> Result<(), Failure> {
    let reader = Reader::open(dir)?.ok_or("there is no journal")?;
    let mut dropped = vec![(0_u64, 0_u64); usize::try_from(SANDBOXES)?];
    let mut note = |stream: Option<&str>, count: u64, denied: u64| {
        let sandbox = stream.and_then(|stream| stream.strip_prefix("gateway/")?.parse().ok());
        let sandbox: usize = sandbox.unwrap_or(usize::MAX);
        if let Some(sum) = dropped.get_mut(sandbox) {
            *sum = (sum.0 + count, sum.1 + denied);
        }
    };
    let streams = reader.streams()?;
    for loss in reader.open_losses()? {
        let stream = streams.iter().find(|stream| stream.id == loss.stream);
        let stream = stream.map(|stream| stream.name.stream.as_str());
        note(stream, loss.lines(), loss.denied.unwrap_or(0));
    }
    reader.each_entry(boundlane_store::Select::all(), |found| {
        if let boundlane_store::Found::Entry(_, entry) = found
            && let Ok(row) = boundlane_record::canonical::decode(entry)
            && row.kind.as_deref() == Some(Kind::Drops.word())
        {
            let whole = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            note(row.stream.as_deref(), whole(row.count), whole(row.denied));
        }
        std::ops::ControlFlow::<()>::Continue(())
    })?;
    let mut wrong = 0;
    for sandbox in 0..SANDBOXES {
        let stored = reader
            .stream(&name(sandbox).stream)?
            .ok_or("a stream is missing")?;
        let all = lines_of(sandbox, lines);
        let denied = (0..all).filter(|line| is_denied(sandbox, *line)).count() as u64;
        let kept = stored.tally.records();
        let kept_denied = stored.tally.of(Kind::Decision, Some(Outcome::Denied));
        let (lost, lost_denied) = dropped[usize::try_from(sandbox)?];
        if kept + lost != all || kept_denied + lost_denied != denied {
            wrong += 1;
            println!(
                "sandbox {sandbox}: {kept} + {lost} of {all}, denied {kept_denied} + {lost_denied} of {denied}"
            );
        }
        if sandbox < 2 {
            println!(
                "sandbox {sandbox}: {kept} stored, {lost} dropped, {kept_denied} and {lost_denied} of them denied"
            );
        }
    }
    let mut findings = Vec::new();
    fsck(
        dir,
        &mut |finding| findings.push(finding.to_string()),
        &mut |_| {},
    )?;
    match (wrong, findings.is_empty()) {
        (0, true) => Ok(()),
        _ => Err(format!("{wrong} sandboxes do not add up; {findings:?}").into()),
    }
}
