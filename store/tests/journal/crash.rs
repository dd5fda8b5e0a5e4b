//! A writer that is killed, again and again.

use std::process::{Child, Command, Stdio};

use boundlane_store::{Reader, StateDir};

use crate::feed::{
    Fate, assert_sound, end_of_item, fate, gap_after, open, part, reader, rows, state,
};

/// Lines between two kills: a few commits.
const STRIDE: u64 = 240;
const KILLS: u64 = 50;
const DIR: &str = "BOUNDLANE_STORE_TEST_CRASH_DIR";

/// Appends lines from the stored place to the end, one to four items a commit.
fn write_on(dir: &StateDir, lines: u64) {
    let mut journal = open(dir);
    let stream = journal.stream("a").unwrap();
    let mut version = stream.as_ref().map(|stream| stream.version);
    let mut line = stream.map_or(0, |stream| stream.place.parse().unwrap());
    while line < lines {
        let mut parts = Vec::new();
        for _ in 0..=line % 4 {
            let end = end_of_item(line, lines);
            parts.push(part("a", line..end, version));
            version = Some(version.unwrap_or(0) + 1);
            line = end;
        }
        let items: Vec<_> = parts.iter().map(crate::feed::Part::item).collect();
        journal.append(&items).unwrap();
    }
}

/// Every line below `lines` is once where it must be, in order.
fn assert_once(dir: &StateDir, lines: u64) {
    let rows = rows(&reader(dir));
    let expected: Vec<_> = (0..lines)
        .filter(|line| fate(*line) == Fate::Record)
        .map(|line| format!("line {line}"))
        .collect();
    let raws: Vec<_> = rows.iter().filter_map(|row| row.raw.as_deref()).collect();
    assert_eq!(raws, expected);
    let open = reader(dir).open_losses().unwrap();
    let lost = |kind: &str| -> u64 {
        let numbered = rows.iter().filter(|row| row.kind.as_deref() == Some(kind));
        let numbered: i64 = numbered.filter_map(|row| row.count).sum();
        let open = open.iter().filter(|loss| loss.kind == kind);
        u64::try_from(numbered).unwrap()
            + open.map(boundlane_store::GrowingLoss::lines).sum::<u64>()
    };
    let refused = (0..lines).filter(|line| fate(*line) == Fate::Refused);
    assert_eq!(lost("drops"), refused.count() as u64);
    let gaps = (0..lines).filter(|line| gap_after(*line)).count();
    assert_eq!(lost("gap"), gaps as u64);
}

/// The writer that is killed; by itself it proves that a sequence written whole is there once.
#[test]
fn a_sequence_written_whole_is_there_once() {
    if let Some(dir) = std::env::var_os(DIR) {
        write_on(&StateDir::at(dir), u64::MAX);
        return;
    }
    let (_parent, dir) = state();
    write_on(&dir, 500);
    assert_once(&dir, 500);
    assert_sound(&dir);
}

fn spawn(dir: &StateDir) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::a_sequence_written_whole_is_there_once"])
        .env(DIR, dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The line that the journal has durably reached.
fn durable(dir: &StateDir) -> u64 {
    let Some(reader) = Reader::open(dir).unwrap() else {
        return 0;
    };
    let stream = reader.stream("a").unwrap();
    stream.map_or(0, |stream| stream.place.parse().unwrap())
}

/// A writer killed with SIGKILL at 50 moments spread over its durable progress, started again each
/// time: every line is there once, the books balance, fsck has nothing to say.
#[test]
fn a_writer_killed_fifty_times_writes_every_line_once() {
    let (_parent, dir) = state();
    let mut killed = 0;
    for kill in 0..KILLS {
        let target = STRIDE * kill;
        let mut writer = spawn(&dir);
        while durable(&dir) < target {
            assert_eq!(
                writer.try_wait().unwrap(),
                None,
                "the writer ended by itself"
            );
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        killed += u64::from(!writer.wait().unwrap().success());
        if dir.journal_path().exists() {
            assert_once(&dir, durable(&dir));
            assert_sound(&dir);
        }
    }
    assert_eq!(killed, KILLS, "no writer ended by itself");
    let lines = durable(&dir) + STRIDE;
    write_on(&dir, lines);
    assert_once(&dir, lines);
    assert_sound(&dir);
}
