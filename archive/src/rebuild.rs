//! Columns to entries: the canonical bytes of each row of a record batch.
//!
//! The plan comes from the *file's* schema, not from this program's: canonical keys are the file's entry
//! columns in their order, because columns are only ever added at the end. So a file of an older writer
//! (fewer columns) and one of a newer writer (columns unknown here) both give back exactly the bytes that
//! went in; what is unknown here reads on as the `rest` of the row.

use arrow::array::{
    Array, AsArray, BooleanArray, Int32Array, Int64Array, RecordBatch, StringViewArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{
    DataType, Field, Int32Type, Int64Type, Schema, TimeUnit, TimestampMicrosecondType,
};
use boundlane_record::canonical::{encode_integer, encode_text};
use boundlane_record::{Column, ColumnType, PlaceColumn};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::schema::PLACE_IDS_FROM;

/// Which columns of a file make up its entries, in canonical order.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seq: usize,
    pub(crate) journal: usize,
    rest: usize,
    entry: Vec<(usize, Vec<u8>)>,
}

impl Plan {
    /// The plan for files of `schema`, or why they are no archive files.
    pub(crate) fn new(schema: &Schema) -> Result<Plan, String> {
        let place = |column: PlaceColumn| {
            let (index, field) = schema
                .column_with_name(column.name())
                .ok_or_else(|| format!("it has no column `{}`", column.name()))?;
            fits(field, column.column_type())?;
            Ok::<usize, String>(index)
        };
        let mut plan = Plan {
            seq: place(PlaceColumn::seq)?,
            journal: place(PlaceColumn::journal)?,
            rest: place(PlaceColumn::rest)?,
            entry: Vec::with_capacity(Column::ALL.len()),
        };
        let mut order = Order::default();
        for (index, field) in schema.fields().iter().enumerate() {
            if is_place(field)? {
                continue;
            }
            order.admit(field)?;
            let mut key = Vec::new();
            encode_text(field.name(), &mut key);
            key.push(b':');
            plan.entry.push((index, key));
        }
        Ok(plan)
    }

    /// The rows of `batch`, ready to be spelled.
    pub(crate) fn rows<'b>(&'b self, batch: &'b RecordBatch) -> Rows<'b> {
        let present = |&(index, ref key): &'b (usize, Vec<u8>)| {
            let array = batch.column(index);
            let whole = array.null_count() == 0;
            (array.null_count() < array.len()).then(|| Cells {
                key,
                whole,
                values: Values::of(array),
            })
        };
        Rows {
            cells: self.entry.iter().filter_map(present).collect(),
            rest: batch.column(self.rest).as_string_view(),
        }
    }
}

fn is_place(field: &Field) -> Result<bool, String> {
    if PlaceColumn::ALL
        .iter()
        .any(|column| column.name() == field.name())
    {
        return Ok(true);
    }
    let id = field.metadata().get(PARQUET_FIELD_ID_META_KEY);
    match id.and_then(|id| id.parse::<i32>().ok()) {
        Some(id) => Ok(id >= PLACE_IDS_FROM),
        None => Err(format!("its column `{}` has no field id", field.name())),
    }
}

/// Known columns in their order, then unknown ones: the only order from which keys come out canonical.
#[derive(Default)]
struct Order {
    lowest: usize,
    newer: bool,
}

impl Order {
    fn admit(&mut self, field: &Field) -> Result<(), String> {
        let name = field.name();
        let Some(column) = Column::from_name(name) else {
            self.newer = true;
            return fits_any(field);
        };
        if self.newer || (column as usize) < self.lowest {
            return Err(format!("its column `{name}` is out of order"));
        }
        self.lowest = column as usize + 1;
        fits(field, column.column_type())
    }
}

fn fits_any(field: &Field) -> Result<(), String> {
    let types = [
        ColumnType::Text,
        ColumnType::Long,
        ColumnType::Time,
        ColumnType::Bool,
    ];
    if types
        .iter()
        .any(|column_type| fits(field, *column_type).is_ok())
    {
        return Ok(());
    }
    let (name, found) = (field.name(), field.data_type());
    Err(format!(
        "its column `{name}` is {found}, which a newer program must have written; upgrade to read it"
    ))
}

/// Integers of both widths fit both column types: a column may be widened.
fn fits(field: &Field, column_type: ColumnType) -> Result<(), String> {
    let fits = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            column_type == ColumnType::Text
        }
        DataType::Int32 | DataType::Int64 => {
            matches!(column_type, ColumnType::Int | ColumnType::Long)
        }
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => column_type == ColumnType::Time,
        DataType::Boolean => column_type == ColumnType::Bool,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let (name, found) = (field.name(), field.data_type());
    Err(format!(
        "its column `{name}` is {found}, not {}",
        column_type.word()
    ))
}

/// The rows of one batch.
pub(crate) struct Rows<'b> {
    cells: Vec<Cells<'b>>,
    rest: &'b StringViewArray,
}

struct Cells<'b> {
    key: &'b [u8],
    whole: bool,
    values: Values<'b>,
}

enum Values<'b> {
    Text(&'b StringViewArray),
    Int(&'b Int32Array),
    Long(&'b Int64Array),
    Time(&'b TimestampMicrosecondArray),
    Bool(&'b BooleanArray),
}

impl<'b> Values<'b> {
    fn of(array: &'b dyn Array) -> Values<'b> {
        match array.data_type() {
            DataType::Int32 => Values::Int(array.as_primitive::<Int32Type>()),
            DataType::Int64 => Values::Long(array.as_primitive::<Int64Type>()),
            DataType::Timestamp(..) => {
                Values::Time(array.as_primitive::<TimestampMicrosecondType>())
            }
            DataType::Boolean => Values::Bool(array.as_boolean()),
            _ => Values::Text(array.as_string_view()),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Values::Text(array) => array.is_null(row),
            Values::Int(array) => array.is_null(row),
            Values::Long(array) => array.is_null(row),
            Values::Time(array) => array.is_null(row),
            Values::Bool(array) => array.is_null(row),
        }
    }

    fn spell(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Values::Text(array) => encode_text(array.value(row), out),
            Values::Int(array) => encode_integer(i64::from(array.value(row)), out),
            Values::Long(array) => encode_integer(array.value(row), out),
            Values::Time(array) => encode_integer(array.value(row), out),
            Values::Bool(array) if array.value(row) => out.extend_from_slice(b"true"),
            Values::Bool(_) => out.extend_from_slice(b"false"),
        }
    }
}

impl Rows<'_> {
    /// Appends the canonical bytes of `row` to `out`.
    pub(crate) fn spell(&self, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        for cells in &self.cells {
            if !cells.whole && cells.values.is_null(row) {
                continue;
            }
            out.push(b',');
            out.extend_from_slice(cells.key);
            cells.values.spell(row, out);
        }
        if self.rest.is_valid(row) {
            out.extend_from_slice(self.rest.value(row).as_bytes());
        }
        match out.get_mut(start) {
            Some(comma) => *comma = b'{',
            None => out.push(b'{'),
        }
        out.push(b'}');
    }
}
