//! The files that explain an archive to somebody who has nothing else: `_README.txt` and `_schema.json`.

use std::path::Path;

use boundlane_record::{Column, ColumnType, PlaceColumn, SCHEMA_VERSION};
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::error::ArchiveError;
use crate::layout::Root;
use crate::words::words;

const README: &str = include_str!("explain/README.txt");

/// Writes both where they are missing or say something else.
pub(crate) fn write(disk: &dyn Disk, root: &Root) -> Result<(), ArchiveError> {
    write_text(disk, root, "_README.txt", README)?;
    write_text(disk, root, "_schema.json", &schema_json())
}

fn write_text(disk: &dyn Disk, root: &Root, name: &str, text: &str) -> Result<(), ArchiveError> {
    let path = root.path().join(name);
    if std::fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    let temporary = root.temporaries().join(format!("{name}.tmp"));
    let fail = |what, path: &Path| {
        let path = path.to_owned();
        move |error| ArchiveError::disk(what, &path, error)
    };
    let mut file = disk
        .create(&temporary)
        .map_err(fail("create", &temporary))?;
    file.write_all(text.as_bytes())
        .map_err(fail("write", &temporary))?;
    file.sync().map_err(fail("sync", &temporary))?;
    disk.rename(&temporary, &path)
        .map_err(fail("rename to", &path))?;
    disk.sync(root.path()).map_err(fail("sync", root.path()))
}

/// Every column with its type, field id, meaning and known values, in the files' order.
fn schema_json() -> String {
    let mut columns: Vec<Value> = Vec::new();
    let place = |column: PlaceColumn, meaning: &str| {
        described(
            column.name(),
            column.column_type(),
            column.field_id(),
            meaning,
            &[],
        )
    };
    columns.push(place(
        PlaceColumn::seq,
        "The entry's number in its journal, from 1 without holes.",
    ));
    columns.push(place(PlaceColumn::journal, "The journal's id."));
    columns.push(place(
        PlaceColumn::machine,
        "The machine, as the receiver knows it; null in a local archive.",
    ));
    for column in Column::ALL {
        let (meaning, values) = words(*column);
        columns.push(described(
            column.name(),
            column.column_type(),
            column.field_id(),
            meaning,
            &values,
        ));
    }
    columns.push(place(
        PlaceColumn::rest,
        "Canonical keys that the writer did not know, verbatim; null when there are none.",
    ));
    let schema = json!({
        "format": "boundlane archive",
        "format_version": 1,
        "entry_version": SCHEMA_VERSION,
        "path": "v=1/date=YYYY-MM-DD/<journal>-<first seq>-<last seq>.parquet",
        "columns": columns,
    });
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text + "\n"
}

fn described(
    name: &str,
    column_type: ColumnType,
    id: i32,
    meaning: &str,
    values: &[&str],
) -> Value {
    let mut column = json!({
        "name": name,
        "type": column_type.word(),
        "field_id": id,
        "meaning": meaning,
    });
    if !values.is_empty() {
        column["values"] = json!(values);
    }
    column
}
