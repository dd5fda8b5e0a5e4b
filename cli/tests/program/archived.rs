//! `log` where a part of the record is only in the archive.

use boundlane_archive::{Archiver, JournalId, Root};
use boundlane_record::tree::Edge;
use boundlane_record::{Micros, Row, Seq, canonical};

use crate::recorded::{AT, Home, allowed, denied};
use crate::run::run;

/// Writes rows of a sandbox as another, older journal's archive.
fn archive_older(home: &Home, numbers: &[u64]) {
    let root = Root::at(home.path().join(".local/state/boundlane/archive"));
    let journal = JournalId::parse("00000000000000000000000000000001").unwrap();
    let mut edge = Edge::new();
    for number in 1..=*numbers.iter().max().unwrap() {
        let row = Row {
            observed: Some(Micros(AT - 86_400_000_000 + i64::try_from(number).unwrap())),
            sandbox: Some("agent-1".into()),
            source: Some("import".into()),
            ..denied(0, "/bin/old", &format!("old-{number}"))
        };
        let mut bytes = Vec::new();
        canonical::encode(&row, &mut bytes);
        let before = edge.clone();
        edge.push(boundlane_record::tree::leaf_hash(&bytes));
        if numbers.contains(&number) {
            let entry: (Seq, &[u8]) = (Seq(number), &bytes);
            Archiver::open(root.clone())
                .unwrap()
                .write(&journal, &before, [entry])
                .unwrap();
        }
    }
}

/// An older journal's archived rows come first, then the journal's own, each once; what no file holds is
/// a gap of exactly its numbers; the last rows are found across the border.
#[test]
fn the_archive_and_the_journal_are_not_one_record() {
    let home = Home::new();
    home.record(
        "agent-1",
        &[allowed(0, "/bin/a", "new-1"), denied(1, "/bin/a", "new-2")],
    );
    archive_older(&home, &[1, 2, 4]);
    let hosts = |args: &[&str]| {
        let fixed = [
            "log",
            "agent-1",
            "-q",
            "--columns",
            "host,count",
            "--no-header",
            "-o",
            "csv",
        ];
        run(home.path(), &[&fixed, args].concat())
            .stdout
            .replace("\r\n", " ")
    };
    assert_eq!(hosts(&[]), "old-1, old-2, ,1 old-4, new-1, new-2, ");
    assert_eq!(hosts(&["-n", "3"]), "old-4, new-1, new-2, ");
    assert_eq!(hosts(&["-n", "4", "--deny"]), "old-2, ,1 old-4, new-2, ");
    let log = run(home.path(), &["log", "agent-1", "--require-complete"]);
    assert_eq!(log.code, 4);
    assert!(
        log.stderr.contains("1 entry that no file holds"),
        "{}",
        log.stderr
    );
    let list = run(home.path(), &["log", "--list", "-o", "jsonl"]);
    assert!(
        list.stdout.contains("\"records\":5,\"denied\":4"),
        "{}",
        list.stdout
    );
}

/// An archive without a journal is a record too: its sandboxes are found by reading it.
#[test]
fn an_archive_alone_is_nothing() {
    let home = Home::new();
    archive_older(&home, &[1, 2]);
    let args = ["--columns", "host", "--no-header"];
    let log = run(home.path(), &[&["log"][..], &args].concat());
    assert_eq!((log.code, log.stdout.as_str()), (0, "old-1\nold-2\n"));
    assert!(
        log.stderr
            .starts_with("sandbox `agent-1`\n2 records of `agent-1`; as imported")
    );
    home.record("agent-2", &[allowed(0, "/bin/a", "new-1")]);
    let older = run(home.path(), &[&["log", "agent-1"][..], &args].concat());
    assert_eq!(older.stdout, "old-1\nold-2\n");
    assert!(
        older
            .stderr
            .starts_with("2 records of `agent-1`; as imported"),
        "{}",
        older.stderr
    );
}

/// A file that cannot be read is named in the coverage, and the rest is shown.
#[test]
fn a_damaged_file_is_silence() {
    let home = Home::new();
    home.record("agent-1", &[allowed(0, "/bin/a", "new-1")]);
    archive_older(&home, &[1]);
    let table = home.path().join(".local/state/boundlane/archive/v=1");
    let day = std::fs::read_dir(table)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let file = std::fs::read_dir(day)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(&file, "no parquet").unwrap();
    let log = run(
        home.path(),
        &["log", "agent-1", "--columns", "host", "--no-header"],
    );
    assert_eq!((log.code, log.stdout.as_str()), (0, "new-1\n"));
    assert!(
        log.stderr
            .contains("incomplete: 1 file that cannot be read"),
        "{}",
        log.stderr
    );
}
