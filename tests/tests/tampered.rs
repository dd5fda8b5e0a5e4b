//! Files that were deleted, swapped or edited behind the program's back: named, and mended where that is possible.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use boundlane_benches::workload::Workload;
use boundlane_tests::Home;

/// A log that grew twice: three archive files of one journal.
fn grown() -> Home {
    let home = Home::new();
    for lines in [100, 200, 300] {
        let file = home.file("agent.log", Workload::text(9, lines));
        home.run(["ingest", file.to_str().unwrap(), "--sandbox", "s"])
            .ok();
    }
    home
}

fn files(home: &Home) -> Vec<PathBuf> {
    let table = home.state().join("archive/v=1");
    let days = std::fs::read_dir(table).unwrap();
    let mut files: Vec<PathBuf> = days
        .flat_map(|day| std::fs::read_dir(day.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn a_deleted_archive_file_is_not_missed_or_not_written_again() {
    for which in [0, 1, 2] {
        let home = grown();
        std::fs::remove_file(&files(&home)[which]).unwrap();
        let fsck = home.run(["fsck"]).ended_with(5);
        assert!(fsck.stdout().contains("no file holds them"), "{fsck:?}");
        let status = home.run(["status", "--check"]).ended_with(1);
        assert!(status.stdout().starts_with("degraded"), "{status:?}");
        home.run(["archive"]).ok();
        home.run(["fsck"]).ok();
        home.run(["status", "--check"]).ok();
        assert_eq!(files(&home).len(), 3);
    }
}

#[test]
fn a_flipped_bit_in_an_archive_file_is_not_found() {
    let home = grown();
    let path = &files(&home)[1];
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let fsck = home.run(["fsck"]).ended_with(5);
    assert!(
        fsck.stdout()
            .contains(path.file_name().unwrap().to_str().unwrap()),
        "{fsck:?}"
    );
}

#[test]
fn a_journal_of_garbage_is_called_sound_or_is_written_to() {
    let home = grown();
    let journal = home.state().join("journal.sqlite");
    for garbage in [&b"no database at all, only text"[..], b"", &[0; 8192]] {
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(home.state().join(format!("journal.sqlite{suffix}")));
        }
        std::fs::write(&journal, garbage).unwrap();
        let fsck = home.run(["fsck"]).ended_with(5);
        assert!(fsck.stderr().contains("damaged"), "{fsck:?}");
        let file = home.file("more.log", Workload::text(9, 400));
        let ran = home.run(["ingest", file.to_str().unwrap(), "--sandbox", "s"]);
        let kept = home.state().join("journals/unknown.damaged");
        if kept.exists() && ran.code() == 0 {
            assert!(ran.stderr().contains("unknown.damaged"), "{ran:?}");
            assert_eq!(std::fs::read(&kept).unwrap(), garbage, "it was written to");
            home.run(["fsck"]).ok();
        } else {
            // Garbage again within a day: somebody has to look.
            assert!(ran.stderr().contains("less than a day ago"), "{ran:?}");
            assert_eq!(std::fs::read(&journal).unwrap(), garbage);
        }
    }
}

#[test]
fn a_state_directory_that_is_a_file_is_called_healthy() {
    let home = Home::new();
    std::fs::write(home.state(), "a file").unwrap();
    for command in [
        vec!["status"],
        vec!["log"],
        vec!["query", "denied"],
        vec!["fsck"],
    ] {
        let ran = home.run(&command);
        assert_ne!(ran.code(), 0, "{command:?}: {ran:?}");
    }
}

#[test]
fn a_secret_in_a_name_is_stored_or_repeated() {
    let home = Home::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let file = home.file(&format!("password={secret}.log"), Workload::text(9, 10));
    let named = home
        .run(["ingest", file.to_str().unwrap(), "--sandbox", secret])
        .ended_with(2);
    let read = home
        .run(["ingest", file.to_str().unwrap(), "--sandbox", "s", "--json"])
        .ok();
    let missing = home
        .run(["ingest", &format!("/nowhere/{secret}"), "--sandbox", "s"])
        .ended_with(1);
    let url = format!("s3://key:{secret}@bucket/x");
    let archive = home
        .run(["query", "--archive", &url, "SELECT 1"])
        .ended_with(2);
    for ran in [&named, &read, &missing, &archive] {
        assert!(
            !ran.stdout().contains(secret) && !ran.stderr().contains(secret),
            "{ran:?}"
        );
    }
    let entries = home
        .run(["query", "SELECT * FROM entries", "-o", "jsonl"])
        .ok();
    assert!(!entries.stdout().contains(secret), "{entries:?}");
}

/// Edits of the journal's file that leave its entries alone: what entries say of a stream and of the journal's
/// beginning is compared, and what the archive says of its id.
#[test]
fn an_edit_of_a_name_or_an_id_in_the_file_is_not_noticed() {
    for (sql, told) in [
        (
            "UPDATE streams SET sandbox = 'other'",
            "L3: stream `import/s/1`",
        ),
        (
            "UPDATE streams SET sandbox_id = 'other'",
            "L3: stream `import/s/1`",
        ),
        (
            "UPDATE streams SET source = 'gateway'",
            "L3: stream `import/s/1`",
        ),
        (
            "UPDATE journal SET why = 'fork'",
            "why is `fork`, `journal_start` says `new`",
        ),
        (
            "UPDATE journal SET machine_label = 'other'",
            "machine_label is `other`",
        ),
        (
            "UPDATE journal SET id = '0123456789abcdef0123456789abcdef'",
            "its id was changed",
        ),
        (
            "UPDATE acks SET through = through + 1",
            "acknowledged that was not given",
        ),
    ] {
        let home = grown();
        home.run(["fsck"]).ok();
        let db = rusqlite::Connection::open(home.state().join("journal.sqlite")).unwrap();
        assert_eq!(db.execute(sql, []).unwrap(), 1, "{sql}");
        drop(db);
        let fsck = home.run(["fsck"]).ended_with(5);
        assert!(fsck.stdout().contains(told), "{sql}: {fsck:?}");
    }
}
