//! The power goes at every operation of what makes or replaces a journal file: SQLite's and our own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "how many crash points were tried")]

use std::fs;
use std::path::{Path, PathBuf};

use boundlane_powercut::Disk;
use boundlane_record::{Books, EntryBatch, Extent, Gap, GapCause, StreamName, TreeSize};

use super::tests::setup;
use super::*;
use crate::error::OpenError;
use crate::item::{Checkpoint, WhenFull};
use crate::loss::OpenLoss;
use crate::reader::Reader;
use crate::state_dir::StateDir;

/// How many times each crash point is tried: what is left behind is a matter of the seed.
const SEEDS: &str = "BOUNDLANE_POWER_SEEDS";
/// The journal's id in the fixture of schema 1.
const FIXTURE: &str = "13cf37cfd1e154e522ae3356fceb1976";
const FIXTURE_ENTRIES: i64 = 534;

/// A directory that goes with the test, and the disk under it.
struct World {
    dir: StateDir,
    disk: Disk,
    _parent: tempfile::TempDir,
}

impl World {
    fn new(files: &[PathBuf]) -> World {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path().canonicalize().unwrap());
        for file in files {
            fs::copy(file, dir.path().join(file.file_name().unwrap())).unwrap();
        }
        let disk = Disk::watch(dir.path()).unwrap();
        World {
            dir,
            disk,
            _parent: parent,
        }
    }

    /// Opens and closes. What the caller was told.
    fn open(&self, setup: &Setup) -> Result<Opened, OpenError> {
        Journal::open(&self.dir, setup).map(|(_, opened)| opened)
    }

    /// Names in the directory that are there for a while only.
    fn left_over(&self) -> Vec<String> {
        let names = [self.dir.path(), &self.dir.journals_dir()].map(names);
        let passing = |name: &String| name.contains(".building") || name.contains(".next");
        names.into_iter().flatten().filter(passing).collect()
    }

    fn assert_sound(&self) {
        let mut findings = Vec::new();
        let report = &mut |finding: crate::fsck::Finding| findings.push(finding.to_string());
        crate::fsck(&self.dir, report, &mut |_| {}).unwrap();
        assert_eq!(findings, Vec::<String>::new());
    }
}

/// What a failing test says about where it was.
struct SaidOnFailure(String);

impl Drop for SaidOnFailure {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0);
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let files = fs::read_dir(dir).into_iter().flatten();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Opens with the power going at operation 1, 2, ... until an opening meets no cut; after each one, for
/// each seed, `check` gets the world as it came up again and what the caller had been told.
fn at_each(
    name: &str,
    files: &[PathBuf],
    setup: &Setup,
    check: &dyn Fn(&World, Option<Opened>),
) -> usize {
    let seeds = std::env::var(SEEDS).map_or(1, |seeds| seeds.parse().unwrap());
    for point in 1.. {
        for seed in 0..seeds {
            let world = World::new(files);
            world.disk.cut_at(point);
            let seed = seed << 32 | point as u64;
            let told = world.open(setup);
            if !world.disk.is_off() {
                told.unwrap();
                let points = point - 1;
                println!("{name}: crash points: {points}");
                println!("{name}: seeds run: {}", points as u64 * seeds);
                return points;
            }
            let at = world.disk.log().pop().unwrap();
            world.disk.lose(seed).unwrap();
            let _said = SaidOnFailure(format!(
                "{name}: point {point} ({at}), seed {seed}: {told:?}"
            ));
            check(&world, told.ok());
        }
    }
    unreachable!("an opening has an end")
}

/// The files of a closed journal; its `-shm` is memory.
fn files(dir: &StateDir) -> Vec<PathBuf> {
    let names = names(dir.path()).into_iter();
    let kept = names.filter(|name| !name.ends_with("-shm"));
    kept.map(|name| dir.path().join(name)).collect()
}

/// A cut while a journal is laid out leaves none or a whole one; one that was promised stays.
#[test]
fn a_cut_leaves_half_a_new_journal() {
    let points = at_each("new journal", &[], &setup(), &|world, told| {
        let here = Reader::open(&world.dir).unwrap();
        let id = here.map(|reader| reader.head().unwrap().journal);
        let opened = world.open(&setup()).unwrap();
        assert!(!opened.key_replaced);
        assert_eq!(opened.size, TreeSize(1));
        let promised = told.map(|told| told.journal).or(id);
        assert!(promised.is_none_or(|id| id == opened.journal));
        assert_eq!(world.left_over(), Vec::<String>::new());
        assert_eq!(names(&world.dir.journals_dir()), Vec::<String>::new());
        world.assert_sound();
    });
    assert!(points > 30, "{points}");
}

