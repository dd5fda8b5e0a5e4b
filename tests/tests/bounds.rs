//! A queue that is full and a journal that is pruned: what can wait is held back, what cannot is counted, and
//! nothing that was recorded is missed by who reads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write as _;
use std::time::{Duration, Instant};

use boundlane_tests::Home;
use serde_json::Value;

/// Line `n` of a log; each is different.
fn line(n: usize) -> String {
    let action = if n.is_multiple_of(10) {
        "DENIED"
    } else {
        "ALLOWED"
    };
    format!(
        "[{}.{:03}] [sandbox] [OCSF ] [ocsf] NET:OPEN [INFO] {action} /usr/bin/curl(7) -> h{n:06}.example:443 [policy:p engine:opa]\n",
        1_791_291_600 + n / 1000,
        n % 1000
    )
}

fn log(lines: std::ops::Range<usize>) -> String {
    lines.map(line).collect()
}

/// A home whose configuration says this.
fn configured(text: &str) -> Home {
    let home = Home::new();
    let dir = home.path().join(".config/boundlane");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
    home
}

const SMALL: &str = "queued_entries_max = 5000\n";

fn status(home: &Home) -> Value {
    home.run(["status", "--json"]).ok().json()["journal"].clone()
}

#[track_caller]
fn is_sound(home: &Home) {
    let fsck = home.run(["fsck"]).ok();
    assert!(fsck.stdout().contains("every law"), "{fsck:?}");
    assert_eq!(status(home)["books"]["balance"], true);
}

/// How many lines `log` shows, each once and in order.
#[track_caller]
fn shown(home: &Home) -> usize {
    let ran = home.run(["log", "s", "-o", "jsonl"]).ok();
    let hosts: Vec<String> = ran
        .json_lines()
        .iter()
        .filter_map(|row| row["host"].as_str().map(str::to_owned))
        .collect();
    assert!(hosts.is_sorted_by(|a, b| a < b), "not in order, or twice");
    hosts.len()
}

/// A file can wait: the queue is archived as often as it is full, and nothing is shed.
#[test]
fn a_long_file_is_shed_by_a_small_queue() {
    let home = configured(SMALL);
    let file = home.file("agent.log", log(0..20_000));
    let file = file.to_str().unwrap();
    home.run(["ingest", file, "--sandbox", "s"]).ok();
    assert_eq!(status(&home)["books"]["refused"], 0);
    assert_eq!(shown(&home), 20_000);
    is_sound(&home);
}

/// Without an archive it is held back with a word of what to do, and goes on from there.
#[test]
fn a_file_that_is_held_back_is_read_twice_or_never_again() {
    let home = configured(SMALL);
    let file = home.file("agent.log", log(0..6_000));
    let file = file.to_str().unwrap();
    let ingest = ["ingest", file, "--sandbox", "s", "--no-archive"];
    let mut held = 0;
    while held < 9 {
        let ran = home.run(ingest);
        if ran.code() == 0 {
            break;
        }
        let ran = ran.ended_with(1);
        assert!(
            ran.stderr().contains("entries wait for a consumer"),
            "{ran:?}"
        );
        assert!(ran.stderr().contains("`boundlane archive`"), "{ran:?}");
        is_sound(&home);
        home.run(["archive"]).ok();
        held += 1;
    }
    assert!((1..9).contains(&held), "held back {held} times");
    assert_eq!(status(&home)["books"]["refused"], 0);
    assert_eq!(shown(&home), 6_000);
    is_sound(&home);
}

