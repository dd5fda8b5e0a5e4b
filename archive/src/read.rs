//! One file of the archive, read back: its footer, its entries in number order, its tree.
//!
//! Files are untrusted: whatever their bytes are, the answer is an entry or a [`BadFile`].

mod positioned;

use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use boundlane_record::Seq;
use boundlane_record::tree::{Hash, leaf_hash};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use crate::error::Head;
use crate::footer::Footer;
use crate::rebuild::Plan;
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
        let metadata = footer_metadata(&reader)?;
        let plan = Plan::new(metadata.schema())?;
        let parquet = metadata.metadata();
        let footer = Footer::from_key_values(parquet.file_metadata().key_value_metadata())?;
        let groups: Vec<u64> = parquet
            .row_groups()
            .iter()
            .map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
            .collect();
        if groups.iter().sum::<u64>() != footer.tally.rows {
            return Err("its footer counts other rows than it holds".to_owned());
        }
        Ok(OpenFile {
            path: path.to_owned(),
            reader,
            metadata,
            plan,
            footer,
            groups,
        })
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
        Entries {
            file: self,
            group,
            next: Seq(first),
            from,
            batches: None,
            spelled: Spelled::default(),
            at: 0,
            failed: false,
        }
    }

    /// Reads every entry, hashes it, and compares the tree with the footer's: the file holds exactly
    /// what its head says. Constant memory; `workers` row groups at a time.
    ///
    /// # Errors
    /// [`BadFile`] for the first thing that does not fit.
    pub fn verify(&self, workers: usize) -> Result<Head, BadFile> {
        self.try_verify(workers.max(1)).map_err(|why| self.bad(why))
    }

    fn try_verify(&self, workers: usize) -> Result<Head, String> {
        let mut edge = self.footer.edge_before.clone();
        std::thread::scope(|scope| {
            let lanes: Vec<_> = (0..workers)
                .map(|lane| {
                    let (send, leaves) = sync_channel(1);
                    scope.spawn(move || {
                        for group in (lane..self.groups.len()).step_by(workers) {
                            if send.send(self.leaves(group)).is_err() {
                                return;
                            }
                        }
                    });
                    leaves
                })
                .collect();
            for group in 0..self.groups.len() {
                let leaves = lanes[group % workers]
                    .recv()
                    .map_err(|_| "its rows cannot be decoded".to_owned())??;
                leaves.into_iter().for_each(|leaf| {
                    edge.push(leaf);
                });
            }
            Ok::<(), String>(())
        })?;
        let (found, stated) = (Head::of(&edge), self.footer.head());
        if found != stated {
            return Err(format!(
                "its entries hash to {found}, its footer says {stated}"
            ));
        }
        Ok(found)
    }

    /// The leaf hashes of one row group.
    fn leaves(&self, group: usize) -> Result<Vec<Hash>, String> {
        let mut first = self.footer.first.0 + self.groups[..group].iter().sum::<u64>();
        let mut leaves = Vec::with_capacity(
            usize::try_from(self.groups[group])
                .unwrap_or(0)
                .min(1 << 20),
        );
        let mut spelled = Spelled::default();
        for batch in self.batches(group)? {
            let batch = batch.map_err(|error| undecodable(&error))?;
            self.spell(&batch, Seq(first), &mut spelled)?;
            first += batch.num_rows() as u64;
            leaves.extend((0..batch.num_rows()).map(|row| leaf_hash(spelled.entry(row))));
        }
        Ok(leaves)
    }

    fn batches(&self, group: usize) -> Result<ParquetRecordBatchReader, String> {
        ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.reader.clone(),
            self.metadata.clone(),
        )
        .with_batch_size(BATCH_ENTRIES_MAX)
        .with_row_groups(vec![group])
        .build()
        .map_err(|error| undecodable(&error.into()))
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
            rows.spell(row, &mut spelled.bytes);
            spelled.ends.push(spelled.bytes.len());
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

/// Canonical entries back to back.
#[derive(Debug, Default)]
struct Spelled {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Spelled {
    fn entry(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// The entries of one file, in number order.
#[derive(Debug)]
pub struct Entries<'f> {
    file: &'f OpenFile,
    /// The row group after the one being read.
    group: usize,
    /// The number of the first row that is not spelled yet.
    next: Seq,
    /// Numbers below are passed over.
    from: Seq,
    batches: Option<ParquetRecordBatchReader>,
    spelled: Spelled,
    at: usize,
    failed: bool,
}

impl Entries<'_> {
    /// The next entry: its number and its canonical bytes. After an error there are no more.
    #[allow(
        clippy::should_implement_trait,
        reason = "an entry borrows from the reader, which an iterator cannot say"
    )]
    pub fn next(&mut self) -> Option<Result<(Seq, &[u8]), BadFile>> {
        while !self.failed {
            if self.at == self.spelled.ends.len() {
                match self.refill() {
                    Ok(true) => continue,
                    Ok(false) => return None,
                    Err(why) => {
                        self.failed = true;
                        return Some(Err(self.file.bad(why)));
                    }
                }
            }
            let at = self.at;
            self.at += 1;
            let seq = Seq(self.next.0 - (self.spelled.ends.len() - at) as u64);
            if seq >= self.from {
                return Some(Ok((seq, self.spelled.entry(at))));
            }
        }
        None
    }

    /// Spells the next batch; `false` at the end of the file.
    fn refill(&mut self) -> Result<bool, String> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(Iterator::next) {
                let batch = batch.map_err(|error| undecodable(&error))?;
                self.file.spell(&batch, self.next, &mut self.spelled)?;
                self.next = Seq(self.next.0 + batch.num_rows() as u64);
                self.at = 0;
                return Ok(true);
            }
            if self.group == self.file.groups.len() {
                let whole = self.next == self.file.footer.last.next();
                return whole
                    .then_some(false)
                    .ok_or_else(|| "it holds fewer rows than it says".to_owned());
            }
            self.batches = Some(self.file.batches(self.group)?);
            self.group += 1;
        }
    }
}
