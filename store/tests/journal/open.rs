//! Opening: creation, identity, succession.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use boundlane_record::tree::empty_root;
use boundlane_record::{Micros, Row, Seq, TreeSize};
use boundlane_store::{AppendError, Journal, KnownHead, OpenError, Reader, Setup, StateDir, Why};

use crate::feed::{assert_sound, open, part, raws, reader, rows, setup, state};

fn head_of(dir: &StateDir) -> KnownHead {
    let head = reader(dir).head().unwrap();
    KnownHead {
        journal: head.journal,
        size: head.size,
        root: head.root,
    }
}

fn knowing(heads: &[KnownHead]) -> Setup {
    Setup {
        known_heads: heads.to_vec(),
        ..setup()
    }
}

fn evidence(row: &Row<'_>) -> serde_json::Value {
    serde_json::from_str(row.evidence.as_deref().unwrap()).unwrap()
}

/// A reader of a directory that is not there says so, and makes nothing.
#[test]
fn a_reader_creates_neither_directory_nor_journal() {
    let (_parent, dir) = state();
    assert!(Reader::open(&dir).unwrap().is_none());
    assert!(!dir.exists());
    dir.create().unwrap();
    assert!(Reader::open(&dir).unwrap().is_none());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A new journal begins with the entry that says so, in files that are their owner's alone.
#[test]
fn a_new_journal_begins_with_its_start_in_private_files() {
    let (_parent, dir) = state();
    let (journal, opened) = Journal::open(&dir, &setup()).unwrap();
    assert_eq!(opened.began.unwrap().why, Why::New);
    assert_eq!((opened.size, journal.id().len()), (TreeSize(1), 32));
    let rows = rows(&reader(&dir));
    assert_eq!(rows[0].cause.as_deref(), Some("journal_start"));
    let start = evidence(&rows[0]);
    assert_eq!(start["why"], "new");
    assert_eq!(start["program"], "boundlane 0.1.0");
    assert_eq!(start.get("predecessor"), None);
    drop(journal);
    let mut names = Vec::new();
    for file in fs::read_dir(dir.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.path());
        names.push(file.file_name().into_string().unwrap());
    }
    names.sort();
    let expected = [
        "digest.key",
        "journal.sqlite",
        "journal.sqlite-shm",
        "journal.sqlite-wal",
    ];
    assert_eq!(names, expected, "a writer keeps `-wal` and `-shm` on close");
}

/// A known head that lies on the tree changes nothing, at any size.
#[test]
fn known_heads_on_the_tree_open_the_same_journal() {
    let (_parent, dir) = state();
    let mut heads = Vec::new();
    let mut journal = open(&dir);
    let mut version = None;
    for step in 0..20 {
        let more = part("a", step * 90..(step + 1) * 90, version);
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
        heads.push(head_of(&dir));
    }
    drop(journal);
    heads.push(KnownHead {
        journal: "another".into(),
        size: TreeSize(9),
        root: empty_root(),
    });
    let (journal, opened) = Journal::open(&dir, &knowing(&heads)).unwrap();
    assert_eq!((opened.began, opened.set_aside), (None, None));
    assert_eq!(journal.id(), heads[0].journal);
}

/// An older copy of a journal whose archive is ahead is kept aside; the new one names it.
#[test]
fn an_older_copy_is_set_aside_and_the_new_journal_names_it() {
    let (_parent, dir) = state();
    open(&dir).append(&[part("a", 0..5, None).item()]).unwrap();
    let ahead = KnownHead {
        size: TreeSize(1000),
        ..head_of(&dir)
    };
    let (journal, opened) = Journal::open(&dir, &knowing(std::slice::from_ref(&ahead))).unwrap();
    let began = opened.began.unwrap();
    assert_eq!(began.why, Why::Restored);
    let named = began.predecessor.unwrap();
    assert_eq!(
        (named.journal.as_str(), named.size),
        (ahead.journal.as_str(), TreeSize(1000))
    );
    assert_ne!(journal.id(), ahead.journal);

    let rows = rows(&reader(&dir));
    assert_eq!(rows[1].cause.as_deref(), Some("restored"));
    assert_eq!(
        (rows[1].extent.as_deref(), rows[1].stream.as_ref()),
        (Some("unknown"), None)
    );
    assert_eq!(evidence(&rows[1])["root"], ahead.root.to_hex());
    assert_eq!(evidence(&rows[0])["predecessor"]["size"], 1000);

    let kept = opened.set_aside.unwrap();
    assert_eq!(
        kept,
        dir.journals_dir().join(format!("{}.sqlite", ahead.journal))
    );
    assert_eq!(
        fs::metadata(&kept).unwrap().permissions().mode() & 0o777,
        0o400
    );
    let old = Reader::open_file(&kept).unwrap().unwrap();
    assert_eq!(raws(&old).len(), 4);
    assert_eq!(fs::read_dir(dir.journals_dir()).unwrap().count(), 1);
    assert_sound(&dir);
}

