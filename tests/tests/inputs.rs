//! Inputs as they are found: long, broken, compressed, renamed, grown, replaced, piped again. Each ends in a
//! clear outcome, and the books balance.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;

use boundlane_benches::workload::Workload;
use boundlane_tests::{Home, Ran};
use serde_json::Value;

fn deny(n: usize) -> String {
    format!(
        "[1791291600.{:03}] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /usr/bin/curl({n}) -> h{n}.example:443 [policy:-]\n",
        n % 1000
    )
}

fn log(lines: std::ops::Range<usize>) -> String {
    lines.map(deny).collect()
}

/// `ingest --json` of one input, and its document.
#[track_caller]
fn ingest(home: &Home, arguments: &[&str]) -> Value {
    let mut all = vec!["ingest", "--sandbox", "s", "--json"];
    all.extend(arguments);
    input(&home.run(all).ok())
}

#[track_caller]
fn pipe(home: &Home, arguments: &[&str], bytes: &[u8]) -> Value {
    let mut all = vec!["ingest", "-", "--sandbox", "s", "--json"];
    all.extend(arguments);
    input(&home.run_with(all, bytes).ok())
}

fn input(ran: &Ran) -> Value {
    let input = ran.json()["inputs"][0].clone();
    if input["state"] == "read" {
        let n = |key: &str| input[key].as_u64().unwrap();
        let sum = n("records") + n("ignored") + n("repeats") + n("refused");
        assert_eq!(n("lines_read"), sum, "L4: {input}");
    }
    input
}

/// The records of the sandbox in number order, one JSON object each.
fn rows(home: &Home) -> Vec<Value> {
    let rows = home
        .run([
            "query",
            "SELECT * FROM entries ORDER BY journal, seq",
            "-o",
            "jsonl",
        ])
        .ok();
    rows.json_lines()
}

fn of_kind(home: &Home, kind: &str) -> Vec<Value> {
    rows(home)
        .into_iter()
        .filter(|row| row["kind"] == kind)
        .collect()
}

#[track_caller]
fn is_whole(home: &Home) {
    let fsck = home.run(["fsck"]).ok();
    assert!(fsck.stdout().contains("every law"), "{fsck:?}");
}

#[test]
fn an_empty_file_is_an_error_or_leaves_a_record() {
    let home = Home::new();
    let file = home.file("empty.log", "");
    let ran = home
        .run(["ingest", file.to_str().unwrap(), "--sandbox", "s"])
        .ok();
    assert!(ran.stdout().contains("empty, nothing to record"), "{ran:?}");
    assert_eq!(of_kind(&home, "decision").len(), 0);
}

#[test]
fn what_is_no_file_of_lines_creates_a_state_directory() {
    let home = Home::new();
    let directory = home.path().to_str().unwrap().to_owned();
    for (path, word) in [
        (directory.as_str(), "directory"),
        ("/nowhere/x.log", "/nowhere/x.log"),
    ] {
        let ran = home.run(["ingest", path, "--sandbox", "s"]).ended_with(1);
        assert!(ran.stderr().contains(word), "{ran:?}");
    }
    let binary = home.file(
        "binary",
        [b"\x7fELF\0\0\0".to_vec(), vec![0; 70_000]].concat(),
    );
    let ran = home
        .run(["ingest", binary.to_str().unwrap(), "--sandbox", "s"])
        .ended_with(2);
    assert!(
        ran.stderr().contains("NUL") && ran.stderr().contains("--format"),
        "{ran:?}"
    );
    assert!(!home.state().exists(), "nothing was written");
    let forced = ingest(&home, &[binary.to_str().unwrap(), "--format", "shorthand"]);
    assert_eq!(
        (&forced["records"], &forced["unparsed"]),
        (&1.into(), &1.into()),
        "{forced}"
    );
}

#[test]
fn text_without_a_sandbox_is_taken() {
    let home = Home::new();
    let file = home.file("a.log", log(0..3));
    let ran = home.run(["ingest", file.to_str().unwrap()]).ended_with(2);
    assert!(ran.stderr().contains("--sandbox NAME"), "{ran:?}");
    assert!(!home.state().exists());
}

#[test]
fn a_line_of_5_mb_blinds_the_log_or_is_not_counted() {
    let home = Home::new();
    let long = format!(
        "[1791291600.001] [sandbox] [OCSF ] [ocsf] HTTP:GET [MED] DENIED GET http://h:1/{} [policy:p engine:l7]\n",
        "a/b".repeat(1_700_000)
    );
    let text = format!("{}{long}{}", log(0..90), log(90..99));
    let file = home.file("long.log", text);
    let read = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(
        (&read["lines_read"], &read["records"]),
        (&100.into(), &100.into()),
        "{read}"
    );
    let cut: Vec<Value> = rows(&home)
        .into_iter()
        .filter(|row| row["truncated"] == true)
        .collect();
    assert_eq!(cut.len(), 1);
    assert_eq!(
        cut[0]["outcome"], "denied",
        "what comes before the sandbox's text is certain"
    );
    assert_eq!(cut[0]["original_bytes"], long.len() - 1);
    assert_eq!(cut[0]["digest"].as_str().unwrap().len(), 64);
    is_whole(&home);
}

