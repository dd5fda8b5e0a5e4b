//! Rows in number order, file after file, then the journal, then the losses that have no number yet.
//!
//! Nothing is sorted and one file is read at a time, so memory does not grow with the archive. When a file
//! is gone because it was compacted meanwhile, the archive is listed again and the listing goes on with
//! the file that holds the next number.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, SchemaRef};
use boundlane_archive::{ArchiveFile, BadFile, Span};
use boundlane_record::filter::Filter;
use boundlane_record::{Column, Seq};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_plan::filter::FilterExecBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;

use crate::arrays::table_schema;
use crate::damage;
use crate::live::{LiveJournal, LivePart, LiveScan, OpenLosses};
use crate::moved::Moved;
use crate::snapshot::{Part, Snapshot};
use crate::table::FileScan;

/// How often the archive is listed again before giving up, when nothing comes out in between.
const LISTS_MAX: usize = 5;

/// A listing under way.
pub(crate) struct Listing<'c> {
    context: &'c SessionContext,
    live: Option<Arc<dyn LiveJournal>>,
    filter: Filter,
    /// The columns that are given, `seq` and `journal` first.
    columns: Vec<usize>,
    conditions: Conditions,
    position: Position,
}

/// Where the next row comes from.
#[derive(Default)]
struct Position {
    finished: HashSet<String>,
    history: String,
    next: Option<Seq>,
}

/// How a listing ended.
pub(crate) enum Ended {
    /// All rows were given.
    Whole,
    /// The receiver has had enough.
    Unwanted,
}

/// Why a part could not be given to its end.
enum Interruption {
    Moved(Moved),
    Damaged(BadFile),
    Unwanted,
    Failed(DataFusionError),
}

impl<'c> Listing<'c> {
    /// # Errors
    /// When the filter cannot be planned, which is a fault of this program.
    pub(crate) fn new(
        context: &'c SessionContext,
        live: Option<Arc<dyn LiveJournal>>,
        filter: &Filter,
        wanted: &[Column],
    ) -> Result<Listing<'c>> {
        let schema = table_schema();
        let mut columns = vec![schema.index_of("seq")?, schema.index_of("journal")?];
        match wanted.is_empty() {
            true => columns.extend(
                (0..schema.fields().len())
                    .filter(|at| !columns[..2].contains(at))
                    .collect::<Vec<_>>(),
            ),
            false => {
                for column in wanted {
                    columns.push(schema.index_of(column.name())?);
                }
            }
        }
        Ok(Listing {
            context,
            live,
            filter: filter.clone(),
            columns,
            conditions: Conditions::of(context, filter)?,
            position: Position::default(),
        })
    }

    /// The columns that are given.
    ///
    /// # Errors
    /// Never, as the columns are the schema's own.
    pub(crate) fn schema(&self) -> Result<SchemaRef> {
        Ok(Arc::new(table_schema().project(&self.columns)?))
    }

    /// Gives every row to `give`, which says whether it wants more. `list` lists the archives anew,
    /// without the files it is told are bad.
    ///
    /// # Errors
    /// As the engine; [`Moved`] inside when entries keep moving.
    pub(crate) async fn run(
        &mut self,
        mut snapshot: Arc<Snapshot>,
        list: &(dyn Fn(&[BadFile]) -> Arc<Snapshot> + Sync),
        give: &mut (dyn AsyncGive + Send),
    ) -> Result<(Ended, Arc<Snapshot>)> {
        let mut spoiled = Vec::new();
        let mut lists_left = LISTS_MAX;
        loop {
            let before = self.position.next;
            let interruption = match self.walk(&snapshot, give).await {
                Ok(()) => return Ok((Ended::Whole, snapshot)),
                Err(interruption) => interruption,
            };
            lists_left = if self.position.next == before {
                lists_left
            } else {
                LISTS_MAX
            };
            match interruption {
                Interruption::Unwanted => return Ok((Ended::Unwanted, snapshot)),
                Interruption::Failed(error) => return Err(error),
                Interruption::Moved(moved) if lists_left == 0 => return Err(moved.into()),
                Interruption::Moved(_) => lists_left -= 1,
                Interruption::Damaged(file) => spoiled.push(file),
            }
            snapshot = list(&spoiled);
        }
    }

    /// Every part from the position on.
    async fn walk(
        &mut self,
        snapshot: &Snapshot,
        give: &mut (dyn AsyncGive + Send),
    ) -> Result<(), Interruption> {
        for part in &snapshot.parts {
            if !self.position.begin(part) {
                continue;
            }
            let from = self
                .position
                .next
                .map_or(part.first(), |next| next.max(part.first()));
            if let Some(plan) = self.plan(part, from).map_err(Interruption::Failed)? {
                self.give_all(plan, part, give).await?;
            }
            self.position.next = Some(part.last().next());
        }
        if !snapshot.open.is_empty() {
            let plan = self.open_plan(snapshot).map_err(Interruption::Failed)?;
            let mut batches =
                execute_stream(plan, self.context.task_ctx()).map_err(Interruption::Failed)?;
            while let Some(batch) = batches.next().await {
                let batch = batch.map_err(Interruption::Failed)?;
                give.give(batch)
                    .await
                    .map_err(|Unwanted| Interruption::Unwanted)?;
            }
        }
        Ok(())
    }

    async fn give_all(
        &mut self,
        plan: Arc<dyn ExecutionPlan>,
        part: &Part,
        give: &mut (dyn AsyncGive + Send),
    ) -> Result<(), Interruption> {
        let mut batches = match execute_stream(plan, self.context.task_ctx()) {
            Ok(batches) => batches,
            Err(error) => return Err(interruption(error, part).await),
        };
        while let Some(batch) = batches.next().await {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => return Err(interruption(error, part).await),
            };
            if batch.num_rows() == 0 {
                continue;
            }
            let next = last_seq(&batch).map(Seq::next);
            give.give(batch)
                .await
                .map_err(|Unwanted| Interruption::Unwanted)?;
            self.position.next = next.or(self.position.next);
        }
        Ok(())
    }

    fn plan(&self, part: &Part, from: Seq) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        match part {
            Part::File { file, .. } => self.file_plan(file, from),
            Part::Live(part) => {
                let part = LivePart {
                    first: from,
                    ..part.clone()
                };
                let Some(live) = &self.live else {
                    return Ok(None);
                };
                let scan = LiveScan::new(Arc::clone(live), part, table_schema());
                self.stream_plan(Arc::new(scan)).map(Some)
            }
        }
    }

    fn file_plan(
        &self,
        file: &Arc<ArchiveFile>,
        from: Seq,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let window = self.filter.scope.window;
        let tally = &file.footer.tally;
        let has_losses = tally.losses.may_touch(window.since, window.until);
        let meets = |span: Span| span.first().is_some() && window.meets(span.first(), span.last());
        if !has_losses && !window.is_unbounded() && !meets(tally.time) && !meets(tally.observed) {
            return Ok(None);
        }
        let condition = match has_losses {
            true => &self.conditions.anything,
            false => &self.conditions.without_losses,
        };
        let mut scan = FileScan::new(&self.context.runtime_env())?;
        scan.filter.clone_from(condition);
        scan.projection = Some(self.columns.clone());
        let plan = match from == file.name.first {
            true => scan.of(&[file])?,
            false => scan.tail_of(file, from)?,
        };
        Ok(Some(plan))
    }

    fn open_plan(&self, snapshot: &Snapshot) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = Arc::clone(&snapshot.open);
        let open = OpenLosses::new(&snapshot.open_journal, rows, table_schema());
        self.stream_plan(Arc::new(open))
    }

    fn stream_plan(&self, stream: Arc<dyn PartitionStream>) -> Result<Arc<dyn ExecutionPlan>> {
        let all = StreamingTableExec::try_new(table_schema(), vec![stream], None, [], false, None)?;
        let condition = match &self.conditions.anything {
            Some(condition) => Arc::clone(condition),
            None => lit(true),
        };
        let filter = FilterExecBuilder::new(condition, Arc::new(all))
            .apply_projection(Some(self.columns.clone()))?
            .build()?;
        Ok(Arc::new(filter))
    }
}

