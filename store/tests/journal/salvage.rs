//! Salvage: a damaged journal is kept as it was, what can be read of it stays readable under its numbers,
//! the new one says what is missing, and reading goes on from where it was.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use boundlane_record::{Micros, Seq};
use boundlane_store::{
    Found, Journal, OpenError, Opened, Reader, RescueError, Salvage, Select, Setup, StateDir, Why,
    salvage_into,
};

use crate::feed::{assert_sound, open, part, reader, rows, setup, state};

const PAGE: u64 = 4096;

/// Lines of each of two streams.
const LINES: u64 = 1200;

/// A journal of two streams. The last commits are in the `-wal`, as a killed writer leaves it, when `killed`.
fn written(parent: &Path, killed: bool) -> StateDir {
    let first = StateDir::at(parent.join("written"));
    let mut journal = open(&first);
    let mut versions = BTreeMap::new();
    for step in 0..LINES / 100 {
        for stream in ["a", "b"] {
            let lines = step * 100..step * 100 + 100;
            let more = part(stream, lines, versions.get(stream).copied());
            let version = journal.append(&[more.item()]).unwrap().items[0].version;
            versions.insert(stream, version);
        }
    }
    if !killed {
        return first;
    }
    let copy = StateDir::at(parent.join("killed"));
    copy_state(&first, &copy);
    drop(journal);
    copy
}

fn copy_state(from: &StateDir, to: &StateDir) {
    fs::create_dir_all(to.path()).unwrap();
    for name in [
        "journal.sqlite",
        "journal.sqlite-wal",
        "journal.sqlite-shm",
        "digest.key",
    ] {
        let _ = fs::copy(from.path().join(name), to.path().join(name));
    }
}

/// Canonical bytes by number.
type Entries = BTreeMap<u64, Vec<u8>>;

/// Every entry that a file has, by its number, and the numbers that it names as missing.
fn contents(reader: &Reader) -> (Entries, Vec<(u64, u64)>) {
    let (mut entries, mut missing) = (BTreeMap::new(), Vec::new());
    let read = reader.each_entry(Select::all(), |found| {
        match found {
            Found::Entry(Seq(seq), bytes) => {
                assert!(
                    entries.insert(seq, bytes.to_owned()).is_none(),
                    "{seq} twice"
                );
            }
            Found::Damaged(damage) => missing.push((damage.first.0, damage.last.0)),
            other => panic!("{other:?}"),
        }
        ControlFlow::<()>::Continue(())
    });
    read.unwrap();
    (entries, missing)
}

