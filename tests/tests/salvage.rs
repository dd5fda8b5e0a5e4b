//! A damaged journal, from the command line: what is still answered, and what is said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use boundlane_tests::Home;

fn denied(n: usize) -> String {
    format!(
        "[17912916{n:02}.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /usr/bin/curl(7) -> h{n}.example:443 [policy:-]\n"
    )
}

fn ingest(home: &Home, n: usize, more: &[&str]) -> boundlane_tests::Ran {
    let file = home.file(&format!("{n}.log"), denied(n));
    let mut arguments = vec!["ingest", file.to_str().unwrap(), "--sandbox", "s"];
    arguments.extend(more);
    home.run(arguments)
}

fn journal(home: &Home) -> PathBuf {
    home.state().join("journal.sqlite")
}

fn zero(path: &PathBuf, at: u64, bytes: usize) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&vec![0; bytes], at).unwrap();
}

/// The hosts that `log` lists; one that comes twice fails the test.
fn hosts(home: &Home, state: &str) -> BTreeSet<String> {
    let log = home.run(["log", "-o", "jsonl", "--state-dir", state]).ok();
    let mut hosts = BTreeSet::new();
    for row in log.json_lines() {
        if let Some(host) = row["host"].as_str() {
            assert!(hosts.insert(host.to_owned()), "{host} twice: {log:?}");
        }
    }
    hosts
}

/// The header is gone, and with it all that SQLite needs: every entry is still there, once, and a file that
/// was read is not read again.
#[test]
fn a_journal_without_its_header_is_read_on() {
    for archived in [&["--no-archive"][..], &[]] {
        let home = Home::new();
        let state = home.state().to_str().unwrap().to_owned();
        for n in 0..5 {
            ingest(&home, n, archived).ok();
        }
        zero(&journal(&home), 0, 100);
        home.run(["fsck"]).ended_with(5);
        let ran = ingest(&home, 5, archived).ok();
        assert!(ran.stderr().contains("the journal was damaged"), "{ran:?}");
        assert!(ran.stderr().contains(".damaged"), "{ran:?}");
        let again = ingest(&home, 3, archived).ok();
        assert!(
            !again.stderr().contains("the journal was damaged"),
            "{again:?}"
        );
        assert_eq!(hosts(&home, &state).len(), 6);
        home.run(["fsck"]).ok();
        home.run(["status"]).ok();
    }
}

/// A block that is lost from the journal is read from the archive; without one its numbers are named.
#[test]
fn a_lost_block_is_read_from_the_archive_or_named() {
    for (archived, left) in [(&["--no-archive"][..], 5), (&[], 6)] {
        let home = Home::new();
        let state = home.state().to_str().unwrap().to_owned();
        for n in 0..5 {
            ingest(&home, n, archived).ok();
        }
        lose_block_of(&home, "h2.example");
        let ran = ingest(&home, 5, archived).ok();
        assert!(ran.stderr().contains(" are missing ("), "{ran:?}");
        let found = hosts(&home, &state);
        assert_eq!(found.len(), left, "{found:?}");
        let complete = home.run(["log", "--require-complete", "-o", "jsonl"]);
        assert_eq!(complete.code(), 4, "{complete:?}");
        home.run(["fsck"]).ok();
    }
}

/// Spoils the first bytes of the block that holds `text`, wherever they lie.
fn lose_block_of(home: &Home, text: &str) {
    let path = journal(home);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let bodies: Vec<(i64, i64, Vec<u8>)> = db
        .prepare("SELECT packed, plain_bytes, body FROM blocks")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    drop(db);
    let holds = |(packed, plain_bytes, body): &&(i64, i64, Vec<u8>)| {
        let plain = match packed {
            0 => body.clone(),
            _ => zstd::bulk::decompress(body, usize::try_from(*plain_bytes).unwrap()).unwrap(),
        };
        String::from_utf8(plain).unwrap().contains(text)
    };
    let (_, _, body) = bodies.iter().find(holds).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() - body.len() {
        if bytes[at..].starts_with(&body[..32]) {
            zero(&path, at as u64, 32);
        }
    }
}

/// `fsck --salvage` leaves the damaged journal as it is and says in numbers what it copied.
#[test]
fn a_salvage_by_hand_says_what_it_copied() {
    let home = Home::new();
    for n in 0..5 {
        ingest(&home, n, &["--no-archive"]).ok();
    }
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (copy, whole) = (path("copy"), path("whole"));
    let whole = home
        .run(["fsck", "--salvage", &whole, "--json"])
        .ok()
        .json();
    assert_eq!(whole["salvaged"][0]["whole"], true, "{whole}");
    lose_block_of(&home, "h2.example");
    let bytes = std::fs::read(journal(&home)).unwrap();
    let ran = home
        .run(["fsck", "--salvage", &copy, "--json"])
        .ended_with(5);
    let document = ran.json();
    let salvaged = &document["salvaged"][0];
    assert!(
        salvaged["missing_entries"].as_u64().unwrap() > 0,
        "{document}"
    );
    assert_eq!(salvaged["checkpoints_lost"], 0, "{document}");
    assert_eq!(std::fs::read(journal(&home)).unwrap(), bytes);
    let into = document["into"].as_str().unwrap();
    assert_eq!(hosts(&home, into).len(), 4);
    home.run(["fsck", "--state-dir", into]).ok();
    home.run(["fsck", "--salvage", &copy]).ended_with(2);
}
