//! An answer's rows, cell by cell, for whoever prints them.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Schema,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use boundlane_record::Micros;

/// What a column's cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// UTF-8 text.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// True or false.
    Bool,
    /// A moment.
    Time,
    /// Anything else that SQL can make; given as text.
    Other,
}

/// One column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name. Names may repeat in an answer to SQL.
    pub name: String,
    /// What its cells are, where they are not null.
    pub cells: CellType,
}

/// One value. Texts come from sandboxes: whoever prints them escapes them.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'r> {
    /// Nothing.
    Null,
    /// UTF-8 text.
    Text(&'r str),
    /// A whole number; wide enough for every integer that SQL can make.
    Integer(i128),
    /// A number with a fraction.
    Real(f64),
    /// True or false.
    Bool(bool),
    /// A moment, cut to microseconds.
    Time(Micros),
    /// The text of any other value.
    Other(String),
}

/// Some rows of an answer.
#[derive(Debug, Clone)]
pub struct Rows {
    batch: RecordBatch,
}

impl Rows {
    pub(crate) fn new(batch: RecordBatch) -> Rows {
        Rows { batch }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value in `row` and `column`, both counted from 0; null outside of the answer.
    pub fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match self.batch.columns().get(column) {
            Some(array) if row < array.len() && array.is_valid(row) => valid(array, row),
            _ => Cell::Null,
        }
    }
}

pub(crate) fn output_columns(schema: &Schema) -> Vec<OutputColumn> {
    let column = |field: &std::sync::Arc<arrow::datatypes::Field>| OutputColumn {
        name: field.name().clone(),
        cells: cell_type(field.data_type()),
    };
    schema.fields().iter().map(column).collect()
}

fn cell_type(data_type: &DataType) -> CellType {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => CellType::Text,
        data_type if data_type.is_integer() => CellType::Integer,
        DataType::Float32 | DataType::Float64 => CellType::Real,
        DataType::Boolean => CellType::Bool,
        DataType::Timestamp(..) => CellType::Time,
        _ => CellType::Other,
    }
}

fn valid(array: &ArrayRef, row: usize) -> Cell<'_> {
    match array.data_type() {
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(row)),
        DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
        DataType::Float32 => Cell::Real(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Cell::Real(array.as_primitive::<Float64Type>().value(row)),
        DataType::Timestamp(unit, _) => Cell::Time(Micros(micros(array, *unit, row))),
        data_type if data_type.is_integer() => Cell::Integer(integer(array, row)),
        _ => Cell::Other(displayed(array, row)),
    }
}

fn micros(array: &ArrayRef, unit: TimeUnit, row: usize) -> i64 {
    match unit {
        TimeUnit::Second => array
            .as_primitive::<TimestampSecondType>()
            .value(row)
            .saturating_mul(1_000_000),
        TimeUnit::Millisecond => array
            .as_primitive::<TimestampMillisecondType>()
            .value(row)
            .saturating_mul(1_000),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
        TimeUnit::Nanosecond => array
            .as_primitive::<TimestampNanosecondType>()
            .value(row)
            .div_euclid(1_000),
    }
}

fn integer(array: &ArrayRef, row: usize) -> i128 {
    match array.data_type() {
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        _ => array.as_primitive::<UInt64Type>().value(row).into(),
    }
}

fn displayed(array: &ArrayRef, row: usize) -> String {
    match ArrayFormatter::try_new(array.as_ref(), &FormatOptions::default()) {
        Ok(formatter) => formatter.value(row).to_string(),
        Err(_) => format!("({})", array.data_type()),
    }
}
