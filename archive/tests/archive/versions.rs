//! Files of other versions of the program: committed ones of the past, and what the rules allow for later.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use boundlane_archive::{Archiver, OpenFile, OsDisk, list};
use boundlane_record::canonical::decode;
use boundlane_record::{Seq, tree::Edge};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::support::{SMALL, journal, new_root, numbered, workload};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/v1")
        .join(name)
}

/// Entries of every kind, with what is hard to carry: escapes, empty texts, extremes, newer keys.
fn entries() -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(fixture("entries.jsonl")).unwrap();
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

fn read(file: &OpenFile) -> Vec<Vec<u8>> {
    let mut read = file.entries(Seq::FIRST);
    let mut all = Vec::new();
    while let Some(entry) = read.next() {
        all.push(entry.unwrap().1.to_vec());
    }
    all
}

#[test]
fn a_file_of_version_1_gives_the_entries_that_were_written() {
    // The committed file was written once by version 1; nobody writes it again.
    let name = format!("{}-000000000001-{:012}.parquet", journal(), entries().len());
    let file = OpenFile::open(&fixture(&name)).unwrap();
    assert_eq!(file.footer().schema_version, 1);
    assert_eq!(file.verify(1), Ok(file.footer().head()));
    assert_eq!(read(&file), entries());
}

#[test]
fn this_program_still_archives_the_entries_of_version_1() {
    let (_directory, root) = new_root();
    let archiver = Archiver::open_with(root.clone(), Arc::new(OsDisk), SMALL).unwrap();
    archiver
        .write(&journal(), &Edge::new(), numbered(0, &entries()))
        .unwrap();
    crate::support::assert_holds(&root, &entries());
}

/// A file whose columns went through `change`, with the same footer.
fn rewritten(
    entries: &[Vec<u8>],
    change: impl Fn(Vec<(Field, ArrayRef)>) -> Vec<(Field, ArrayRef)>,
) -> (tempfile::TempDir, PathBuf) {
    let (directory, root) = new_root();
    let archiver = Archiver::open(root.clone()).unwrap();
    archiver
        .write(&journal(), &Edge::new(), numbered(0, entries))
        .unwrap();
    let path = list(&root).files[0].path.clone();
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let footer = builder
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .cloned();
    let is_kept = |pair: &KeyValue| pair.key != "boundlane.seals";
    let footer: Vec<KeyValue> = footer.unwrap().into_iter().filter(is_kept).collect();
    let batch = builder.build().unwrap().next().unwrap().unwrap();
    let fields = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.as_ref().clone())
        .collect::<Vec<_>>();
    let columns = change(
        fields
            .into_iter()
            .zip(batch.columns().iter().cloned())
            .collect(),
    );
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(footer))
        .build();
    let other = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(other, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    (directory, path)
}

fn place(columns: &[(Field, ArrayRef)], name: &str) -> usize {
    columns
        .iter()
        .position(|(field, _)| field.name() == name)
        .unwrap()
}

#[test]
fn columns_of_a_newer_writer_read_on_as_the_rest_of_the_entry() {
    // The newer writer has a column where this program has a key in `rest`; the bytes are the same.
    let entries: Vec<Vec<u8>> = (0..9)
        .map(|n| {
            format!(r#"{{"kind":"event","raw":"{n}","new_word":"w\n{n}","z":{n}}}"#).into_bytes()
        })
        .collect();
    let (_directory, path) = rewritten(&entries, |mut columns| {
        let rest = place(&columns, "rest");
        let field = |name: &str, id: &str| {
            let id = ("PARQUET:field_id".to_owned(), id.to_owned());
            Field::new(name, DataType::Utf8, true).with_metadata([id].into())
        };
        let words: StringArray = (0..9).map(|n| Some(format!("w\n{n}"))).collect();
        let numbers: StringArray = (0..9).map(|n| Some(format!(",\"z\":{n}"))).collect();
        columns[rest].1 = Arc::new(numbers);
        columns.insert(rest, (field("new_word", "56"), Arc::new(words)));
        columns.push((field("tomorrows_place", "1005"), columns[1].1.clone()));
        columns
    });
    let file = OpenFile::open(&path).unwrap();
    assert_eq!(file.verify(1), Ok(file.footer().head()));
    assert_eq!(read(&file), entries);
    assert_eq!(
        decode(&read(&file)[3]).unwrap().rest,
        r#","new_word":"w\n3","z":3"#
    );
}

#[test]
fn a_file_without_some_columns_or_with_wider_ones_gives_the_same_entries() {
    // B141: what an older writer did not have is absent; an int32 widened to int64 is the same number.
    let entries = workload(50);
    let (_directory, path) = rewritten(&entries, |mut columns| {
        let missing = ["machine", "expunged", "digest", "evidence"];
        columns.retain(|(field, _)| !missing.contains(&field.name().as_str()));
        for name in ["pid", "class_uid"] {
            let at = place(&columns, name);
            columns[at].1 = cast(&columns[at].1, &DataType::Int64).unwrap();
            columns[at].0 = columns[at].0.clone().with_data_type(DataType::Int64);
        }
        columns
    });
    let file = OpenFile::open(&path).unwrap();
    assert_eq!(file.verify(1), Ok(file.footer().head()));
    assert_eq!(read(&file), entries);
}

#[test]
fn a_column_that_no_rule_allows_is_named() {
    let entries = workload(5);
    let (_directory, path) = rewritten(&entries, |mut columns| {
        let host = place(&columns, "host");
        columns[host].1 = columns[place(&columns, "port")].1.clone();
        columns[host].0 = columns[host].0.clone().with_data_type(DataType::Int32);
        columns
    });
    let refused = OpenFile::open(&path).unwrap_err();
    assert_eq!(refused.why, "its column `host` is Int32, not text");
    let (_directory, path) = rewritten(&entries, |mut columns| {
        let (host, port) = (place(&columns, "host"), place(&columns, "port"));
        columns.swap(host, port);
        columns
    });
    let refused = OpenFile::open(&path).unwrap_err();
    assert_eq!(refused.why, "its column `host` is out of order");
}
