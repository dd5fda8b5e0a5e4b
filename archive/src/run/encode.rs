//! One row group: hashed, decoded, counted, encoded.

use std::sync::Arc;

use arrow::array::RecordBatch;
use boundlane_record::canonical::decode;
use boundlane_record::tree::{Hash, leaf_hash};
use boundlane_record::{Seq, TreeSize};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;

use super::cut::Section;
use crate::columns::Columns;
use crate::error::ArchiveError;
use crate::layout::JournalId;
use crate::limits::Limits;
use crate::schema::{parquet_schema, schema, writer_properties};
use crate::tally::Tally;

/// Entries that make up one row group.
pub(super) struct Chunk {
    first: Seq,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Whether they belong to a file that is already there.
    held: bool,
    /// The section that begins with them.
    begins: Option<Section>,
}

impl Chunk {
    /// An empty chunk after a tree of this size.
    pub(super) fn at(size: TreeSize, limits: &Limits) -> Chunk {
        Chunk {
            first: Seq(size.0 + 1),
            bytes: Vec::new(),
            ends: Vec::with_capacity(limits.row_group_entries_max),
            held: false,
            begins: None,
        }
    }

    /// An empty chunk after this one.
    pub(super) fn following(&self, begins: Option<Section>, limits: &Limits) -> Chunk {
        let held = match &begins {
            Some(section) => matches!(section, Section::Held(_)),
            None => self.held,
        };
        Chunk {
            first: Seq(self.first.0 + self.ends.len() as u64),
            bytes: Vec::with_capacity(self.bytes.len().min(limits.row_group_bytes_max)),
            ends: Vec::with_capacity(limits.row_group_entries_max),
            held,
            begins,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn is_full(&self, more: usize, limits: &Limits) -> bool {
        self.ends.len() >= limits.row_group_entries_max
            || (!self.is_empty() && self.bytes.len() + more > limits.row_group_bytes_max)
    }

    pub(super) fn push(&mut self, entry: &[u8]) {
        self.bytes.extend_from_slice(entry);
        self.ends.push(self.bytes.len());
    }

    fn entries(&self) -> impl Iterator<Item = (Seq, &[u8])> {
        let mut start = 0;
        self.ends
            .iter()
            .zip(self.first.0..)
            .map(move |(&end, seq)| {
                let entry = &self.bytes[start..end];
                start = end;
                (Seq(seq), entry)
            })
    }
}

/// What a worker gets.
pub(super) enum Job {
    Chunk(Chunk),
    /// The caller has no more: everything before may be published.
    End,
}

/// What a worker gives back.
pub(super) enum Done {
    /// One row group, and the section that begins with it.
    Group {
        begins: Option<Section>,
        leaves: Vec<Hash>,
        encoded: Option<Box<Encoded>>,
    },
    End,
}

/// A row group, ready to be written.
pub(super) struct Encoded {
    pub(super) columns: Vec<ArrowColumnChunk>,
    pub(super) tally: Tally,
}

/// Encodes row groups of one run; shared by its workers.
pub(super) struct Encoder {
    journal: JournalId,
    machine: Option<String>,
    pub(super) schema: TypePtr,
    pub(super) properties: WriterPropertiesPtr,
    columns: ArrowRowGroupWriterFactory,
}

impl Encoder {
    pub(super) fn new(
        limits: &Limits,
        journal: &JournalId,
        machine: Option<&str>,
    ) -> Result<Encoder, ParquetError> {
        let parquet = parquet_schema()?;
        let properties = Arc::new(writer_properties(limits));
        let nowhere = SerializedFileWriter::new(
            std::io::sink(),
            Arc::clone(&parquet),
            Arc::clone(&properties),
        )?;
        Ok(Encoder {
            journal: journal.clone(),
            machine: machine.map(str::to_owned),
            columns: ArrowRowGroupWriterFactory::new(&nowhere, schema()),
            schema: parquet,
            properties,
        })
    }

    pub(super) fn run(&self, job: Job) -> Result<Done, ArchiveError> {
        let Job::Chunk(mut chunk) = job else {
            return Ok(Done::End);
        };
        let leaves = chunk.entries().map(|(_, entry)| leaf_hash(entry)).collect();
        let begins = chunk.begins.take();
        let encoded = if chunk.held {
            None
        } else {
            Some(Box::new(self.encode(chunk)?))
        };
        Ok(Done::Group {
            begins,
            leaves,
            encoded,
        })
    }

    fn encode(&self, chunk: Chunk) -> Result<Encoded, ArchiveError> {
        let mut tally = Tally::default();
        let mut columns = Columns::with_capacity(chunk.ends.len());
        for (seq, entry) in chunk.entries() {
            let row = decode(entry).map_err(|source| ArchiveError::NotCanonical { seq, source })?;
            tally.add(&row);
            columns.push(&row);
        }
        let first = chunk.first;
        drop(chunk);
        let columns = columns
            .finish(first, self.journal.as_str(), self.machine.as_deref())
            .map_err(ParquetError::from)
            .and_then(|batch| self.columns(&batch))
            .map_err(|error| ArchiveError::encode(std::path::Path::new("row group"), error))?;
        Ok(Encoded { columns, tally })
    }

    fn columns(&self, batch: &RecordBatch) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
        let writers = self.columns.create_column_writers(0)?;
        let fields = batch.schema();
        let columns = fields.fields().iter().zip(batch.columns()).zip(writers);
        columns
            .map(|((field, array), mut writer)| {
                for leaf in compute_leaves(field, array)? {
                    writer.write(&leaf)?;
                }
                writer.close()
            })
            .collect()
    }
}
