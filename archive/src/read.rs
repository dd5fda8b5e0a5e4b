//! One file of the archive, read back: its footer, its entries in number order, its tree.
//!
//! Files are untrusted: whatever their bytes are, the answer is an entry or a [`BadFile`].

mod entries;
mod positioned;
mod sealed;
mod verify;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use boundlane_record::Seq;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use crate::footer::Footer;
use crate::rebuild::Plan;
pub use entries::Entries;
use entries::Spelled;
use positioned::Positioned;

/// Rows decoded at once.
const BATCH_ENTRIES_MAX: usize = 1024;

/// A file that cannot be read as part of the archive. It is named, counted into the coverage and skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be read: {why}", path.display())]
pub struct BadFile {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, beginning `it ...`.
    pub why: String,
}

/// An open file whose footer fits its own statements.
#[derive(Debug, Clone)]
pub struct OpenFile {
    path: PathBuf,
    reader: Positioned,
    metadata: ArrowReaderMetadata,
    plan: Plan,
    footer: Footer,
    /// Rows of each row group.
    groups: Vec<u64>,
}

impl OpenFile {
    /// Opens the file at `path` and reads its footer.
    ///
    /// # Errors
    /// [`BadFile`] when it is not a whole file of this archive's format.
    pub fn open(path: &Path) -> Result<OpenFile, BadFile> {
        OpenFile::try_open(path).map_err(|why| BadFile {
            path: path.to_owned(),
            why,
        })
    }

    fn try_open(path: &Path) -> Result<OpenFile, String> {
        let reader =
            Positioned::open(path).map_err(|error| format!("it cannot be opened ({error})"))?;
        let metadata = guarded(|| footer_metadata(&reader))?;
        let plan = Plan::new(metadata.schema())?;
        let parquet = metadata.metadata();
        let footer = Footer::from_key_values(parquet.file_metadata().key_value_metadata())?;
        let groups: Vec<u64> = parquet
            .row_groups()
            .iter()
            .map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
            .collect();
        let rows = groups
            .iter()
            .try_fold(0u64, |sum, rows| sum.checked_add(*rows));
        if rows != Some(footer.tally.rows) {
            return Err("its footer counts other rows than it holds".to_owned());
        }
        let file = OpenFile {
            path: path.to_owned(),
            reader,
            metadata,
            plan,
            footer,
            groups,
        };
        guarded(|| file.check_layout())?;
        Ok(file)
    }

    /// What the file says about itself.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.reader.len()
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its entries from number `from` on, in number order; one row group in memory at a time.
    pub fn entries(&self, from: Seq) -> Entries<'_> {
        let mut group = 0;
        let mut first = self.footer.first.0;
        while group < self.groups.len() && first + self.groups[group] <= from.0 {
            first += self.groups[group];
            group += 1;
        }
        Entries::new(self, group, Seq(first), from)
    }

    /// The rows of a row group, after its bytes were found to be the ones that were written.
    fn batches(&self, group: usize) -> Result<ParquetRecordBatchReader, String> {
        self.check_seal(group)?;
        guarded(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(
                self.reader.clone(),
                self.metadata.clone(),
            )
            .with_batch_size(BATCH_ENTRIES_MAX)
            .with_row_groups(vec![group])
            .build()
            .map_err(|error| undecodable(&error.into()))
        })
    }

    /// Spells the rows of `batch`, which must be numbered from `first` on and be of this file's journal.
    fn spell(&self, batch: &RecordBatch, first: Seq, spelled: &mut Spelled) -> Result<(), String> {
        let misplaced =
            || format!("its rows near number {first} are not the ones that its footer says");
        let place = batch.column(self.plan.journal).as_string_view();
        let journal = self.footer.journal.as_str();
        if place.null_count() > 0 || place.iter().any(|found| found != Some(journal)) {
            return Err(misplaced());
        }
        let column = batch.column(self.plan.seq);
        let seq = column
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(misplaced)?;
        let due = (first.0..).map(|seq| i64::try_from(seq).ok());
        if seq.null_count() > 0
            || seq
                .values()
                .iter()
                .zip(due)
                .any(|(seq, due)| Some(*seq) != due)
        {
            return Err(misplaced());
        }
        spelled.clear();
        let rows = self.plan.rows(batch);
        for row in 0..batch.num_rows() {
            spelled.add(|bytes| rows.spell(row, bytes));
        }
        Ok(())
    }

    fn bad(&self, why: String) -> BadFile {
        BadFile {
            path: self.path.clone(),
            why,
        }
    }
}

/// The next batch of a row group.
fn next_batch(batches: &mut ParquetRecordBatchReader) -> Option<Result<RecordBatch, String>> {
    let next = guarded(|| {
        Ok(batches
            .next()
            .map(|batch| batch.map_err(|error| undecodable(&error))))
    });
    next.unwrap_or_else(|why| Some(Err(why)))
}

/// Damaged bytes can make the decoder panic; here that is one more way of not being readable.
fn guarded<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err("its bytes are damaged".to_owned()))
}

fn undecodable(error: &arrow::error::ArrowError) -> String {
    format!("its rows cannot be decoded ({error})")
}

/// The file's metadata with its texts as views, which decode without copying.
fn footer_metadata(reader: &Positioned) -> Result<ArrowReaderMetadata, String> {
    if reader.len() == 0 {
        return Err("it is empty".to_owned());
    }
    let broken = |error: ParquetError| format!("it is truncated or no Parquet file ({error})");
    let options = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let found = ArrowReaderMetadata::load(reader, options()).map_err(broken)?;
    let view = |field: &Field| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => field.clone().with_data_type(DataType::Utf8View),
        _ => field.clone(),
    };
    let fields: Vec<Field> = found
        .schema()
        .fields()
        .iter()
        .map(|field| view(field))
        .collect();
    let schema = std::sync::Arc::new(Schema::new(fields));
    ArrowReaderMetadata::try_new(found.metadata().clone(), options().with_schema(schema))
        .map_err(broken)
}