/// Newest entries deleted while nobody ran, with a head that fits the rest: the archive knows better.
#[test]
fn a_cut_tail_is_noticed_at_the_next_start() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..9, None).item()]).unwrap();
    let before = fs::read(dir.journal_path()).unwrap();
    let archived = {
        journal.append(&[part("a", 9..14, Some(1)).item()]).unwrap();
        head_of(&dir)
    };
    drop(journal);
    let db = rusqlite::Connection::open(dir.journal_path()).unwrap();
    db.execute(
        "DELETE FROM blocks WHERE first = (SELECT max(first) FROM blocks)",
        [],
    )
    .unwrap();
    drop((db, before));
    let (_, opened) = Journal::open(&dir, &knowing(std::slice::from_ref(&archived))).unwrap();
    assert_eq!(opened.salvaged.unwrap().salvage.size, archived.size);
}

/// The same id with another history is a fork.
#[test]
fn another_history_under_the_same_id_is_a_fork() {
    let (_parent, dir) = state();
    open(&dir).append(&[part("a", 0..5, None).item()]).unwrap();
    let other = KnownHead {
        size: TreeSize(3),
        root: empty_root(),
        ..head_of(&dir)
    };
    let (_journal, opened) = Journal::open(&dir, &knowing(&[other])).unwrap();
    assert_eq!(opened.began.unwrap().why, Why::Fork);
    assert_eq!(rows(&reader(&dir))[1].cause.as_deref(), Some("forked"));
}

/// A state directory copied to another machine begins a journal of its own there.
#[test]
fn a_journal_of_another_machine_is_set_aside() {
    let (_parent, dir) = state();
    let id = open(&dir).id().to_owned();
    let elsewhere = Setup {
        machine_id: Some("another".into()),
        ..setup()
    };
    let (journal, opened) = Journal::open(&dir, &elsewhere).unwrap();
    assert_eq!(opened.began.unwrap().predecessor.unwrap().journal, id);
    drop(journal);
    let (_journal, opened) = Journal::open(&dir, &elsewhere).unwrap();
    assert_eq!(opened.began, None);
    let unknown = Setup {
        machine_id: None,
        ..setup()
    };
    assert_eq!(Journal::open(&dir, &unknown).unwrap().1.began, None);
}

/// A journal is never replaced under a writer that lives, and a replaced one is not written.
#[test]
fn a_journal_in_use_is_not_set_aside() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let other = KnownHead {
        root: empty_root(),
        ..head_of(&dir)
    };
    let refused = Journal::open(&dir, &knowing(&[other]));
    assert!(matches!(refused, Err(OpenError::InUse { .. })));

    fs::rename(dir.journal_path(), dir.path().join("moved")).unwrap();
    let replaced = journal.append(&[part("a", 0..1, None).item()]);
    assert!(matches!(replaced, Err(AppendError::Replaced)));
    let poisoned = journal.append(&[part("a", 0..1, None).item()]);
    assert!(matches!(poisoned, Err(AppendError::Poisoned)));
}

/// A journal that is gone while the archive knows one: the new one says that state was lost.
#[test]
fn a_lost_journal_leaves_a_gap_in_the_next() {
    let (_parent, dir) = state();
    drop(open(&dir));
    let known = head_of(&dir);
    fs::remove_file(dir.journal_path()).unwrap();
    let (_journal, opened) = Journal::open(&dir, &knowing(std::slice::from_ref(&known))).unwrap();
    assert_eq!(opened.began.unwrap().why, Why::StateLost);
    let rows = rows(&reader(&dir));
    assert_eq!(rows[1].cause.as_deref(), Some("checkpoint_lost"));
    assert_eq!(evidence(&rows[1])["journal"], known.journal.as_str());
    let left = dir.journals_dir().join("left-wal");
    assert!(
        left.exists(),
        "the old `-wal` is not read as the new journal's"
    );
}

