//! Rows to arrays and back, for the columns that somebody asked for.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanBuilder, Int32Builder, Int64Builder, RecordBatch,
    RecordBatchOptions, StringViewBuilder, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{
    DataType, Field, Int32Type, Int64Type, Schema, SchemaRef, TimestampMicrosecondType,
};
use boundlane_record::{Column, Micros, Row, Seq, Value};
use datafusion::common::DataFusionError;

/// The archive's newest schema as it is read here: texts are views, which decode without copying.
pub(crate) fn table_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let archived = boundlane_archive::schema();
        let fields: Vec<Field> = archived
            .fields()
            .iter()
            .map(|field| match field.data_type() {
                DataType::Utf8 => Field::new(field.name(), DataType::Utf8View, true),
                other => Field::new(field.name(), other.clone(), true),
            })
            .collect();
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

/// Where the values of one array come from.
#[derive(Clone, Copy)]
enum Origin {
    Seq,
    Journal,
    Rest,
    Nowhere,
    Entry(Column),
}

impl Origin {
    fn named(name: &str) -> Origin {
        match name {
            "seq" => Origin::Seq,
            "journal" => Origin::Journal,
            "rest" => Origin::Rest,
            name => Column::from_name(name).map_or(Origin::Nowhere, Origin::Entry),
        }
    }
}

enum Builder {
    Text(StringViewBuilder),
    Int(Int32Builder),
    Long(Int64Builder),
    Time(TimestampMicrosecondBuilder),
    Bool(BooleanBuilder),
}

impl Builder {
    fn of(data_type: &DataType) -> Builder {
        match data_type {
            DataType::Int32 => Builder::Int(Int32Builder::new()),
            DataType::Int64 => Builder::Long(Int64Builder::new()),
            DataType::Timestamp(..) => {
                Builder::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            DataType::Boolean => Builder::Bool(BooleanBuilder::new()),
            _ => Builder::Text(StringViewBuilder::new()),
        }
    }

    fn push(&mut self, value: Option<Value<'_>>) {
        match (self, value) {
            (Builder::Text(b), Some(Value::Text(text))) => b.append_value(text),
            (Builder::Text(b), _) => b.append_null(),
            (Builder::Int(b), Some(Value::Int(n))) => b.append_value(n),
            (Builder::Int(b), _) => b.append_null(),
            (Builder::Long(b), Some(Value::Long(n))) => b.append_value(n),
            (Builder::Long(b), _) => b.append_null(),
            (Builder::Time(b), Some(Value::Time(at))) => b.append_value(at.0),
            (Builder::Time(b), _) => b.append_null(),
            (Builder::Bool(b), Some(Value::Bool(is))) => b.append_value(is),
            (Builder::Bool(b), _) => b.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(b) => Arc::new(b.finish()),
            Builder::Int(b) => Arc::new(b.finish()),
            Builder::Long(b) => Arc::new(b.finish()),
            Builder::Time(b) => Arc::new(b.finish()),
            Builder::Bool(b) => Arc::new(b.finish()),
        }
    }
}

/// A batch under construction.
pub(crate) struct Arrays {
    schema: SchemaRef,
    columns: Vec<(Origin, Builder)>,
    rows: usize,
}

impl Arrays {
    /// `schema` holds columns of [`table_schema`], any of them in any order.
    pub(crate) fn new(schema: &SchemaRef) -> Arrays {
        let column =
            |field: &Arc<Field>| (Origin::named(field.name()), Builder::of(field.data_type()));
        Arrays {
            schema: Arc::clone(schema),
            columns: schema.fields().iter().map(column).collect(),
            rows: 0,
        }
    }

    pub(crate) fn push(&mut self, seq: Option<Seq>, journal: &str, row: &Row<'_>) {
        for (from, builder) in &mut self.columns {
            builder.push(match *from {
                Origin::Seq => seq.map(|seq| Value::Long(i64::try_from(seq.0).unwrap_or(i64::MAX))),
                Origin::Journal => Some(Value::Text(journal)),
                Origin::Rest => (!row.rest.is_empty()).then_some(Value::Text(&row.rest)),
                Origin::Nowhere => None,
                Origin::Entry(column) => row.value(column),
            });
        }
        self.rows += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The rows so far; none are left.
    pub(crate) fn take(&mut self) -> Result<RecordBatch, DataFusionError> {
        let arrays = self.columns.iter_mut().map(|(_, b)| b.finish()).collect();
        let rows = std::mem::take(&mut self.rows);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?;
        Ok(batch)
    }
}

/// The columns of one batch that coverage looks at.
pub(crate) struct LossColumns<'b> {
    batch: &'b RecordBatch,
}

/// The columns that [`LossColumns`] needs.
pub(crate) const LOSS_COLUMNS: [&str; 14] = [
    "seq",
    "journal",
    "kind",
    "observed",
    "sandbox",
    "sandbox_id",
    "source",
    "cause",
    "extent",
    "count",
    "denied",
    "from",
    "to",
    "evidence",
];

impl<'b> LossColumns<'b> {
    pub(crate) fn of(batch: &'b RecordBatch) -> LossColumns<'b> {
        LossColumns { batch }
    }

    /// Journal, number and columns of row `at`.
    pub(crate) fn row(&self, at: usize) -> (&'b str, Option<Seq>, Row<'b>) {
        let row = Row {
            kind: self.cow("kind", at),
            observed: self.time("observed", at),
            sandbox: self.cow("sandbox", at),
            sandbox_id: self.cow("sandbox_id", at),
            source: self.cow("source", at),
            cause: self.cow("cause", at),
            extent: self.cow("extent", at),
            count: self.long("count", at),
            denied: self.long("denied", at),
            from: self.time("from", at),
            to: self.time("to", at),
            evidence: self.cow("evidence", at),
            ..Row::default()
        };
        let seq = self.long("seq", at).and_then(|seq| u64::try_from(seq).ok());
        (self.text("journal", at).unwrap_or(""), seq.map(Seq), row)
    }

    fn array(&self, name: &str) -> Option<&'b ArrayRef> {
        self.batch.column_by_name(name)
    }

    fn text(&self, name: &str, at: usize) -> Option<&'b str> {
        let array = self.array(name)?.as_string_view_opt()?;
        array.is_valid(at).then(|| array.value(at))
    }

    fn cow(&self, name: &str, at: usize) -> Option<Cow<'b, str>> {
        self.text(name, at).map(Cow::Borrowed)
    }

    fn long(&self, name: &str, at: usize) -> Option<i64> {
        let array = self.array(name)?;
        if let Some(int) = array.as_primitive_opt::<Int32Type>() {
            return int.is_valid(at).then(|| i64::from(int.value(at)));
        }
        let array = array.as_primitive_opt::<Int64Type>()?;
        array.is_valid(at).then(|| array.value(at))
    }

    fn time(&self, name: &str, at: usize) -> Option<Micros> {
        let array = self.array(name)?;
        let array = array.as_primitive_opt::<TimestampMicrosecondType>()?;
        array.is_valid(at).then(|| Micros(array.value(at)))
    }
}