fn all_entries(dir: &StateDir) -> Entries {
    let (entries, missing) = contents(&reader(dir));
    assert_eq!(missing, []);
    entries
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

fn flip(path: &Path, at: u64, bit: u8) {
    let byte = fs::read(path).unwrap()[usize::try_from(at).unwrap()];
    overwrite(path, at, &[byte ^ 1 << bit]);
}

/// What was read is what was written, what is missing is exactly the rest, and the new journal says so.
fn assert_salvaged(dir: &StateDir, opened: &Opened, written: &Entries, damaged: &[u8]) -> Salvage {
    let salvaged = opened.salvaged.clone().unwrap();
    assert_eq!(opened.began.as_ref().unwrap().why, Why::Salvaged);
    assert_eq!(
        fs::read(&salvaged.damaged).unwrap(),
        damaged,
        "kept as it was"
    );
    let salvage = salvaged.salvage;
    if let Some(path) = &salvaged.readable {
        let (entries, missing) = contents(&Reader::open_file(path).unwrap().unwrap());
        assert_eq!(entries.len() as u64, salvage.entries);
        for (seq, bytes) in &entries {
            assert_eq!(written.get(seq), Some(bytes), "entry {seq}");
        }
        let named: u64 = missing.iter().map(|(first, last)| last - first + 1).sum();
        assert_eq!(named, salvage.missing_entries);
        assert_eq!(entries.len() as u64 + named, salvage.size.0);
    }
    // Numbers that nothing names any more are stated to be possible.
    assert!(
        salvage.size.0 >= written.len() as u64 || salvage.tail.is_some(),
        "{salvage:?}"
    );
    let rows = rows(&reader(dir));
    assert_eq!(rows[0].cause.as_deref(), Some("journal_start"));
    assert_eq!(rows[1].cause.as_deref(), Some("damaged"));
    let evidence: serde_json::Value =
        serde_json::from_str(rows[1].evidence.as_deref().unwrap()).unwrap();
    assert_eq!(evidence["missing_entries"], salvage.missing_entries);
    let lost = rows
        .iter()
        .filter(|row| row.cause.as_deref() == Some("checkpoint_lost"));
    assert_eq!(
        lost.count() > 0,
        salvage.checkpoints_lost > 0 || salvage.streams_unknown
    );
    assert_sound(dir);
    salvage
}

/// A whole page of zeros in the last blocks: exactly their numbers are missing, and both streams go on.
#[test]
fn a_zeroed_page_costs_its_blocks_and_reading_goes_on() {
    let parent = tempfile::tempdir().unwrap();
    let dir = written(parent.path(), false);
    let before = all_entries(&dir);
    let length = fs::metadata(dir.journal_path()).unwrap().len();
    let body = page_of_last_body(&dir);
    overwrite(&dir.journal_path(), body * PAGE, &[0; 4096]);
    assert_eq!(fs::metadata(dir.journal_path()).unwrap().len(), length);
    let damaged = fs::read(dir.journal_path()).unwrap();
    let marks = open_raw_fingerprints(&dir);
    let (mut journal, opened) = Journal::open(&dir, &setup()).unwrap();
    let salvage = assert_salvaged(&dir, &opened, &before, &damaged);
    assert!((1..400).contains(&salvage.missing_entries), "{salvage:?}");
    assert_eq!(
        (salvage.tail, salvage.checkpoints_lost, salvage.streams),
        (None, 0, 2)
    );
    assert!(salvage.root.is_some());
    let stream = journal.stream("a").unwrap().unwrap();
    assert_eq!(
        (stream.version, stream.place.as_str()),
        (LINES / 100, "1200")
    );
    assert_eq!(journal.fingerprints(stream.id).unwrap().len(), marks);
    let next = part("a", LINES..LINES + 50, Some(stream.version));
    journal.append(&[next.item()]).unwrap();
    assert_sound(&dir);
}

fn open_raw_fingerprints(dir: &StateDir) -> usize {
    let reader = reader(dir);
    let streams = reader.streams().unwrap();
    reader.fingerprints(streams[0].id).unwrap().len()
}

/// The page where the body of the last block begins.
fn page_of_last_body(dir: &StateDir) -> u64 {
    let db = rusqlite::Connection::open(dir.journal_path()).unwrap();
    let body: Vec<u8> = db
        .query_row(
            "SELECT body FROM blocks ORDER BY first DESC LIMIT 1",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(db);
    let bytes = fs::read(dir.journal_path()).unwrap();
    let at = bytes
        .windows(64)
        .position(|part| part == &body[..64])
        .unwrap();
    at as u64 / PAGE
}

/// For all damages to the file that are tried here the answer is one of three: the journal opens and names
/// what it cannot read, it is salvaged and names that, or an error says why it cannot be opened.
fn assert_answers(dir: &StateDir, written: &Entries, what: &str) -> &'static str {
    let damaged = fs::read(dir.journal_path()).unwrap();
    match Journal::open(dir, &setup()) {
        Ok((journal, opened)) if opened.salvaged.is_some() => {
            drop(journal);
            assert_salvaged(dir, &opened, written, &damaged);
            "salvaged"
        }
        Ok((journal, opened)) => {
            assert_eq!(opened.began, None, "{what}");
            drop(journal);
            let (entries, missing) = contents(&reader(dir));
            let named: u64 = missing.iter().map(|(first, last)| last - first + 1).sum();
            for (seq, bytes) in written {
                let is_named = missing
                    .iter()
                    .any(|(first, last)| (first..=last).contains(&seq));
                assert!(
                    is_named || entries.get(seq) == Some(bytes),
                    "{what}: entry {seq}"
                );
            }
            assert!(
                entries.len() as u64 + named >= written.len() as u64,
                "{what}"
            );
            "opened"
        }
        Err(OpenError::NewerSchema(_) | OpenError::Dir(_)) => "refused",
        Err(error) => panic!("{what}: {error}"),
    }
}

/// A small generator, so that each place is the same in every run.
fn random(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 16
}

fn seeded(
    suffix: &str,
    killed: bool,
    seed: u64,
    rounds: u64,
    damage: impl Fn(&Path, u64, &mut u64),
) {
    let parent = tempfile::tempdir().unwrap();
    let original = written(parent.path(), killed);
    let whole = StateDir::at(parent.path().join("whole"));
    copy_state(&original, &whole);
    let before = all_entries(&whole);
    let mut answers = BTreeMap::<&str, u64>::new();
    for round in 0..rounds {
        let mut seed = seed + round;
        random(&mut seed);
        let dir = StateDir::at(parent.path().join("damaged"));
        copy_state(&original, &dir);
        let path = PathBuf::from(format!("{}{suffix}", dir.journal_path().display()));
        let length = fs::metadata(&path).unwrap().len();
        damage(&path, length, &mut seed);
        let what = format!("`journal.sqlite{suffix}`, round {round}");
        *answers
            .entry(assert_answers(&dir, &before, &what))
            .or_default() += 1;
        fs::remove_dir_all(dir.path()).unwrap();
    }
    assert!(
        answers.contains_key("salvaged") || killed,
        "{suffix:?} {answers:?}"
    );
}

#[test]
fn every_flipped_bit_of_the_file_is_answered() {
    seeded("", false, 1, 100, |path, length, seed| {
        let at = random(seed) % length;
        flip(path, at, (random(seed) % 8) as u8);
    });
    seeded("", true, 7, 30, |path, length, seed| {
        let at = random(seed) % length;
        flip(path, at, (random(seed) % 8) as u8);
    });
}

#[test]
fn every_flipped_bit_of_the_wal_is_answered() {
    seeded("-wal", true, 2, 40, |path, length, seed| {
        let at = random(seed) % length;
        flip(path, at, (random(seed) % 8) as u8);
    });
}

#[test]
fn every_zeroed_or_torn_page_is_answered() {
    seeded("", false, 3, 80, |path, length, seed| {
        let page = random(seed) % (length / PAGE) * PAGE;
        let cut = [PAGE, 512, PAGE / 2][(random(seed) % 3) as usize];
        overwrite(path, page, &vec![0; usize::try_from(cut).unwrap()]);
    });
    seeded("-wal", true, 4, 20, |path, length, seed| {
        let at = random(seed) % (length / 512) * 512;
        overwrite(path, at, &[0; 512]);
    });
}

#[test]
fn every_cut_is_answered() {
    for (suffix, killed, seed) in [("", false, 5), ("-wal", true, 6)] {
        seeded(suffix, killed, seed, 40, |path, length, seed| {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(random(seed) % length).unwrap();
        });
    }
}

/// Nothing is left: the file is kept, and the new journal says that everything before it may be missing.
#[test]
fn an_empty_file_or_garbage_is_kept_and_followed() {
    for bytes in [&b""[..], b"SQLite format 3\0", &[0; 4096], &[b'x'; 9000]] {
        let (_parent, dir) = state();
        dir.create().unwrap();
        fs::write(dir.journal_path(), bytes).unwrap();
        let (_, opened) = Journal::open(&dir, &setup()).unwrap();
        let salvage = assert_salvaged(&dir, &opened, &BTreeMap::new(), bytes);
        assert_eq!((salvage.entries, salvage.journal), (0, None));
        assert!(salvage.streams_unknown);
        assert_eq!(opened.salvaged.unwrap().readable, None);
    }
}

/// Damage that comes back within a day is not answered by journal after journal.
#[test]
fn a_second_salvage_within_a_day_waits_for_a_person() {
    let parent = tempfile::tempdir().unwrap();
    let dir = written(parent.path(), false);
    let spoil = || overwrite(&dir.journal_path(), 0, &[0; 100]);
    let at = |micros| Setup {
        now: Micros(micros),
        ..setup()
    };
    let day = 24 * 3600 * 1_000_000;
    spoil();
    drop(Journal::open(&dir, &at(1_000)).unwrap());
    let sound = fs::read(dir.journal_path()).unwrap();
    spoil();
    let refused = Journal::open(&dir, &at(1_000 + day - 1)).unwrap_err();
    assert!(
        refused.to_string().contains("less than a day ago"),
        "{refused}"
    );
    assert_eq!(fs::read(dir.journal_path()).unwrap()[100..], sound[100..]);
    assert!(!dir.path().join("journal.sqlite.salvaged").exists());
    Journal::open(&dir, &at(1_000 + day)).unwrap();
}

/// Another writer lives: nothing is replaced under its feet.
#[test]
fn a_damaged_journal_that_another_has_open_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let dir = written(parent.path(), false);
    let _other = open(&dir);
    overwrite(&dir.journal_path(), 0, b"no journal");
    let refused = Journal::open(&dir, &setup());
    assert!(
        matches!(refused, Err(OpenError::Damaged { .. })),
        "{refused:?}"
    );
    assert!(!dir.journals_dir().exists());
}