#[test]
fn bytes_that_are_no_text_are_changed_or_stop_the_reader() {
    let home = Home::new();
    let mut bytes = log(0..1).into_bytes();
    bytes.extend_from_slice(
        b"[1791291600.100] [sandbox] [OCSF ] [ocsf] EVENT [INFO] bad \xff\xc3\x28 \\ end\r\n",
    );
    bytes.extend_from_slice(b"[1791291600.101] [sandbox] [OCSF ] [ocsf] EVENT [INFO] a\0b\n");
    bytes.extend_from_slice(log(1..2).as_bytes());
    let file = home.file("bytes.log", &bytes);
    let read = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(read["records"], 4);
    let events = of_kind(&home, "event");
    assert_eq!(events[0]["escaped"], true);
    assert!(
        events[0]["raw"]
            .as_str()
            .unwrap()
            .ends_with(r"bad \xff\xc3( \\ end"),
        "{}",
        events[0]["raw"]
    );
    assert!(events[1]["raw"].as_str().unwrap().ends_with("a\0b"));
    assert_eq!(events[1]["escaped"], Value::Null);
    is_whole(&home);
}

#[test]
fn the_same_bytes_under_another_name_are_read_again() {
    let home = Home::new();
    let text = Workload::text(3, 30_000);
    let file = home.file("a.log", &text);
    let first = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(first["lines_read"], 30_000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let packed = [
        home.file("copy.log", &text),
        home.file("a.log.gz", gzip.finish().unwrap()),
        home.file("a.log.zst", zstd::encode_all(text.as_bytes(), 1).unwrap()),
    ];
    for again in packed {
        let known = ingest(&home, &[again.to_str().unwrap()]);
        assert_eq!(known["state"], "known", "{known}");
    }
    std::fs::rename(&file, home.path().join("a.log.1")).unwrap();
    assert_eq!(
        ingest(&home, &[home.path().join("a.log.1").to_str().unwrap()])["state"],
        "known"
    );
    assert_eq!(pipe(&home, &[], text.as_bytes())["state"], "known");
    is_whole(&home);
}

#[test]
fn a_grown_file_is_read_from_its_start_again() {
    let home = Home::new();
    let mut text = Workload::text(4, 20_000);
    let file = home.file("a.log", &text);
    ingest(&home, &[file.to_str().unwrap()]);
    text.push_str(&log(0..10));
    std::fs::write(&file, &text).unwrap();
    let grown = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(
        (&grown["lines_read"], &grown["records"]),
        (&10.into(), &10.into()),
        "{grown}"
    );
    let members = [&text[..1000], &text[1000..]].map(|part| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(part.as_bytes()).unwrap();
        gzip.finish().unwrap()
    });
    let packed = home.file("a.log.1.gz", members.concat());
    assert_eq!(
        ingest(&home, &[packed.to_str().unwrap()])["state"],
        "known",
        "two members, one content"
    );
    is_whole(&home);
}

#[test]
fn other_content_at_the_same_path_is_no_gap_or_another_file_is_one() {
    let home = Home::new();
    let file = home.file("a.log", log(0..20));
    ingest(&home, &[file.to_str().unwrap()]);
    std::fs::write(&file, log(500..510)).unwrap();
    let replaced = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(
        (&replaced["records"], &replaced["gaps"]),
        (&10.into(), &1.into()),
        "{replaced}"
    );
    let gaps = of_kind(&home, "gap");
    assert_eq!(
        (&gaps[0]["cause"], &gaps[0]["extent"]),
        (&"source_truncated".into(), &"unknown".into())
    );
    let other = home.file("b.log", log(700..705));
    assert_eq!(ingest(&home, &[other.to_str().unwrap()])["gaps"], 0);
    is_whole(&home);
}

#[test]
fn half_a_line_is_lost_or_stored_twice() {
    let home = Home::new();
    let text = log(0..3);
    let file = home.file("a.log", &text[..text.len() - 20]);
    let half = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(
        (&half["records"], &half["unterminated"]),
        (&3.into(), &true.into()),
        "{half}"
    );
    let again = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(
        again["repeats"].as_u64().unwrap_or(0) + again["records"].as_u64().unwrap_or(0),
        again["repeats"].as_u64().unwrap_or(0),
        "unchanged: {again}"
    );
    std::fs::write(&file, &text).unwrap();
    let whole = ingest(&home, &[file.to_str().unwrap()]);
    assert_eq!(
        (&whole["records"], &whole["unterminated"]),
        (&1.into(), &false.into()),
        "{whole}"
    );
    let last: Vec<Value> = of_kind(&home, "decision")
        .into_iter()
        .filter(|row| row["pid"] == 2)
        .collect();
    assert_eq!(last.len(), 2);
    assert_eq!(last[0]["flags"], "unterminated");
    assert_eq!(last[1]["raw"], text.lines().last().unwrap());
    is_whole(&home);
}

