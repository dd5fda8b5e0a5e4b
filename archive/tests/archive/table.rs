//! What other engines and people find: footers, encodings, explanations, permissions.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use boundlane_archive::{Archiver, Losses, list};
use boundlane_record::Micros;
use boundlane_record::tree::Edge;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

use crate::support::{edge_over, journal, new_root, numbered, workload};

#[test]
fn the_footer_says_what_is_in_the_file() {
    let (_directory, root) = new_root();
    let entries: Vec<Vec<u8>> = [
        r#"{"kind":"decision","outcome":"denied","time":50,"observed":100}"#,
        r#"{"kind":"decision","outcome":"allowed","time":40,"observed":101}"#,
        r#"{"kind":"event","observed":102}"#,
        r#"{"kind":"gap","observed":103,"cause":"lagged","from":90,"to":95,"evidence":"{\"after_time\":30,\"before_time\":99}"}"#,
    ]
    .map(|entry| entry.as_bytes().to_vec())
    .to_vec();
    let archiver = Archiver::open(root.clone()).unwrap();
    archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries))
        .unwrap();
    let footer = list(&root).files.remove(0).footer;
    assert_eq!(footer.edge_after, edge_over(&entries));
    let tally = footer.tally;
    assert_eq!(
        (tally.time.first(), tally.time.last()),
        (Some(Micros(40)), Some(Micros(50)))
    );
    assert_eq!(
        (tally.observed.first(), tally.observed.last()),
        (Some(Micros(100)), Some(Micros(103)))
    );
    let losses = Losses {
        rows: 1,
        from: Some(Micros(30)),
        to: Some(Micros(99)),
    };
    assert_eq!(tally.losses, losses);
    assert_eq!(tally.kinds["decision"], 2);
    assert_eq!(tally.outcomes["denied"], 1);
}

#[test]
fn engines_find_statistics_indexes_filters_and_order() {
    let (_directory, root) = new_root();
    let archiver = Archiver::open(root.clone()).unwrap();
    let archived = archiver
        .write(&journal(), &Edge::new(), numbered(0, &workload(100)))
        .unwrap();
    let options = ReadOptionsBuilder::new().with_page_index().build();
    let file = File::open(&archived.files[0].path).unwrap();
    let reader = SerializedFileReader::new_with_options(file, options).unwrap();
    let metadata = reader.metadata();
    assert!(metadata.column_index().is_some() && metadata.offset_index().is_some());
    let group = metadata.row_group(0);
    assert_eq!(group.sorting_columns().unwrap()[0].column_idx, 0);
    let with_filter: Vec<String> = group
        .columns()
        .iter()
        .filter(|column| column.bloom_filter_offset().is_some())
        .map(|column| column.column_path().string())
        .collect();
    assert_eq!(with_filter, ["sandbox", "sandbox_id", "host", "rule"]);
    assert!(
        group
            .columns()
            .iter()
            .all(|column| column.statistics().is_some())
    );
}

#[test]
fn the_archive_explains_itself_once_and_again_when_outdated() {
    let (_directory, root) = new_root();
    Archiver::open(root.clone()).unwrap();
    let readme = root.path().join("_README.txt");
    let schema = root.path().join("_schema.json");
    let text = std::fs::read_to_string(&readme).unwrap();
    for needle in [
        "read_parquet(",
        "pyarrow.dataset",
        "kind = 'gap'",
        "superseded",
        "RFC 9162",
    ] {
        assert!(text.contains(needle), "{needle}");
    }
    let described: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&schema).unwrap()).unwrap();
    let columns = described["columns"].as_array().unwrap();
    let names: Vec<&str> = columns
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    let fields = boundlane_archive::schema();
    let expected: Vec<&str> = fields
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(names, expected);
    let written = std::fs::metadata(&readme).unwrap().modified().unwrap();
    Archiver::open(root.clone()).unwrap();
    assert_eq!(
        std::fs::metadata(&readme).unwrap().modified().unwrap(),
        written
    );
    std::fs::write(&schema, b"{}").unwrap();
    Archiver::open(root.clone()).unwrap();
    assert!(std::fs::read(&schema).unwrap().len() > 1000);
}

#[test]
fn files_are_for_their_owner_only() {
    let (_directory, root) = new_root();
    let archiver = Archiver::open(root.clone()).unwrap();
    let archived = archiver
        .write(&journal(), &Edge::new(), numbered(0, &workload(3)))
        .unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&archived.files[0].path), 0o600);
    assert_eq!(mode(root.path()), 0o700);
}

#[test]
fn what_an_earlier_run_left_unfinished_is_removed() {
    let (_directory, root) = new_root();
    Archiver::open(root.clone()).unwrap();
    std::fs::write(root.temporaries().join("x.parquet.tmp"), b"half").unwrap();
    Archiver::open(root.clone()).unwrap();
    assert_eq!(crate::support::temporaries(&root), 0);
}