/// A copy by hand leaves everything here as it is, takes older journals along, and is sound.
#[test]
fn a_salvage_by_hand_copies_every_journal_and_changes_none() {
    let parent = tempfile::tempdir().unwrap();
    let dir = written(parent.path(), false);
    let before = all_entries(&dir);
    overwrite(&dir.journal_path(), 0, &[0; 4096]);
    let mut journal = Journal::open(&dir, &setup()).unwrap().0;
    let version = journal.stream("a").unwrap().unwrap().version;
    let more = part("a", LINES..LINES + 200, Some(version));
    journal.append(&[more.item()]).unwrap();
    let target = StateDir::at(parent.path().join("copy"));
    let busy = salvage_into(&dir, &target, &setup());
    assert!(
        matches!(busy, Err(RescueError::Open(OpenError::InUse { .. }))),
        "{busy:?}"
    );
    drop(journal);
    let newer = all_entries(&dir);
    let bytes = fs::read(dir.journal_path()).unwrap();
    let rescue = salvage_into(&dir, &target, &setup()).unwrap();
    assert_eq!(fs::read(dir.journal_path()).unwrap(), bytes);
    let contents_of = |n: usize| {
        let path = rescue.files[n].to.as_deref().unwrap();
        contents(&Reader::open_file(path).unwrap().unwrap())
    };
    assert_eq!(rescue.files.len(), 2);
    assert_eq!(contents_of(0), (before, Vec::new()));
    assert_eq!(contents_of(1), (newer, Vec::new()));
    assert!(rescue.files[1].salvage.is_whole());
    assert_sound(&target);
    let journal = open(&target);
    assert_eq!(journal.stream("a").unwrap().unwrap().version, version + 1);
    let again = salvage_into(&dir, &target, &setup());
    assert!(matches!(again, Err(RescueError::NotEmpty(_))), "{again:?}");
}
