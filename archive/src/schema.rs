//! The one schema: the entry's place, its columns in canonical order, and what a reader did not know.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use boundlane_record::{Column, ColumnType, PlaceColumn};
use parquet::arrow::{ArrowSchemaConverter, PARQUET_FIELD_ID_META_KEY};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::{ColumnPath, TypePtr};

use crate::limits::Limits;

/// Field ids from here on are of columns around the entry, not of the entry.
pub(crate) const PLACE_IDS_FROM: i32 = 1001;

/// The archive's Arrow schema: `seq`, `journal`, `machine`, every entry column in canonical order, `rest`.
///
/// Every column is optional and flat and carries its Parquet field id; times are microseconds, UTC.
pub fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let place =
            |column: &PlaceColumn| field(column.name(), column.column_type(), column.field_id());
        let (before, rest): (Vec<_>, Vec<_>) = PlaceColumn::ALL
            .iter()
            .partition(|column| **column != PlaceColumn::rest);
        let entry = Column::ALL
            .iter()
            .map(|column| field(column.name(), column.column_type(), column.field_id()));
        let before = before.into_iter().map(place);
        let fields: Vec<Field> = before
            .chain(entry)
            .chain(rest.into_iter().map(place))
            .collect();
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

fn field(name: &str, column_type: ColumnType, id: i32) -> Field {
    let metadata = HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())]);
    Field::new(name, data_type(column_type), true).with_metadata(metadata)
}

/// The Arrow type of a column type.
pub fn data_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::Text => DataType::Utf8,
        ColumnType::Int => DataType::Int32,
        ColumnType::Long => DataType::Int64,
        ColumnType::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        ColumnType::Bool => DataType::Boolean,
    }
}

/// The same schema in Parquet's own terms.
pub(crate) fn parquet_schema() -> Result<TypePtr, ParquetError> {
    let descriptor = ArrowSchemaConverter::new()
        .schema_root("entry")
        .convert(&schema())?;
    Ok(descriptor.root_schema_ptr())
}

/// How files are encoded: zstd, small row groups, page index, bloom filters where a rare value is asked
/// for by equality, and delta packing for what grows from row to row.
pub(crate) fn writer_properties(limits: &Limits) -> WriterProperties {
    let level = ZstdLevel::try_new(limits.zstd_level).unwrap_or_default();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(crate::PROGRAM.to_owned())
        .set_max_row_group_row_count(Some(limits.row_group_entries_max))
        .set_sorting_columns(Some(vec![SortingColumn {
            column_idx: 0,
            descending: false,
            nulls_first: false,
        }]));
    for name in [
        PlaceColumn::seq.name(),
        Column::time.name(),
        Column::observed.name(),
    ] {
        properties = packed(properties, name, Encoding::DELTA_BINARY_PACKED);
    }
    properties = packed(properties, Column::raw.name(), Encoding::PLAIN);
    for column in [
        Column::host,
        Column::sandbox,
        Column::sandbox_id,
        Column::rule,
    ] {
        let path = ColumnPath::from(column.name());
        properties = properties
            .set_column_bloom_filter_enabled(path.clone(), true)
            .set_column_bloom_filter_fpp(path, 0.01);
    }
    properties.build()
}

/// Every value spelled out, not looked up: for columns whose values hardly repeat.
fn packed(
    properties: WriterPropertiesBuilder,
    name: &str,
    encoding: Encoding,
) -> WriterPropertiesBuilder {
    let path = ColumnPath::from(name);
    properties
        .set_column_dictionary_enabled(path.clone(), false)
        .set_column_encoding(path, encoding)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use parquet::basic::{LogicalType, Repetition, Type};

    #[test]
    fn the_file_says_the_same_as_the_column_table() {
        let root = parquet_schema().unwrap();
        let fields = root.get_fields();
        assert_eq!(fields.len(), PlaceColumn::ALL.len() + Column::ALL.len());
        assert_eq!(fields[0].name(), "seq");
        assert_eq!(fields[fields.len() - 1].name(), "rest");
        for (field, column) in fields[3..].iter().zip(Column::ALL) {
            let basic = field.get_basic_info();
            assert_eq!(field.name(), column.name());
            assert_eq!(basic.id(), column.field_id(), "{}", column.name());
            assert_eq!(basic.repetition(), Repetition::OPTIONAL);
        }
    }

    #[test]
    fn times_are_microseconds_adjusted_to_utc_and_nothing_is_unsigned() {
        let root = parquet_schema().unwrap();
        for field in root.get_fields() {
            let basic = field.get_basic_info();
            match basic.logical_type_ref() {
                Some(LogicalType::Timestamp(timestamp)) => {
                    assert!(timestamp.is_adjusted_to_u_t_c, "{}", field.name());
                }
                Some(LogicalType::String) => {
                    assert_eq!(field.get_physical_type(), Type::BYTE_ARRAY);
                }
                None => {}
                other => panic!("{} is {other:?}", field.name()),
            }
        }
    }
}