/// A pipe cannot wait: what finds no room is counted, and every answer says so.
#[test]
fn a_pipe_is_held_back_or_sheds_without_a_word() {
    let home = configured(SMALL);
    let ingest = ["ingest", "-", "--sandbox", "s", "--no-archive"];
    let ran = home.run_with(ingest, log(0..12_000).as_bytes()).ok();
    assert!(ran.stdout().contains("dropped and counted"), "{ran:?}");
    let journal = status(&home);
    let refused = journal["books"]["refused"].as_u64().unwrap();
    let records = journal["books"]["records"].as_u64().unwrap();
    assert_eq!(records + refused, 12_000);
    assert!(refused > 6_000, "{journal:#}");
    let losses = journal["losses"].as_array().unwrap();
    let lines: u64 = losses
        .iter()
        .map(|loss| loss["lines_exact"].as_u64().unwrap())
        .sum();
    assert_eq!(lines, refused);
    let status = home.run(["status"]).ok().stdout();
    assert!(status.contains("losing"), "{status}");
    assert_eq!(shown(&home) as u64, records);
    let rows = home.run(["log", "s", "-o", "jsonl"]).ok().json_lines();
    let drops = rows.iter().filter(|row| row["kind"] == "drops");
    let stated: u64 = drops.map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(stated, refused, "`log` shows what goes on too");
    is_sound(&home);
}

/// What is archived is pruned by the bounds, and still shown.
#[test]
fn a_pruned_entry_is_gone() {
    let home = configured("query_seconds_max = 1\nkept_stored_bytes_max = 1\n");
    let file = home.file("agent.log", log(0..3_000));
    home.run(["ingest", file.to_str().unwrap(), "--sandbox", "s"])
        .ok();
    // Pruning waits until no query can look for the entries here.
    let end = Instant::now() + Duration::from_secs(60);
    while status(&home)["numbers"]["pruned"].as_u64().unwrap() < 3_000 {
        assert!(Instant::now() < end, "{:#}", status(&home));
        home.run(["archive"]).ok();
    }
    assert_eq!(shown(&home), 3_000);
    is_sound(&home);
    let mut more = std::fs::File::options().append(true).open(&file).unwrap();
    more.write_all(log(3_000..3_010).as_bytes()).unwrap();
    home.run(["ingest", file.to_str().unwrap(), "--sandbox", "s"])
        .ok();
    assert_eq!(shown(&home), 3_010);
    is_sound(&home);
    // The archive was the only place: what is gone there is missed, and said.
    std::fs::remove_dir_all(home.state().join("archive")).unwrap();
    let ran = home.run(["log", "s"]);
    assert!(ran.stderr().contains("that no file holds"), "{ran:?}");
    home.run(["status", "--check"]).ended_with(1);
    let ran = home.run(["archive"]).ok();
    assert!(
        ran.stderr()
            .contains("are in no file of the archive any more"),
        "{ran:?}"
    );
    assert_eq!(
        status(&home)["numbers"]["queued"],
        0,
        "the rest is archived"
    );
    assert_eq!(shown(&home), 10);
}

/// A bound that no journal can keep is refused with what is possible.
#[test]
fn a_bound_of_nothing_is_taken() {
    for (text, said) in [
        ("queued_entries_max = 0", "`queued_entries_max` has to be"),
        ("queued_entries_max = -5", "`queued_entries_max` has to be"),
        (
            "queued_entries_max = 10",
            "from 5000 to 1000000000000, not 10",
        ),
        (
            "queued_stored_bytes_max = 9000000000000000000",
            "from 1048576 to",
        ),
        (
            "kept_age_seconds_max = 'long'",
            "`kept_age_seconds_max` has to be",
        ),
        (
            "queued_entires_max = 5",
            "did you mean `queued_entries_max`",
        ),
    ] {
        let ran = configured(text).run(["config"]).ended_with(2);
        assert!(ran.stderr().contains(said), "{ran:?}");
    }
    let settings = configured(SMALL).run(["config", "--json"]).ok().json();
    let setting = |name: &str| settings["settings"][name].clone();
    assert_eq!(setting("queued_entries_max")["value"], 5000);
    assert_eq!(setting("queued_entries_max")["from"], "file");
    assert_eq!(setting("kept_stored_bytes_max")["value"], 1_u64 << 30);
    assert_eq!(setting("kept_stored_bytes_max")["from"], "default");
}
