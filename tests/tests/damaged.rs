//! Inputs that are not what was once written: holes of NULs, prefixes, archives with damaged bytes. What they
//! say is kept, what cannot be told is marked, and nothing is stored twice without a word.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Seek, SeekFrom, Write};

use boundlane_tests::Home;
use serde_json::Value;

/// Line `n` of a log; each is different, and all have the same length.
fn line(n: usize) -> String {
    format!(
        "[{}.{:03}] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /usr/bin/curl(7) -> h{n:06}.example:443 [policy:-]\n",
        1_791_291_600 + n / 1000,
        n % 1000
    )
}

fn log(lines: std::ops::Range<usize>) -> String {
    lines.map(line).collect()
}

/// `ingest --json` of one file, which must end with `code`.
#[track_caller]
fn ingest(home: &Home, file: &std::path::Path, code: i32) -> Value {
    let file = file.to_str().unwrap();
    let ran = home.run(["ingest", file, "--sandbox", "s", "--json"]);
    ran.ended_with(code).json()["inputs"][0].clone()
}

/// The rows that `sql` gives.
#[track_caller]
fn asked(home: &Home, sql: &str) -> Vec<Value> {
    home.run(["query", sql, "-o", "jsonl"]).ok().json_lines()
}

/// How many records there are, and of how many different lines.
#[track_caller]
fn stored(home: &Home) -> (u64, u64) {
    let sql = "SELECT count(*) AS n, count(DISTINCT raw) AS d FROM decisions";
    let row = asked(home, sql).remove(0);
    (row["n"].as_u64().unwrap(), row["d"].as_u64().unwrap())
}

#[track_caller]
fn is_whole(home: &Home) {
    let fsck = home.run(["fsck"]).ok();
    assert!(fsck.stdout().contains("every law"), "{fsck:?}");
}

/// A file that was truncated while its writer went on: a hole of 64 MiB, then lines. The hole is longer
/// than what is looked at, than a line may be, and than what is held; the lines are read, and known again.
#[test]
fn a_run_of_nuls_hides_the_line_behind_it_or_makes_the_file_no_log() {
    const HOLE: u64 = 64 << 20;
    let home = Home::new();
    let path = home.file("sparse.log", "");
    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(HOLE)).unwrap();
    file.write_all(log(0..3).as_bytes()).unwrap();
    let read = ingest(&home, &path, 0);
    assert_eq!(
        (&read["records"], &read["unparsed"]),
        (&3.into(), &0.into())
    );
    assert_eq!(read["nul_bytes"], HOLE);
    let rows = asked(&home, "SELECT * FROM decisions ORDER BY seq");
    assert_eq!(rows[0]["raw"], log(0..1).trim_end());
    assert_eq!(rows[0]["flags"], "nuls");
    assert_eq!(
        rows[0]["attributes"],
        format!(r#"{{"nul_bytes":"{HOLE}"}}"#)
    );
    assert_eq!(rows[1]["flags"], Value::Null);
    assert_eq!(ingest(&home, &path, 0)["state"], "known");
    file.write_all(log(3..5).as_bytes()).unwrap();
    let grown = ingest(&home, &path, 0);
    assert_eq!(
        (&grown["lines_read"], &grown["records"]),
        (&2.into(), &2.into())
    );
    is_whole(&home);
}

/// Runs of NULs between lines and behind the last one, each longer than a line may be.
#[test]
fn nuls_between_lines_change_a_line_or_are_stored_twice() {
    let home = Home::new();
    let hole = "\0".repeat(300_000);
    let text = format!("{}{hole}{}{hole}", log(0..2), log(2..4));
    let path = home.file("holes.log", &text);
    let read = ingest(&home, &path, 0);
    assert_eq!((&read["records"], &read["ignored"]), (&4.into(), &1.into()));
    assert_eq!(read["nul_bytes"], 600_000);
    std::fs::write(&path, text + &log(4..5)).unwrap();
    assert_eq!(ingest(&home, &path, 0)["records"], 1);
    assert_eq!(stored(&home), (5, 5));
    is_whole(&home);
}

/// NULs alone are no log, however many; nothing is written.
#[test]
fn nuls_and_no_line_are_taken_for_a_log() {
    let home = Home::new();
    let path = home.file(
        "nuls.bin",
        [vec![0; 200_000], b"not a log\n".to_vec()].concat(),
    );
    let ran = home.run(["ingest", path.to_str().unwrap(), "--sandbox", "s"]);
    let ran = ran.ended_with(2);
    assert!(ran.stderr().contains("NUL"), "{ran:?}");
    assert!(!home.state().exists());
}

/// The part of a JSON document that says that lines may be stored twice.
#[track_caller]
fn is_marked(home: &Home, read: &Value, from_byte: u64) {
    let doubt = serde_json::json!({"stream": "import/s/1", "from_byte": from_byte});
    assert_eq!(read["may_repeat"], doubt, "{read}");
    let sql = "SELECT evidence FROM sessions WHERE cause = 'attached' ORDER BY seq DESC LIMIT 1";
    let evidence = asked(home, sql)[0]["evidence"].as_str().unwrap().to_owned();
    let evidence: Value = serde_json::from_str(&evidence).unwrap();
    assert_eq!(evidence["may_repeat"], doubt);
    for command in [&["log", "s"][..], &["query", "denied"]] {
        let ran = home.run(command).ok();
        assert!(
            ran.stderr().contains("1 import may repeat lines"),
            "{ran:?}"
        );
    }
    let log = home.run(["log", "s"]).ok().stdout();
    let told = format!("from byte {from_byte} on it may repeat lines of import/s/1");
    assert!(log.contains(&told), "{log}");
}

