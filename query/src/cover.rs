//! The coverage of an answer: every loss and session entry there is, whatever day its file is of.

use std::sync::Arc;

use boundlane_archive::{ArchiveFile, Counts};
use boundlane_record::coverage::Coverage;
use boundlane_record::filter::{Scope, quoted_time};
use boundlane_record::{Kind, Seq};
use datafusion::catalog::TableProvider;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::functions_aggregate::expr_fn::max;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{SessionContext, col};
use futures::StreamExt;

use crate::arrays::{LOSS_COLUMNS, LossColumns, table_schema};
use crate::live::{LiveJournal, each_live_row};
use crate::snapshot::Snapshot;
use crate::table::{Entries, FileScan};

/// What coverage is made of.
const WANTED: &str = "kind IN ('gap', 'drops', 'rejected', 'session')";

/// Reads all losses and sessions of `snapshot`.
///
/// # Errors
/// As the engine; [`crate::moved::Moved`] inside when entries moved meanwhile.
pub(crate) async fn coverage(
    context: &SessionContext,
    snapshot: &Arc<Snapshot>,
    live: Option<&Arc<dyn LiveJournal>>,
    scope: &Scope,
) -> Result<Coverage> {
    let mut coverage = Coverage::new(scope.clone());
    for missing in &snapshot.missing {
        coverage.missing_range(&missing.journal, missing.first, missing.last);
    }
    for bad in &snapshot.bad {
        coverage.unreadable(&bad.path.to_string_lossy(), &bad.why);
    }
    if let Some(newest) = snapshot.newest {
        coverage.known_until(newest);
    }
    read_files(context, snapshot, &mut coverage).await?;
    if let Some(live) = live {
        coverage = read_journal(snapshot, live, coverage).await?;
    }
    for open in snapshot.open.iter() {
        coverage.see(&snapshot.open_journal, None, open);
    }
    if coverage.silent_before_the_end().next().is_some() {
        hear_silent(context, snapshot, live, &mut coverage).await?;
    }
    Ok(coverage)
}

async fn read_files(
    context: &SessionContext,
    snapshot: &Snapshot,
    coverage: &mut Coverage,
) -> Result<()> {
    let Some(plan) = files_plan(context, snapshot)? else {
        return Ok(());
    };
    let mut batches = execute_stream(plan, context.task_ctx())?;
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        let rows = LossColumns::of(&batch);
        for at in 0..batch.num_rows() {
            let (journal, seq, row) = rows.row(at);
            coverage.see(journal, seq, &row);
        }
    }
    Ok(())
}

fn files_plan(
    context: &SessionContext,
    snapshot: &Snapshot,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let schema = table_schema();
    let named = DFSchema::try_from(Arc::clone(&schema))?;
    let wanted = context.parse_sql_expr(WANTED, &named)?;
    let mut scan = FileScan::new(&context.runtime_env())?;
    scan.projection = Some(
        LOSS_COLUMNS
            .iter()
            .map(|name| schema.index_of(name))
            .collect::<Result<_, _>>()?,
    );
    scan.filter = Some(context.create_physical_expr(wanted, &named)?);
    scan.partitions = context.copied_config().target_partitions();
    let (mut whole, mut plans) = (Vec::new(), Vec::new());
    for (file, first) in snapshot.files().filter(|(file, _)| may_hold_wanted(file)) {
        match first == file.name.first {
            true => whole.push(file),
            false => plans.push(scan.tail_of(file, first)?),
        }
    }
    if !whole.is_empty() {
        plans.push(scan.of(&whole)?);
    }
    match plans.is_empty() {
        true => Ok(None),
        false => UnionExec::try_new(plans).map(Some),
    }
}

/// The footer counts kinds; one that it could not name may be any.
fn may_hold_wanted(file: &ArchiveFile) -> bool {
    let kinds: &Counts = &file.footer.tally.kinds;
    kinds.keys().any(|word| match Kind::from_word(word) {
        Some(kind) => kind.is_loss() || kind == Kind::Session,
        None => true,
    })
}

/// The journal is read to its end, so the newest moment of each of its streams is known exactly.
async fn read_journal(
    snapshot: &Arc<Snapshot>,
    live: &Arc<dyn LiveJournal>,
    mut coverage: Coverage,
) -> Result<Coverage> {
    let (snapshot, live) = (Arc::clone(snapshot), Arc::clone(live));
    let read = tokio::task::spawn_blocking(move || {
        for part in snapshot.live_parts() {
            let mut holes: Vec<(Seq, Seq)> = Vec::new();
            each_live_row::<DataFusionError>(
                live.as_ref(),
                part,
                |seq, row| {
                    coverage.see(&part.journal, Some(seq), &row);
                    Ok(())
                },
                |first, last| holes.push((first, last)),
            )?;
            for (first, last) in holes {
                coverage.missing_range(&part.journal, first, last);
            }
        }
        Ok(coverage)
    });
    read.await
        .map_err(|error| DataFusionError::External(Box::new(error)))?
}

/// A stream that writes records needs no marks: asks for its newest record before calling it silent.
async fn hear_silent(
    context: &SessionContext,
    snapshot: &Arc<Snapshot>,
    live: Option<&Arc<dyn LiveJournal>>,
    coverage: &mut Coverage,
) -> Result<()> {
    let Some(until) = coverage.scope().window.until else {
        return Ok(());
    };
    let entries: Arc<dyn TableProvider> =
        Arc::new(Entries::new(Arc::clone(snapshot), live.cloned()));
    let all = context.read_table(entries)?;
    let later = all.parse_sql_expr(&format!("observed >= {}", quoted_time(until)))?;
    let names = ["sandbox", "sandbox_id", "source"].map(col).to_vec();
    let newest = vec![max(col("observed")).alias("observed")];
    for batch in all
        .filter(later)?
        .aggregate(names, newest)?
        .collect()
        .await?
    {
        let rows = LossColumns::of(&batch);
        for at in 0..batch.num_rows() {
            let (_, _, row) = rows.row(at);
            coverage.heard(&row);
        }
    }
    Ok(())
}
