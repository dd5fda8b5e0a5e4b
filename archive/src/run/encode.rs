//! One row group: hashed, decoded, counted, encoded.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender};

use boundlane_record::tree::{Hash, leaf_hash};
use boundlane_record::{Seq, TreeSize};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
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

/// Rows that go through the columns at once. All columns of so few fit into a core's cache; a whole row group
/// of them would take as much memory again as its entries.
const BATCH_ROWS: usize = 1024;

/// Entries that make up one row group.
pub(super) struct Chunk {
    first: Seq,
    buffers: Buffers,
    /// Whether they belong to a file that is already there.
    held: bool,
    /// The section that begins with them.
    begins: Option<Section>,
}

/// The memory of a chunk. It goes round between the caller and the workers: megabytes that are freed and
/// taken again for each row group would be kept by the allocator many times over.
#[derive(Default)]
pub(super) struct Buffers {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Chunk {
    /// An empty chunk after a tree of this size.
    pub(super) fn at(size: TreeSize) -> Chunk {
        Chunk {
            first: Seq(size.0 + 1),
            buffers: Buffers::default(),
            held: false,
            begins: None,
        }
    }

    /// An empty chunk after this one, without memory.
    pub(super) fn following(&self, begins: Option<Section>) -> Chunk {
        let held = match &begins {
            Some(section) => matches!(section, Section::Held(_)),
            None => self.held,
        };
        Chunk {
            first: Seq(self.first.0 + self.buffers.ends.len() as u64),
            buffers: Buffers::default(),
            held,
            begins,
        }
    }

    /// Gives an empty chunk the memory of another one.
    pub(super) fn reuse(&mut self, mut buffers: Buffers) {
        buffers.bytes.clear();
        buffers.ends.clear();
        self.buffers = buffers;
    }

    pub(super) fn into_buffers(self) -> Buffers {
        self.buffers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffers.ends.is_empty()
    }

    pub(super) fn is_full(&self, more: usize, limits: &Limits) -> bool {
        let Buffers { bytes, ends } = &self.buffers;
        ends.len() >= limits.row_group_entries_max
            || (!ends.is_empty() && bytes.len() + more > limits.row_group_bytes_max)
    }

    pub(super) fn push(&mut self, entry: &[u8]) {
        let Buffers { bytes, ends } = &mut self.buffers;
        bytes.extend_from_slice(entry);
        ends.push(bytes.len());
    }

    fn entries(&self) -> impl Iterator<Item = (Seq, &[u8])> {
        let Buffers { bytes, ends } = &self.buffers;
        let mut start = 0;
        ends.iter().zip(self.first.0..).map(move |(&end, seq)| {
            let entry = &bytes[start..end];
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

    /// What a worker does: its jobs in turn, until there are no more or nobody wants them. A chunk's memory goes
    /// back before its row group does, so that it is there when the caller is let on.
    pub(super) fn work(
        &self,
        jobs: &Receiver<Job>,
        done: &SyncSender<Result<Done, ArchiveError>>,
        emptied: &Sender<Buffers>,
    ) {
        for job in jobs {
            let result = match job {
                Job::End => Ok(Done::End),
                Job::Chunk(mut chunk) => {
                    let group = self.group(&mut chunk);
                    // A caller who is gone needs no memory.
                    drop(emptied.send(chunk.into_buffers()));
                    group
                }
            };
            if done.send(result).is_err() {
                return;
            }
        }
    }

    fn group(&self, chunk: &mut Chunk) -> Result<Done, ArchiveError> {
        let begins = chunk.begins.take();
        let encoded = match chunk.held {
            true => None,
            false => Some(Box::new(self.encode(chunk)?)),
        };
        Ok(Done::Group {
            begins,
            leaves: chunk.entries().map(|(_, entry)| leaf_hash(entry)).collect(),
            encoded,
        })
    }

    fn encode(&self, chunk: &Chunk) -> Result<Encoded, ArchiveError> {
        let fail = |error| ArchiveError::encode(Path::new("row group"), error);
        let mut tally = Tally::default();
        let mut writers = self.columns.create_column_writers(0).map_err(fail)?;
        let mut columns = Columns::with_capacity(BATCH_ROWS);
        let mut first = chunk.first;
        for (seq, entry) in chunk.entries() {
            let rest = tally
                .add(entry, |column, value| columns.put(column, value))
                .map_err(|source| ArchiveError::NotCanonical { seq, source })?;
            columns.end_row(&rest);
            if columns.rows() == BATCH_ROWS {
                self.write(&mut columns, first, &mut writers)
                    .map_err(fail)?;
                first = seq.next();
            }
        }
        self.write(&mut columns, first, &mut writers)
            .map_err(fail)?;
        let closed = writers.into_iter().map(ArrowColumnWriter::close);
        let columns = closed.collect::<Result<_, _>>().map_err(fail)?;
        Ok(Encoded { columns, tally })
    }

    /// Hands the rows so far to the columns' writers.
    fn write(
        &self,
        columns: &mut Columns,
        first: Seq,
        writers: &mut [ArrowColumnWriter],
    ) -> Result<(), ParquetError> {
        if columns.rows() == 0 {
            return Ok(());
        }
        let batch = columns.take(first, self.journal.as_str(), self.machine.as_deref())?;
        let fields = batch.schema();
        for ((field, array), writer) in fields.fields().iter().zip(batch.columns()).zip(writers) {
            for leaf in compute_leaves(field, array)? {
                writer.write(&leaf)?;
            }
        }
        Ok(())
    }
}
