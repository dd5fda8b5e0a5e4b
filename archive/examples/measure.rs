//! Archives a seeded workload and prints what it took: `measure [ENTRIES] [DIRECTORY]`.
//!
//! Time to write (read-back included), bytes an entry with and without `raw`, bytes a column.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints and fails by panicking"
)]

#[path = "../tests/archive/workload.rs"]
mod workload;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use boundlane_archive::{Archiver, JournalId, Root, list};
use boundlane_record::Seq;
use boundlane_record::tree::Edge;
use parquet::file::reader::{FileReader, SerializedFileReader};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let entries: u64 = arguments
        .next()
        .map_or(1_000_000, |count| count.parse().unwrap());
    let temporary = tempfile::tempdir().unwrap();
    let directory = arguments
        .next()
        .map_or(temporary.path().to_owned(), PathBuf::from);
    let root = Root::at(directory.join("archive"));
    let (bytes, ends) = generate(entries);
    println!(
        "{entries} entries, {} canonical bytes each",
        bytes.len() as u64 / entries
    );

    let journal = JournalId::parse("0123456789abcdef0123456789abcdef").unwrap();
    let started = Instant::now();
    let archiver = Archiver::open(root.clone()).unwrap();
    let mut run = archiver.begin(&journal, &Edge::new()).unwrap();
    let mut start = 0;
    for (seq, end) in (1..).zip(&ends) {
        run.push(Seq(seq), &bytes[start..*end]).unwrap();
        start = *end;
    }
    let archived = run.finish().unwrap();
    println!("written and read back in {:?}", started.elapsed());
    println!(
        "resident at most {} MiB, {} MiB of it the workload",
        resident_mib(),
        (bytes.len() + 8 * ends.len()) >> 20
    );

    for (name, what) in [
        ("listed", 1),
        ("verified, one thread", 1),
        ("verified, two threads", 2),
    ] {
        let started = Instant::now();
        let listing = list(&root);
        if name != "listed" {
            for file in &listing.files {
                file.open().unwrap().verify(what).unwrap();
            }
        }
        println!("{name} in {:?}", started.elapsed());
    }
    let paths: Vec<&Path> = archived
        .files
        .iter()
        .map(|file| file.path.as_path())
        .collect();
    print_columns(&paths, entries);
}

fn generate(entries: u64) -> (Vec<u8>, Vec<usize>) {
    let mut workload = workload::Workload::new(7);
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..entries {
        workload.entry(&mut bytes);
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .next()
        .unwrap()
        .parse::<u64>()
        .unwrap()
        / 1024
}

#[allow(clippy::cast_precision_loss, reason = "printed with two digits")]
fn print_columns(paths: &[&Path], entries: u64) {
    let mut columns: BTreeMap<String, i64> = BTreeMap::new();
    let mut total = 0;
    for path in paths {
        total += std::fs::metadata(path).unwrap().len();
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        for group in reader.metadata().row_groups() {
            for column in group.columns() {
                *columns.entry(column.column_path().string()).or_default() +=
                    column.compressed_size();
            }
        }
    }
    let each = |bytes: f64| bytes / entries as f64;
    let in_columns: i64 = columns.values().sum();
    let raw = columns["raw"];
    println!(
        "{:8.2} bytes an entry in {} files",
        each(total as f64),
        paths.len()
    );
    println!(
        "{:8.2} without the raw column",
        each(total as f64 - raw as f64)
    );
    println!(
        "{:8.2} outside of columns (footers, indexes, filters)",
        each(total as f64 - in_columns as f64)
    );
    let mut sorted: Vec<_> = columns.into_iter().collect();
    sorted.sort_by_key(|(_, bytes)| -bytes);
    for (name, bytes) in sorted {
        println!("{:8.3} {name}", each(bytes as f64));
    }
}