/// A copy that ends between two marks of a known file: at most half of it is stored again, and marked.
#[test]
fn a_prefix_of_a_known_file_is_stored_again_without_a_word() {
    let home = Home::new();
    let whole = home.file("whole.log", log(0..100));
    assert_eq!(ingest(&home, &whole, 0)["may_repeat"], Value::Null);
    let at_a_mark = home.file("64.log", log(0..64));
    assert_eq!(ingest(&home, &at_a_mark, 0)["state"], "known");
    let between = home.file("70.log", log(0..70));
    let read = ingest(&home, &between, 0);
    assert_eq!(read["records"], 6);
    is_marked(&home, &read, log(0..64).len() as u64);
    assert_eq!(stored(&home), (106, 100));
    is_whole(&home);
}

/// Another short file of the same sandbox differs in its first line: nothing of it is in doubt.
#[test]
fn a_short_file_is_doubted_because_a_longer_one_is_known() {
    let home = Home::new();
    let long = home.file("long.log", log(0..100));
    ingest(&home, &long, 0);
    let short = home.file("short.log", log(500..503));
    let read = ingest(&home, &short, 0);
    assert_eq!(
        (&read["records"], &read["may_repeat"]),
        (&3.into(), &Value::Null)
    );
    assert_eq!(stored(&home), (103, 103));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// What `detached` of the last reading says.
fn detached(home: &Home) -> Value {
    let sql = "SELECT evidence FROM sessions WHERE cause = 'detached' ORDER BY seq DESC LIMIT 1";
    let evidence = asked(home, sql)[0]["evidence"].as_str().unwrap().to_owned();
    serde_json::from_str(&evidence).unwrap()
}

/// The archive of a log was copied before it was whole. The half is kept and said to be half; of the whole
/// one only what is new is stored.
#[test]
fn a_cut_gzip_makes_the_whole_one_be_stored_twice() {
    let home = Home::new();
    let text = log(0..20_000);
    let packed = gzip(&text);
    let path = home.file("a.log.gz", &packed[..packed.len() / 2]);
    let half = ingest(&home, &path, 1);
    let first = half["records"].as_u64().unwrap();
    assert!(first > 1_000, "{half}");
    assert_eq!(half["broken"]["how"], "cut_short");
    assert_eq!(half["broken"]["confirmed_bytes"], 0);
    assert_eq!(detached(&home)["why"], "cut_short");
    let log = home.run(["log", "s", "-n", "1"]).ok();
    assert!(log.stderr().contains("1 import broke off"), "{log:?}");
    std::fs::write(&path, &packed).unwrap();
    let whole = ingest(&home, &path, 0);
    assert_eq!(
        (&whole["may_repeat"], &whole["gaps"]),
        (&Value::Null, &0.into())
    );
    let (rows, different) = stored(&home);
    // The line at the cut was stored as it was, with its flag, and once more when it was whole.
    assert!(
        rows - different <= 1 && different - 20_000 <= 1,
        "{rows} {different}"
    );
    assert_eq!(detached(&home)["why"], "end");
    is_whole(&home);
}

/// One bit of the second member is wrong: the first one stays confirmed, and what the good copy repeats is
/// marked.
#[test]
fn a_damaged_gzip_and_its_good_copy_are_two_contents_without_a_word() {
    let home = Home::new();
    let (first, second) = (log(0..3_000), log(3_000..20_000));
    let good = [gzip(&first), gzip(&second)].concat();
    let mut bad = good.clone();
    // The checksum of the second member, eight bytes before the end, disagrees with the line that changed.
    let changed = second.replacen("h019000.example", "h019000.exbmple", 1);
    bad.truncate(gzip(&first).len());
    let mut member = gzip(&changed);
    let crc = member.len() - 8;
    let true_crc = &good[good.len() - 8..good.len() - 4];
    member[crc..crc + 4].copy_from_slice(true_crc);
    bad.extend(member);
    let damaged = ingest(&home, &home.file("a.log.gz", bad), 1);
    assert_eq!(damaged["broken"]["how"], "damaged");
    assert_eq!(damaged["broken"]["confirmed_bytes"], first.len());
    let evidence = detached(&home);
    assert_eq!(
        (&evidence["why"], &evidence["confirmed_bytes"]),
        (&"damaged".into(), &first.len().into())
    );
    let copy = ingest(&home, &home.file("good.log.gz", &good), 0);
    let from = copy["may_repeat"]["from_byte"].as_u64().unwrap();
    assert!(
        from > first.len() as u64 && from <= 19_000 * line(0).len() as u64,
        "{copy}"
    );
    is_marked(&home, &copy, from);
    let (rows, different) = stored(&home);
    assert_eq!(different, 20_001, "every line, and the one that was wrong");
    let again = (first.len() + second.len()) as u64 - from;
    assert_eq!(
        rows - 20_000,
        again / line(0).len() as u64,
        "what is stored twice is what is marked"
    );
    is_whole(&home);
}

/// A zstd file that breaks off says so in the same way.
#[test]
fn a_cut_zstd_ends_like_a_whole_one() {
    let home = Home::new();
    let packed = zstd::encode_all(log(0..20_000).as_bytes(), 1).unwrap();
    let path = home.file("a.log.zst", &packed[..packed.len() / 2]);
    let half = ingest(&home, &path, 1);
    assert_eq!(half["broken"]["how"], "cut_short", "{half}");
    std::fs::write(&path, &packed).unwrap();
    assert_eq!(ingest(&home, &path, 0)["may_repeat"], Value::Null);
    let (rows, different) = stored(&home);
    assert!(
        rows - different <= 1 && different - 20_000 <= 1,
        "{rows} {different}"
    );
    is_whole(&home);
}
