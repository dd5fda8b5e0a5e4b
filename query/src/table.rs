//! All entries of a snapshot as one table: a scan of the files beside a scan of the journal.

mod files;

pub(crate) use files::FileScan;

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::union::UnionExec;

use crate::arrays::table_schema;
use crate::live::{LiveJournal, LiveScan, OpenLosses};
use crate::snapshot::{Part, Snapshot};

/// The table that every view is made of.
pub(crate) struct Entries {
    snapshot: Arc<Snapshot>,
    live: Option<Arc<dyn LiveJournal>>,
}

impl Entries {
    pub(crate) fn new(snapshot: Arc<Snapshot>, live: Option<Arc<dyn LiveJournal>>) -> Entries {
        Entries { snapshot, live }
    }

    fn live_plan(&self, schema: &SchemaRef) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(live) = &self.live else {
            return Ok(None);
        };
        let mut partitions: Vec<Arc<dyn PartitionStream>> = Vec::new();
        for part in self.snapshot.live_parts() {
            let scan = LiveScan::new(Arc::clone(live), part.clone(), Arc::clone(schema));
            partitions.push(Arc::new(scan));
        }
        if !self.snapshot.open.is_empty() {
            let rows = Arc::clone(&self.snapshot.open);
            let journal = &self.snapshot.open_journal;
            partitions.push(Arc::new(OpenLosses::new(journal, rows, Arc::clone(schema))));
        }
        if partitions.is_empty() {
            return Ok(None);
        }
        let schema = Arc::clone(schema);
        let exec = StreamingTableExec::try_new(schema, partitions, None, [], false, None)?;
        Ok(Some(Arc::new(exec)))
    }
}

impl std::fmt::Debug for Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entries").finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl TableProvider for Entries {
    fn schema(&self) -> SchemaRef {
        table_schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Filters prune files, row groups and pages; the rows that are left are filtered above.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = projected(projection)?;
        let (mut whole, mut tails) = (Vec::new(), Vec::new());
        for part in &self.snapshot.parts {
            match part {
                Part::File { file, first } if *first == file.name.first => whole.push(file),
                Part::File { file, first } => tails.push((file, *first)),
                Part::Live(_) => {}
            }
        }
        let mut scan = FileScan::new(state.runtime_env())?;
        scan.projection = projection.cloned();
        scan.limit = limit;
        scan.partitions = state.config().target_partitions();
        let mut plans = Vec::new();
        if !whole.is_empty() {
            plans.push(scan.of(&whole)?);
        }
        for (file, first) in tails {
            plans.push(scan.tail_of(file, first)?);
        }
        plans.extend(self.live_plan(&schema)?);
        match plans.len() {
            0 => Ok(Arc::new(EmptyExec::new(schema))),
            _ => UnionExec::try_new(plans),
        }
    }
}

fn projected(projection: Option<&Vec<usize>>) -> Result<SchemaRef> {
    let schema = table_schema();
    match projection {
        Some(columns) => {
            let projected: Schema = schema.project(columns)?;
            Ok(Arc::new(projected))
        }
        None => Ok(schema),
    }
}