impl Position {
    /// Whether `part` still has something to give; moves on to its history.
    fn begin(&mut self, part: &Part) -> bool {
        if self.finished.contains(part.history()) {
            return false;
        }
        if self.history != part.history() {
            let before = std::mem::replace(&mut self.history, part.history().to_owned());
            self.finished.insert(before);
            self.next = None;
        }
        self.next.is_none_or(|next| next <= part.last())
    }
}

/// The filter over the table's schema, in two forms.
struct Conditions {
    /// For rows of every kind.
    anything: Option<Arc<dyn PhysicalExpr>>,
    /// For files whose footer says that no loss touches the window: statistics can prune by it.
    without_losses: Option<Arc<dyn PhysicalExpr>>,
}

impl Conditions {
    fn of(context: &SessionContext, filter: &Filter) -> Result<Conditions> {
        let schema = DFSchema::try_from(table_schema())?;
        let compile = |sql: &str| match sql {
            "TRUE" => Ok(None),
            sql => {
                let condition = context.parse_sql_expr(sql, &schema)?;
                context.create_physical_expr(condition, &schema).map(Some)
            }
        };
        let moment = filter.scope.moment_sql();
        let without_losses = match filter.is_scope_only() {
            true => moment,
            false => format!(
                "{moment} AND (kind = 'session' OR ({}))",
                filter.record_sql()
            ),
        };
        Ok(Conditions {
            anything: compile(&filter.to_sql())?,
            without_losses: compile(&without_losses)?,
        })
    }
}

/// Takes in batches, in order.
pub(crate) trait AsyncGive {
    /// Gives one batch, waiting while there is no room.
    fn give(&mut self, batch: RecordBatch) -> futures::future::BoxFuture<'_, Result<(), Unwanted>>;
}

/// Nobody wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unwanted;

async fn interruption(error: DataFusionError, part: &Part) -> Interruption {
    if let Some(moved) = Moved::cause_of(&error) {
        return Interruption::Moved(moved);
    }
    let Part::File { file, .. } = part else {
        return Interruption::Failed(error);
    };
    match damage::of(vec![Arc::clone(file)], &error).await.pop() {
        Some(bad) => Interruption::Damaged(bad),
        None => Interruption::Failed(error),
    }
}

fn last_seq(batch: &RecordBatch) -> Option<Seq> {
    let seq = batch
        .column_by_name("seq")?
        .as_primitive_opt::<Int64Type>()?;
    let last = seq.len().checked_sub(1)?;
    u64::try_from(seq.value(last)).ok().map(Seq)
}
