//! Damage: seen, named by its numbers, and not more than it is.

use boundlane_store::{Journal, OpenError, Piece, Select, StateDir};
use rusqlite::Connection;
use sha2::Digest as _;

use crate::feed::{assert_sound, findings, open, part, raws, reader, setup, state};

/// A journal of 12 commits of 111 lines each; a gap opens after each of them.
fn filled(dir: &StateDir) {
    let mut journal = open(dir);
    let mut version = None;
    for step in 0..12u64 {
        let more = part("a", step * 111..step * 111 + 111, version);
        version = Some(journal.append(&[more.item()]).unwrap().items[0].version);
    }
}

fn edit(dir: &StateDir, sql: &str) {
    let db = Connection::open(dir.journal_path()).unwrap();
    assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
}

/// The block that holds number 300.
fn block_of_300(dir: &StateDir) -> (u64, u64) {
    let db = Connection::open(dir.journal_path()).unwrap();
    db.query_row(
        "SELECT first, last FROM blocks WHERE first <= 300 AND last >= 300",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .unwrap()
}

/// The same by fsck, by a walk forwards and by one backwards: exactly these numbers are gone.
fn assert_gap_of(dir: &StateDir, first: u64, last: u64) {
    let reader = reader(dir);
    for select in [Select::all(), Select::all().newest_first()] {
        let mut holes = Vec::new();
        let mut entries = 0;
        for piece in reader.blocks(select).unwrap() {
            match piece.unwrap() {
                Piece::Block(block) => entries += block.entries().len() as u64,
                Piece::Damaged(damage) => holes.push((damage.first.0, damage.last.0)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(holes, [(first, last)]);
        assert_eq!(entries + last - first + 1, reader.head().unwrap().size.0);
    }
    let place = format!("L1: entries {first} through {last}:");
    let findings = findings(dir);
    assert!(
        findings.iter().any(|finding| finding.starts_with(&place)),
        "{findings:?}"
    );
}

/// One flipped bit in a body costs its block, named by its numbers, and nothing else.
#[test]
fn a_flipped_bit_costs_exactly_its_block() {
    let (_parent, dir) = state();
    filled(&dir);
    let (first, last) = block_of_300(&dir);
    edit(
        &dir,
        &format!(
            "UPDATE blocks SET body = CAST(substr(body, 1, 40) || x'00' || substr(body, 42) AS BLOB) \
             WHERE first = {first}"
        ),
    );
    assert_gap_of(&dir, first, last);
}

/// Numbers that point beyond the block, a lost row, a header that lies: the same gap.
#[test]
fn a_block_that_lies_about_itself_costs_exactly_its_numbers() {
    for sql in [
        "UPDATE blocks SET last = last + 50 WHERE first = {first}",
        "UPDATE blocks SET last = last - 50 WHERE first = {first}",
        "UPDATE blocks SET counts = 'decision:denied:1' WHERE first = {first}",
        "UPDATE blocks SET streams = '7' WHERE first = {first}",
        "UPDATE blocks SET plain_bytes = 99999999 WHERE first = {first}",
        "UPDATE blocks SET packed = 0 WHERE first = {first}",
        "DELETE FROM blocks WHERE first = {first}",
    ] {
        let (_parent, dir) = state();
        filled(&dir);
        let (first, last) = block_of_300(&dir);
        edit(&dir, &sql.replace("{first}", &first.to_string()));
        assert_gap_of(&dir, first, last);
    }
}

/// A change behind the journal's back, and how the finding that names it begins.
const CHANGES: [(&str, &str); 20] = [
    (
        "UPDATE streams SET records = records + 1, lines_read = lines_read + 1",
        "L4: stream `a`",
    ),
    (
        "UPDATE streams SET ignored = ignored + 1",
        "L4: stream `a`: lines read",
    ),
    (
        "UPDATE streams SET refused = refused - 1, ignored = ignored + 1",
        "L4: stream `a`: refused",
    ),
    (
        "UPDATE journal SET lines_read = 0",
        "L4: table `journal`: lines_read",
    ),
    (
        "UPDATE totals SET entries = entries + 1 WHERE outcome = 'denied'",
        "L4: table `totals`",
    ),
    (
        "UPDATE counts SET entries = 5 WHERE outcome = 'denied'",
        "L4: stream `a`: counts",
    ),
    (
        "DELETE FROM open_losses WHERE kind = 'drops'",
        "L4: stream `a`: refused",
    ),
    (
        "UPDATE loss_totals SET lines = 99",
        "L4: table `loss_totals`",
    ),
    ("DELETE FROM losses", "L4: table `losses`"),
    ("DELETE FROM block_streams WHERE first > 500", "L1: block"),
    (
        "INSERT INTO block_streams (stream, first, entries) VALUES (7, 1, 3)",
        "L4: table `block_streams`: rows",
    ),
    (
        "INSERT INTO block_streams (stream, first, entries) VALUES (1, 7, 3)",
        "L1: table `block_streams`",
    ),
    (
        "UPDATE subtrees SET hash = zeroblob(32) WHERE n = 1",
        "L9: subtree 1",
    ),
    ("DELETE FROM subtrees WHERE n = 1", "L9: table `subtrees`"),
    ("UPDATE acks SET through = 100000", "L4: table `acks`"),
    (
        "UPDATE fingerprints SET digests = x'00'",
        "L3: table `fingerprints`",
    ),
    (
        "INSERT INTO marks VALUES (1, 5, x'00')",
        "L3: table `marks`",
    ),
    (
        "UPDATE journal SET stored_bytes = 1",
        "L5: table `journal`: stored_bytes",
    ),
    ("UPDATE streams SET last = 100000", "L3: table `streams`"),
    ("UPDATE journal SET pruned = 1", "L1: table `prunes`"),
];

/// Every counter and hash that is changed behind the journal's back is found by fsck under its law.
#[test]
fn fsck_names_the_law_that_a_changed_table_breaks() {
    for (sql, law) in CHANGES {
        let (_parent, dir) = state();
        filled(&dir);
        assert_sound(&dir);
        edit(&dir, sql);
        let findings = findings(&dir);
        assert!(
            findings.iter().any(|finding| finding.starts_with(law)),
            "{sql}: {findings:?}"
        );
    }
}

/// Rewrites block `first`: its `counts`, `streams` and spans stay, its text changes, its checksum fits.
fn forge(dir: &StateDir, first: u64, old: &str, new: &str) {
    let db = Connection::open(dir.journal_path()).unwrap();
    let sql = "SELECT body, plain_bytes, last, observed_from, observed_to, time_from, time_to, \
         counts || x'00' || streams || x'00' FROM blocks WHERE first = ?1 AND packed = 1";
    let (body, checksum): (Vec<u8>, [u8; 16]) = db
        .query_row(sql, [first], |row| {
            let plain = zstd::bulk::decompress(&row.get::<_, Vec<u8>>(0)?, row.get(1)?).unwrap();
            let body = String::from_utf8(plain)
                .unwrap()
                .replace(old, new)
                .into_bytes();
            let number = |at| row.get::<_, i64>(at).map(i64::to_be_bytes);
            let mut covered = [first.to_be_bytes(), number(2)?, [0; 8]].concat();
            covered.extend((body.len() as u64).to_be_bytes());
            covered.extend([number(3)?, number(4)?, 1i64.to_be_bytes()].concat());
            covered.extend([number(5)?, number(6)?].concat());
            covered.extend(row.get::<_, String>(7)?.into_bytes());
            covered.extend(&body);
            let digest: [u8; 32] = sha2::Sha256::digest(&covered).into();
            Ok((body, digest[..16].try_into().unwrap()))
        })
        .unwrap();
    let sql = "UPDATE blocks SET packed = 0, plain_bytes = length(?2), body = ?2, checksum = ?3 \
         WHERE first = ?1";
    assert_eq!(db.execute(sql, (first, body, checksum)).unwrap(), 1);
    for sql in [
        "UPDATE journal SET stored_bytes = (SELECT sum(length(body)) FROM blocks)",
        "UPDATE block_streams SET stored_bytes = (SELECT length(body) FROM blocks \
         WHERE blocks.first = block_streams.first)",
        "UPDATE streams SET waiting_bytes = (SELECT sum(stored_bytes) FROM block_streams \
         WHERE stream = id)",
        "UPDATE journal SET waiting_bytes = (SELECT sum(stored_bytes) FROM block_streams)",
    ] {
        db.execute(sql, []).unwrap();
    }
}

/// An edited entry with counters and a checksum to match is still not the one in the tree.
#[test]
fn a_forged_entry_with_a_fitting_checksum_is_found_by_the_tree() {
    let (_parent, dir) = state();
    filled(&dir);
    let (first, _) = block_of_300(&dir);
    forge(&dir, first, r#""raw":"line 3"#, r#""raw":"line 9"#);
    let findings = findings(&dir);
    assert!(
        findings.iter().all(|finding| finding.starts_with("L9")),
        "{findings:?}"
    );
    assert!(
        findings.len() >= 2,
        "the subtree and the edge: {findings:?}"
    );
    let forged = std::fs::read(dir.journal_path()).unwrap();
    let (_, opened) = Journal::open(&dir, &setup()).unwrap();
    let salvaged = opened.salvaged.unwrap();
    assert_eq!(std::fs::read(salvaged.damaged).unwrap(), forged);
}

/// A row of the journal that was changed while nobody ran is not written on: the journal is salvaged, with
/// every entry, under its own id.
#[test]
fn a_rewritten_journal_row_is_salvaged_at_the_start() {
    for sql in [
        "UPDATE journal SET edge = zeroblob(length(edge))",
        "UPDATE journal SET size = size - 1",
        "DELETE FROM subtrees WHERE n = 2",
        "UPDATE subtrees SET hash = zeroblob(32) WHERE n = 2",
        "DELETE FROM blocks WHERE first = (SELECT max(first) FROM blocks)",
        "DELETE FROM journal",
    ] {
        let (_parent, dir) = state();
        filled(&dir);
        let before = reader(&dir).head().unwrap();
        edit(&dir, sql);
        let (_, opened) = Journal::open(&dir, &setup()).unwrap();
        let salvage = opened.salvaged.unwrap().salvage;
        assert_eq!(salvage.size, before.size, "{sql}");
        assert_eq!(salvage.entries + salvage.missing_entries, before.size.0);
        if !sql.starts_with("DELETE FROM journal") {
            assert_eq!(salvage.journal, Some(before.journal), "{sql}");
        }
        assert_sound(&dir);
    }
}

/// A reader names a file that is no journal, and leaves it.
#[test]
fn a_reader_refuses_a_file_that_is_no_journal() {
    for bytes in [&b""[..], b"SQLite format 3\0", &[0; 4096], &[b'x'; 4096]] {
        let (_parent, dir) = state();
        dir.create().unwrap();
        std::fs::write(dir.journal_path(), bytes).unwrap();
        let read = boundlane_store::Reader::open(&dir);
        assert!(matches!(read, Err(OpenError::Damaged { .. })));
        assert_eq!(std::fs::read(dir.journal_path()).unwrap(), bytes);
    }
}

/// A commit that fails in an unforeseen way closes the journal; opened again it goes on.
#[test]
fn a_failed_commit_closes_the_journal_and_leaves_nothing() {
    let (_parent, dir) = state();
    let mut journal = open(&dir);
    journal.append(&[part("a", 0..9, None).item()]).unwrap();
    let forbid =
        "CREATE TRIGGER forbid BEFORE INSERT ON blocks BEGIN SELECT RAISE(ABORT, 'no'); END";
    let db = Connection::open(dir.journal_path()).unwrap();
    db.execute_batch(forbid).unwrap();
    let next = part("a", 9..14, Some(1));
    let failed = journal.append(&[next.item()]).unwrap_err();
    assert!(failed.closes(), "{failed}");
    db.execute_batch("DROP TRIGGER forbid").unwrap();
    assert!(journal.append(&[next.item()]).unwrap_err().closes());
    drop(journal);
    open(&dir).append(&[next.item()]).unwrap();
    assert_eq!(raws(&reader(&dir)).len(), 12);
    assert_sound(&dir);
}
