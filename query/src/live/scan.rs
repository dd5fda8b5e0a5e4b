//! Blocks of the journal as rows, and as batches of the columns that a plan asks for.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use boundlane_record::{Row, Seq, canonical};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::PartitionStream;

use super::LiveJournal;
use crate::arrays::Arrays;
use crate::moved::Moved;

/// Rows in one batch.
const BATCH_ROWS_MAX: usize = 4_096;

/// Batches that wait for the plan.
const BATCHES_WAITING_MAX: usize = 2;

/// Numbers that are read from the journal, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LivePart {
    pub(crate) journal: String,
    /// As in [`LiveHead`](super::LiveHead).
    pub(crate) file: String,
    pub(crate) first: Seq,
    pub(crate) last: Seq,
}

/// Calls `row` with each entry of `part` that can be read, and `hole` with each range that cannot.
///
/// # Errors
/// [`Moved`] when numbers are gone because the journal was pruned meanwhile; whatever `row` says.
pub(crate) fn each_live_row<E: From<Moved>>(
    live: &dyn LiveJournal,
    part: &LivePart,
    mut row: impl FnMut(Seq, Row<'_>) -> Result<(), E>,
    mut hole: impl FnMut(Seq, Seq),
) -> Result<(), E> {
    let mut due = part.first;
    let mut is_damaged = false;
    for block in live.blocks(&part.file, Seq(part.first.0 - 1)) {
        let Ok(block) = block else {
            is_damaged = true;
            continue;
        };
        if block.first > due {
            if !std::mem::take(&mut is_damaged) {
                return Err(Moved::numbers(&part.journal, due).into());
            }
            hole(due, Seq(block.first.0.min(part.last.0 + 1) - 1));
        }
        is_damaged = false;
        for (seq, entry) in (block.first.0..).zip(block.ndjson.split(|byte| *byte == b'\n')) {
            let seq = Seq(seq);
            if seq < part.first || seq < due {
                continue;
            }
            if seq > part.last {
                return Ok(());
            }
            match canonical::decode(entry) {
                Ok(decoded) => row(seq, decoded)?,
                Err(_) => hole(seq, seq),
            }
            due = seq.next();
        }
        if due > part.last {
            return Ok(());
        }
    }
    match (due > part.last, is_damaged) {
        (true, _) => Ok(()),
        (false, true) => {
            hole(due, part.last);
            Ok(())
        }
        (false, false) => Err(Moved::numbers(&part.journal, due).into()),
    }
}

/// One part of the journal as a partition of a plan.
pub(crate) struct LiveScan {
    live: Arc<dyn LiveJournal>,
    part: LivePart,
    schema: SchemaRef,
}

impl LiveScan {
    /// `schema` names the columns that are wanted.
    pub(crate) fn new(live: Arc<dyn LiveJournal>, part: LivePart, schema: SchemaRef) -> LiveScan {
        LiveScan { live, part, schema }
    }
}

impl std::fmt::Debug for LiveScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveScan").field(&self.part).finish()
    }
}

impl PartitionStream for LiveScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (live, part) = (Arc::clone(&self.live), self.part.clone());
        let schema = Arc::clone(&self.schema);
        let mut stream =
            RecordBatchReceiverStream::builder(Arc::clone(&schema), BATCHES_WAITING_MAX);
        let batches = stream.tx();
        stream.spawn_blocking(move || {
            let mut arrays = Arrays::new(&schema);
            // A reader that went away is not an error: it has had enough.
            let send = |arrays: &mut Arrays| match batches.blocking_send(arrays.take()) {
                Ok(()) => Ok(()),
                Err(_) => Err(DataFusionError::External("the reader is gone".into())),
            };
            each_live_row(
                live.as_ref(),
                &part,
                |seq, row| {
                    arrays.push(Some(seq), &part.journal, &row);
                    if arrays.len() < BATCH_ROWS_MAX {
                        return Ok(());
                    }
                    send(&mut arrays)
                },
                |_, _| (),
            )?;
            if arrays.len() > 0 && !batches.is_closed() {
                send(&mut arrays)?;
            }
            Ok(())
        });
        stream.build()
    }
}

/// Losses that have no number yet, as one more partition.
#[derive(Debug)]
pub(crate) struct OpenLosses {
    journal: String,
    rows: Arc<[Row<'static>]>,
    schema: SchemaRef,
}

impl OpenLosses {
    pub(crate) fn new(journal: &str, rows: Arc<[Row<'static>]>, schema: SchemaRef) -> OpenLosses {
        OpenLosses {
            journal: journal.to_owned(),
            rows,
            schema,
        }
    }
}

impl PartitionStream for OpenLosses {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut arrays = Arrays::new(&self.schema);
        for row in self.rows.iter() {
            arrays.push(None, &self.journal, row);
        }
        let batch = futures::stream::iter([arrays.take()]);
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            batch,
        ))
    }
}