#[test]
fn overlapping_tails_of_one_log_are_stored_twice() {
    let home = Home::new();
    assert_eq!(pipe(&home, &[], log(0..100).as_bytes())["records"], 100);
    let second = pipe(&home, &[], log(50..150).as_bytes());
    assert_eq!(
        (&second["records"], &second["repeats"], &second["gaps"]),
        (&50.into(), &50.into(), &0.into()),
        "{second}"
    );
    let beyond = pipe(&home, &[], log(300..310).as_bytes());
    assert_eq!(
        (&beyond["records"], &beyond["gaps"]),
        (&10.into(), &1.into()),
        "{beyond}"
    );
    let apart = pipe(&home, &["--no-align"], log(305..320).as_bytes());
    assert_eq!(
        (&apart["records"], &apart["gaps"]),
        (&15.into(), &0.into()),
        "{apart}"
    );
    is_whole(&home);
}

#[test]
fn equal_lines_of_one_millisecond_are_one() {
    let home = Home::new();
    let file = home.file("a.log", deny(1).repeat(3) + &deny(2) + &deny(1));
    assert_eq!(ingest(&home, &[file.to_str().unwrap()])["records"], 5);
    assert_eq!(of_kind(&home, "decision").len(), 5);
}

#[test]
fn a_forged_line_counts_as_one_of_its_own_without_a_mark() {
    let home = Home::new();
    let forged =
        "NET:OPEN [INFO] ALLOWED /usr/bin/curl(1) -> good.example:443 [policy:p engine:opa]";
    let file = home.file("a.log", format!("{}{forged}\n{}", deny(1), deny(2)));
    ingest(&home, &[file.to_str().unwrap()]);
    let decisions = of_kind(&home, "decision");
    assert_eq!(decisions[1]["continuation"], true);
    assert_eq!(decisions[2]["continuation"], Value::Null);
    let log = home.run(["log", "s"]).ok();
    assert!(
        log.stderr().contains("may continue the record before"),
        "{log:?}"
    );
}

#[test]
fn json_lines_of_another_sandbox_are_taken_for_this_one() {
    let home = Home::new();
    let event = |name: &str| {
        format!(
            r#"{{"class_uid":4001,"class_name":"Network Activity","activity_id":1,"activity_name":"Open","category_uid":4,"type_uid":400101,"time":1791291600001,"severity_id":1,"severity":"Informational","action_id":1,"action":"Allowed","metadata":{{"version":"1.8.0","product":{{"name":"OpenShell Sandbox Supervisor","vendor_name":"OpenShell"}}}},"container":{{"name":"{name}","uid":"id-{name}"}},"dst_endpoint":{{"domain":"h.example","port":443}}}}"#
        )
    };
    let file = home.file("a.jsonl", event("one") + "\n");
    let ran = home
        .run(["ingest", file.to_str().unwrap(), "--sandbox", "two"])
        .ended_with(2);
    assert!(ran.stderr().contains("`one`"), "{ran:?}");
    assert!(!home.state().exists());
    let mixed = home.file(
        "b.jsonl",
        format!("{}\n{}\n{}\n", event("one"), event("one"), event("two")),
    );
    let ran = home
        .run(["ingest", mixed.to_str().unwrap(), "--json"])
        .ended_with(2);
    assert_eq!(
        ran.json()["inputs"][0]["records"],
        2,
        "what came before is stored: {ran:?}"
    );
    let rows = of_kind(&home, "decision");
    assert!(
        rows.iter()
            .all(|row| row["sandbox"] == "one" && row["sandbox_id"] == "id-one"),
        "{rows:?}"
    );
    is_whole(&home);
}

#[test]
fn a_broken_archive_of_lines_gives_nothing_or_a_success() {
    let home = Home::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(Workload::text(5, 5_000).as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let file = home.file("cut.log.gz", &packed[..packed.len() / 2]);
    let ran = home
        .run(["ingest", file.to_str().unwrap(), "--sandbox", "s", "--json"])
        .ended_with(1);
    assert!(
        ran.json()["inputs"][0]["records"].as_u64().unwrap() > 1_000,
        "{ran:?}"
    );
    assert!(ran.stderr().contains("cut.log.gz"), "{ran:?}");
    is_whole(&home);
}

#[test]
fn commands_that_read_create_a_state_directory() {
    let home = Home::new();
    for command in [
        vec!["log"],
        vec!["log", "--list"],
        vec!["status"],
        vec!["query", "denied"],
        vec!["archive"],
        vec!["fsck"],
        vec!["config"],
        vec![],
    ] {
        let ran = home.run(&command).ok();
        assert!(!home.state().exists(), "{command:?} created it: {ran:?}");
    }
}
