//! Entries to columns: canonical bytes come in, one record batch goes out.

use std::sync::Arc;

use arrow::array::PrimitiveArray;
use arrow::array::{
    ArrayRef, BooleanBuilder, Int32Builder, Int64Builder, RecordBatch, StringArray, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow::datatypes::Int64Type;
use arrow::error::ArrowError;
use boundlane_record::{Column, ColumnType, PlaceColumn, Seq, Value};

use crate::schema::schema;

/// Columns that grow by one row at a time. A column costs nothing for a row in which it is absent.
pub(crate) struct Columns {
    rows: usize,
    entry: Vec<Builder>,
    rest: Builder,
}

impl Columns {
    /// Empty columns with room for `rows` rows.
    pub(crate) fn with_capacity(rows: usize) -> Columns {
        let builder = |column: &Column| Builder::new(column.column_type(), rows);
        Columns {
            rows: 0,
            entry: Column::ALL.iter().map(builder).collect(),
            rest: Builder::new(PlaceColumn::rest.column_type(), 0),
        }
    }

    /// Puts a value into the row at hand.
    pub(crate) fn put(&mut self, column: Column, value: Value<'_>) {
        self.entry[column as usize].put(self.rows, value);
    }

    /// Ends the row at hand, with what its reader did not know.
    pub(crate) fn end_row(&mut self, rest: &str) {
        if !rest.is_empty() {
            self.rest.put(self.rows, Value::Text(rest));
        }
        self.rows += 1;
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes the batch of the rows so far: numbers from `first` on, all of `journal` and `machine`. The
    /// columns are empty again.
    pub(crate) fn take(
        &mut self,
        first: Seq,
        journal: &str,
        machine: Option<&str>,
    ) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        let number = |index: usize| i64::try_from(first.0 + index as u64).unwrap_or(i64::MAX);
        let seq = PrimitiveArray::<Int64Type>::from_iter_values((0..rows).map(number));
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(seq),
            Arc::new(repeated(Some(journal), rows)),
            Arc::new(repeated(machine, rows)),
        ];
        arrays.extend(self.entry.iter_mut().map(|builder| builder.take(rows)));
        arrays.push(self.rest.take(rows));
        RecordBatch::try_new(schema(), arrays)
    }
}

fn repeated(text: Option<&str>, rows: usize) -> StringArray {
    let Some(text) = text else {
        return StringArray::new_null(rows);
    };
    let mut builder = StringBuilder::with_capacity(rows, rows * text.len());
    builder.append_value_n(text, rows);
    builder.finish()
}

/// One column that is being built, and how many rows of it are filled.
struct Builder {
    filled: usize,
    values: Values,
}

enum Values {
    Text(StringBuilder),
    Int(Int32Builder),
    Long(Int64Builder),
    Time(TimestampMicrosecondBuilder),
    Bool(BooleanBuilder),
}

impl Builder {
    fn new(column_type: ColumnType, rows: usize) -> Builder {
        let values = match column_type {
            ColumnType::Text => Values::Text(StringBuilder::with_capacity(rows, 0)),
            ColumnType::Int => Values::Int(Int32Builder::new()),
            ColumnType::Long => Values::Long(Int64Builder::new()),
            ColumnType::Time => {
                Values::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            ColumnType::Bool => Values::Bool(BooleanBuilder::new()),
        };
        Builder { filled: 0, values }
    }

    fn put(&mut self, at: usize, value: Value<'_>) {
        self.fill(at);
        self.filled = at + 1;
        match (&mut self.values, value) {
            (Values::Text(builder), Value::Text(text)) => builder.append_value(text),
            (Values::Int(builder), Value::Int(n)) => builder.append_value(n),
            (Values::Long(builder), Value::Long(n)) => builder.append_value(n),
            (Values::Time(builder), Value::Time(micros)) => builder.append_value(micros.0),
            (Values::Bool(builder), Value::Bool(b)) => builder.append_value(b),
            _ => unreachable!("a row gives every column in the column's own type"),
        }
    }

    /// Appends nulls up to row `to`.
    fn fill(&mut self, to: usize) {
        let missing = to - self.filled;
        if missing == 0 {
            return;
        }
        self.filled = to;
        match &mut self.values {
            Values::Text(builder) => builder.append_nulls(missing),
            Values::Int(builder) => builder.append_nulls(missing),
            Values::Long(builder) => builder.append_nulls(missing),
            Values::Time(builder) => builder.append_nulls(missing),
            Values::Bool(builder) => builder.append_nulls(missing),
        }
    }

    fn take(&mut self, rows: usize) -> ArrayRef {
        self.fill(rows);
        self.filled = 0;
        match &mut self.values {
            Values::Text(builder) => {
                // The next rows are likely about as long: no growing step by step, which copies.
                let bytes = builder.values_slice().len();
                let next = StringBuilder::with_capacity(rows, bytes + bytes / 8);
                Arc::new(std::mem::replace(builder, next).finish())
            }
            Values::Int(builder) => Arc::new(builder.finish()),
            Values::Long(builder) => Arc::new(builder.finish()),
            Values::Time(builder) => Arc::new(builder.finish()),
            Values::Bool(builder) => Arc::new(builder.finish()),
        }
    }
}
