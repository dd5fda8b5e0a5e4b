//! Writes a journal that has rows in every table of the schema, for `tests/fixtures`, and one of a
//! newer schema beside it: `cargo run -p boundlane-store --example write_fixture -- DIR`.
//!
//! Run once for each released schema; a fixture that is committed is never written again.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for this crate's tests"
)]

#[path = "../tests/journal/feed.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod feed;

use std::fs;
use std::path::Path;

use boundlane_record::{Extent, Mark, Micros, Seq};
use boundlane_store::{Consumer, Number, StateDir};

const LINES: u64 = 600;

fn main() {
    let to = std::env::args().nth(1).unwrap();
    let (_parent, dir) = feed::state();
    write(&dir);
    let files = |name: &str| Path::new(&to).join(name);
    for version in ["v1", "v99"] {
        fs::create_dir_all(files(version)).unwrap();
        fs::copy(dir.journal_path(), files(version).join("journal.sqlite")).unwrap();
        fs::copy(dir.digest_key_path(), files(version).join("digest.key")).unwrap();
    }
    make_newer(&files("v99").join("journal.sqlite"));
    let reader = feed::reader(&dir);
    let head = reader.head().unwrap();
    println!("journal {}", head.journal);
    println!("size {} root {}", head.size, head.root);
    println!("records {}", feed::raws(&reader).len());
    feed::assert_sound(&dir);
}

fn write(dir: &StateDir) {
    let mut journal = feed::open(dir);
    let (mut line, mut version) = (0, None);
    while line < LINES {
        let end = feed::end_of_item(line, LINES);
        let mut part = feed::part("a", line..end, version);
        part.checkpoint.marks.add.push(Mark {
            offset: end * 80,
            digest: [7; 32],
        });
        version = Some(journal.append(&[part.item()]).unwrap().items[0].version);
        line = end;
    }
    journal.number_open_losses(Number::All, Micros(6)).unwrap();
    let mut lossy = feed::part("b", 0..3, None);
    lossy.open_losses = vec![feed::gap(Extent::Unknown)];
    journal.append(&[lossy.item()]).unwrap();
    journal
        .acknowledge(Consumer::Archiver, Seq(300), Micros(7))
        .unwrap();
}

/// What a newer program may do to the schema, and what it keeps: see `schema.sql`.
fn make_newer(path: &Path) {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99; \
         UPDATE journal SET written_by = 'boundlane 9.0.0'; \
         ALTER TABLE blocks RENAME TO runs; PRAGMA journal_mode = WAL;",
    )
    .unwrap();
    db.close().unwrap();
}
