//! Journals of other versions, as committed files.

use std::fs;
use std::path::Path;

use boundlane_record::TreeSize;
use boundlane_store::{JOURNAL_SCHEMA, Journal, OpenError, Reader, StateDir, fsck};

use crate::feed::{assert_sound, findings, open, part, raws, setup, state};

/// The directory of a committed journal, copied so that nothing is written beside the fixture.
fn fixture(name: &str) -> (tempfile::TempDir, StateDir) {
    let (parent, dir) = state();
    dir.create().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    (parent, dir)
}

/// The first schema is read and checked as it is; a writer keeps a copy and brings it to today's.
#[test]
fn a_journal_of_schema_1_is_lost_on_the_way_to_todays() {
    let (_parent, dir) = fixture("v1");
    let reader = Reader::open(&dir).unwrap().unwrap();
    let head = reader.head().unwrap();
    assert_eq!(head.journal, "13cf37cfd1e154e522ae3356fceb1976");
    assert_eq!(head.size, TreeSize(534));
    assert_eq!(
        head.root.to_hex(),
        "fc274e8059b83a6258bd2e443d73e5eb0ef57a5dbfadd9741186268c9ca5bb3f"
    );
    assert_eq!(raws(&reader).len(), 516);
    drop(reader);
    assert_sound(&dir);
    let (mut journal, opened) = Journal::open(&dir, &setup()).unwrap();
    assert_eq!((opened.began, opened.losses_numbered), (None, 1));
    let kept = dir
        .journals_dir()
        .join(format!("{}.schema-1", opened.journal));
    let kept = rusqlite::Connection::open(kept).unwrap();
    let old: (u32, u64) = kept
        .query_row(
            "SELECT user_version, size FROM pragma_user_version, journal",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(old, (1, head.size.0));
    assert_eq!(opened.size.0, head.size.0 + 1);
    let version = journal.stream("a").unwrap().unwrap().version;
    journal
        .append(&[part("a", 600..620, Some(version)).item()])
        .unwrap();
    assert_sound(&dir);
}

/// A migrated journal has the columns of a new one, in the same order.
#[test]
fn a_migrated_journal_is_laid_out_otherwise_than_a_new_one() {
    let columns = |dir: &StateDir| {
        let db = rusqlite::Connection::open(dir.journal_path()).unwrap();
        let sql = "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_schema AS m, \
             pragma_table_info(m.name) AS c WHERE m.type = 'table' ORDER BY m.name, c.cid";
        let mut select = db.prepare(sql).unwrap();
        let rows = select.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                (row.get::<_, i64>(3)?, row.get::<_, i64>(4)?),
            ))
        });
        rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    let (_old, old) = fixture("v1");
    drop(Journal::open(&old, &setup()).unwrap());
    let (_new, new) = state();
    drop(open(&new));
    assert_eq!(columns(&old), columns(&new));
}

/// Every file of the directory with its bytes.
fn files(dir: &StateDir) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name(), fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// A newer program's journal is named with who wrote it, and not a byte of the directory changes.
#[test]
fn a_newer_schema_is_named_and_not_touched() {
    let (_parent, dir) = fixture("v99");
    let before = files(&dir);
    let opened = Journal::open(&dir, &setup());
    let Err(OpenError::NewerSchema(newer)) = opened else {
        panic!("{opened:?}")
    };
    assert_eq!(newer.written_by, "boundlane 9.0.0");
    assert_eq!((newer.found, newer.ours), (99, JOURNAL_SCHEMA));
    let read = Reader::open(&dir);
    assert!(matches!(read, Err(OpenError::NewerSchema(_))));
    assert!(fsck(&dir, &mut |_| {}, &mut |_| {}).is_err());
    assert_eq!(files(&dir), before);
}

/// A newer schema that still lies in the `-wal` alone is seen too.
#[test]
fn a_newer_schema_in_the_wal_alone_is_seen() {
    let (_parent, dir) = state();
    drop(open(&dir));
    let newer = rusqlite::Connection::open(dir.journal_path()).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    let header = fs::read(dir.journal_path()).unwrap();
    assert_eq!(header[63], 2, "the file itself still says 2");
    let opened = Journal::open(&dir, &setup());
    assert!(
        matches!(opened, Err(OpenError::NewerSchema(_))),
        "{opened:?}"
    );
    drop(newer);
    assert!(Reader::open(&dir).is_err());
}

/// The fixture has every kind of row that the schema knows, so that a change of schema meets them.
#[test]
fn the_fixture_of_schema_1_holds_rows_in_its_tables() {
    let (_parent, dir) = fixture("v1");
    let db = rusqlite::Connection::open(dir.journal_path()).unwrap();
    for table in [
        "journal",
        "blocks",
        "block_streams",
        "subtrees",
        "streams",
        "counts",
        "totals",
        "marks",
        "fingerprints",
        "open_losses",
        "losses",
        "loss_totals",
        "acks",
        "limits",
    ] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: u64 = db.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert!(rows > 0, "{table}");
    }
    drop(db);
    assert!(findings(&dir).is_empty());
}