/// A directory whose journal has an entry that lies in the `-wal` alone. Its head.
fn with_an_entry(dir: &StateDir) -> (Journal, Head) {
    let mut journal = Journal::open(dir, &setup()).unwrap().0;
    let stream = StreamName {
        stream: "a".into(),
        ..StreamName::default()
    };
    let gap = OpenLoss::Gap(Gap {
        cause: GapCause::Lagged,
        extent: Extent::Exact(3),
        from: None,
        to: None,
        after_cursor: None,
        before_cursor: None,
        evidence: None,
    });
    let item = Item {
        stream: &stream,
        entries: &EntryBatch::new(),
        at: Micros(1),
        books: Books::default(),
        expects: None,
        checkpoint: &Checkpoint::default(),
        open_losses: &[gap],
        when_full: WhenFull::Wait,
    };
    journal.append(&[item]).unwrap();
    journal.number_open_losses(Number::All, Micros(2)).unwrap();
    let head = journal.head().unwrap();
    (journal, head)
}

/// A cut while a journal is set aside and followed by another loses neither, nor does it twice.
#[test]
fn a_cut_loses_a_journal_that_is_set_aside() {
    let before = tempfile::tempdir().unwrap();
    let before = StateDir::at(before.path());
    let (_writer, old) = with_an_entry(&before);
    let knowing = Setup {
        known_heads: vec![KnownHead {
            journal: old.journal.clone(),
            size: TreeSize(1000),
            root: old.root,
        }],
        ..setup()
    };
    let kept = format!("{}.sqlite", old.journal);
    let points = at_each("set aside", &files(&before), &knowing, &|world, told| {
        let opened = world.open(&knowing).unwrap();
        assert!(told.is_none_or(|told| told.journal == opened.journal));
        assert_eq!(world.left_over(), Vec::<String>::new());
        world.assert_sound();
        let reader = Reader::open(&world.dir).unwrap().unwrap();
        let losses = reader.losses(None).unwrap();
        let losses: Vec<_> = losses.iter().map(|loss| loss.cause.as_str()).collect();
        assert_eq!((opened.size, losses), (TreeSize(2), vec!["restored"]));
        assert_eq!(names(&world.dir.journals_dir()), [kept.as_str()]);
        let kept = world.dir.journals_dir().join(&kept);
        let whole = Some((old.journal.clone(), i64::try_from(old.size.0).unwrap()));
        assert_eq!(identity(&kept), whole);
        let reader = Reader::open_file(&kept).unwrap().unwrap();
        assert_eq!(reader.head().unwrap().root, old.root);
    });
    assert!(points > 50, "{points}");
}

/// A cut while a journal is migrated leaves the old schema or the new one, and a whole copy of the old
/// one before anything of the new one can be seen.
#[test]
fn a_cut_leaves_a_journal_between_two_schemas() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1");
    let files = files(&StateDir::at(fixture));
    let points = at_each("migrate", &files, &setup(), &|world, told| {
        let db = Connection::open(world.dir.journal_path()).unwrap();
        let version = crate::schema::version(&db).unwrap();
        drop(db);
        assert!(version == 1 && told.is_none() || version == 2);
        let kept = copies(&world.dir);
        assert!(version == 1 || kept == 1, "{kept}");
        let opened = world.open(&setup()).unwrap();
        assert_eq!(opened.began, None);
        assert_eq!(opened.journal, FIXTURE);
        // The loss that was open has its number.
        assert_eq!(opened.size.0, FIXTURE_ENTRIES.unsigned_abs() + 1);
        assert!(matches!(copies(&world.dir), 1 | 2));
        assert_eq!(world.left_over(), Vec::<String>::new());
        world.assert_sound();
    });
    assert!(points > 50, "{points}");
}

/// The old journal among the older ones: whole wherever it has the name of one. How often.
fn copies(dir: &StateDir) -> usize {
    let names = names(&dir.journals_dir()).into_iter();
    let copies: Vec<_> = names.filter(|name| name.ends_with(".schema-1")).collect();
    for name in &copies {
        let copy = identity(&dir.journals_dir().join(name));
        assert_eq!(copy, Some((FIXTURE.to_owned(), FIXTURE_ENTRIES)), "{name}");
    }
    copies.len()
}

/// Id and size of a journal file that stands alone, if it is whole.
fn identity(path: &Path) -> Option<(String, i64)> {
    let db = db::open_immutable(path).ok()?;
    let intact = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let intact = db.query_row("PRAGMA integrity_check", [], intact).ok()?;
    let identity = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let identity = db.query_row("SELECT id, size FROM journal", [], identity);
    identity.ok().filter(|_| intact == "ok")
}