/// A rollback journal whose file is gone is not rolled back into the file that follows.
#[test]
fn a_rollback_journal_of_a_lost_file_is_applied_to_the_next() {
    let (_parent, dir) = state();
    let old = open(&dir).id().to_owned();
    let mut hot = dir.journal_path().into_os_string();
    hot.push("-journal");
    let db = rusqlite::Connection::open(dir.journal_path()).unwrap();
    // Pages do not fit into the cache, so they are written while the old ones lie in the journal.
    db.execute_batch(
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN; \
         UPDATE journal SET written_by = 'x'; CREATE TABLE t (b)",
    )
    .unwrap();
    for _ in 0..100 {
        let insert = "INSERT INTO t VALUES (randomblob(4000))";
        db.execute(insert, []).unwrap();
    }
    let bytes = fs::read(&hot).unwrap();
    drop(db);
    fs::remove_file(dir.journal_path()).unwrap();
    fs::write(&hot, bytes).unwrap();

    let (journal, opened) = Journal::open(&dir, &setup()).unwrap();
    assert_ne!(
        journal.id(),
        old,
        "the old file's page took the new one's place"
    );
    drop(journal);
    assert_eq!(
        Journal::open(&dir, &setup()).unwrap().1.journal,
        opened.journal
    );
    assert_sound(&dir);
    assert!(dir.journals_dir().join("left-journal").exists());
}

/// A crash between any two steps of a succession ends in one whole journal that names the old one.
#[test]
fn a_succession_cut_short_is_ended_at_the_next_start() {
    let (_parent, dir) = state();
    drop(open(&dir));
    let other = KnownHead {
        root: empty_root(),
        ..head_of(&dir)
    };
    let (journal, _) = Journal::open(&dir, &knowing(&[other])).unwrap();
    let id = journal.id().to_owned();
    drop(journal);
    // As if killed after the old file was moved and before the new one got its place.
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(dir.path().join(format!("journal.sqlite{suffix}"))).unwrap();
    }
    fs::rename(dir.journal_path(), dir.path().join("journal.sqlite.next")).unwrap();
    fs::write(dir.path().join("journal.sqlite.building"), b"half").unwrap();
    let (journal, opened) = Journal::open(&dir, &setup()).unwrap();
    assert_eq!((journal.id(), opened.began), (id.as_str(), None));
    // As if killed before the old file was moved: the next file is stale.
    fs::write(dir.path().join("journal.sqlite.next"), b"stale").unwrap();
    drop(journal);
    assert_eq!(open(&dir).id(), id);
    assert!(!dir.path().join("journal.sqlite.next").exists());
}

/// A key that was lost voids what was made with it, and is no other machine's.
#[test]
fn a_new_key_voids_marks_and_fingerprints_and_keeps_the_journal() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..5, None).item()]).unwrap();
    let id = journal.id().to_owned();
    drop(journal);
    fs::remove_file(dir.digest_key_path()).unwrap();
    let (journal, opened) = Journal::open(&dir, &setup()).unwrap();
    assert_eq!((journal.id(), opened.key_replaced), (id.as_str(), true));
    let stream = journal.stream("a").unwrap().unwrap();
    assert!(journal.fingerprints(stream.id).unwrap().is_empty());
    drop(journal);
    assert!(!Journal::open(&dir, &setup()).unwrap().1.key_replaced);
}

/// Two processes that begin at once begin one journal.
#[test]
fn writers_that_begin_at_once_share_one_journal() {
    let (_parent, dir) = state();
    let ids: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|n| {
                let dir = &dir;
                scope.spawn(move || {
                    let mut journal = open(dir);
                    let name = format!("writer {n}");
                    journal.append(&[part(&name, 0..9, None).item()]).unwrap();
                    journal.id().to_owned()
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(reader(&dir).streams().unwrap().len(), 4);
    assert_sound(&dir);
}

/// Opening again checks the last entries and says how many.
#[test]
fn a_start_derives_the_last_entries_again_and_no_more() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    let mut version = None;
    for step in 0..30 {
        let more = part("a", step * 400..(step + 1) * 400, version);
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
    let size = journal.head().unwrap().size.0;
    drop(journal);
    let (mut journal, opened) = Journal::open(&dir, &setup()).unwrap();
    assert!(size > 10_256, "the journal is longer than what is checked");
    assert!((10_000..10_256).contains(&opened.entries_checked));
    journal
        .acknowledge(boundlane_store::Consumer::Archiver, Seq(size), Micros(1))
        .unwrap();
}
