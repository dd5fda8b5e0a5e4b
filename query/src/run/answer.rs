//! The computation: a snapshot, a plan, its rows, and the coverage of what was read.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use boundlane_archive::BadFile;
use boundlane_record::Column;
use boundlane_record::coverage::Coverage;
use boundlane_record::filter::{Filter, Scope};
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::prelude::SessionContext;
use futures::channel::mpsc::Sender;
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt};

use super::Failure;
use crate::canned::Canned;
use crate::cover::coverage;
use crate::damage;
use crate::listing::{AsyncGive, Ended, Listing, Unwanted};
use crate::live::LiveJournal;
use crate::moved::Moved;
use crate::outcome::Uncounted;
use crate::request::{Question, Request};
use crate::session;
use crate::snapshot::Snapshot;
use crate::table::Entries;
use crate::testimony;

/// How often an answer starts over because entries moved or a file turned out to be damaged.
const STARTS_MAX: usize = 5;

/// What goes to the sink.
pub(super) enum Piece {
    Columns(SchemaRef),
    Rows(RecordBatch),
}

/// What is known when all rows are out.
pub(super) struct Answered {
    pub(super) coverage: Coverage,
    pub(super) sql: Option<String>,
    pub(super) uncounted: Vec<Uncounted>,
}

pub(super) async fn answer(request: Request, pieces: Sender<Piece>) -> Result<Answered, Failure> {
    let mut give = Give {
        pieces,
        rows: 0,
        has_columns: false,
    };
    let context = session::context(&request.limits)?;
    match &request.question {
        Question::Rows { columns } => listed(&request, &context, columns, give).await,
        Question::Sql(_) | Question::Canned(_) => {
            let mut spoiled = Vec::new();
            let mut starts_left = STARTS_MAX;
            loop {
                let snapshot = Arc::new(snapshot(&request, &spoiled));
                let error = match asked(&request, &context, &snapshot, &mut give).await {
                    Ok((sql, uncounted)) => {
                        drop(give);
                        let coverage = covered(&request, &context, snapshot, &spoiled).await?;
                        return Ok(Answered {
                            coverage,
                            sql: Some(sql),
                            uncounted,
                        });
                    }
                    Err(error) => error,
                };
                starts_left -= 1;
                let again = starts_left > 0 && give.rows == 0;
                if again && Moved::cause_of(&error).is_some() {
                    continue;
                }
                if !(again && spoil(&snapshot, &error, &mut spoiled).await) {
                    return Err(error.into());
                }
            }
        }
    }
}

async fn listed(
    request: &Request,
    context: &SessionContext,
    columns: &[Column],
    mut give: Give,
) -> Result<Answered, Failure> {
    let live = request.live.clone();
    let mut listing = Listing::new(context, live, &request.filter, columns)?;
    give.columns(listing.schema()?).await;
    let spoiled = std::sync::Mutex::new(Vec::new());
    let list = |bad: &[BadFile]| {
        if let Ok(mut spoiled) = spoiled.lock() {
            *spoiled = bad.to_vec();
        }
        Arc::new(snapshot(request, bad))
    };
    let (ended, snapshot) = listing.run(list(&[]), &list, &mut give).await?;
    if let Ended::Unwanted = ended {
        return Err(Failure::Failed(DataFusionError::Internal(
            "nobody takes the answer".into(),
        )));
    }
    drop(give);
    let spoiled = spoiled.into_inner().unwrap_or_default();
    let coverage = covered(request, context, snapshot, &spoiled).await?;
    Ok(Answered {
        coverage,
        sql: None,
        uncounted: Vec::new(),
    })
}

/// Plans the question over `snapshot` and gives its rows.
async fn asked(
    request: &Request,
    context: &SessionContext,
    snapshot: &Arc<Snapshot>,
    give: &mut Give,
) -> Result<(String, Vec<Uncounted>), DataFusionError> {
    let entries: Arc<dyn TableProvider> =
        Arc::new(Entries::new(Arc::clone(snapshot), request.live.clone()));
    session::register(context, &entries, &request.filter)?;
    let (sql, uncounted) = match &request.question {
        Question::Canned(canned) => canned_sql(*canned, context, entries, &request.filter).await?,
        Question::Sql(sql) => (sql.clone(), Vec::new()),
        Question::Rows { .. } => (String::new(), Vec::new()),
    };
    let mut rows = session::plan(context, &sql).await?.execute_stream().await?;
    give.columns(rows.schema()).await;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        if batch.num_rows() > 0 && give.give(batch).await == Err(Unwanted) {
            break;
        }
    }
    Ok((sql, uncounted))
}

/// A count takes one testimony per sandbox, unless the question names the sources itself.
async fn canned_sql(
    canned: Canned,
    context: &SessionContext,
    entries: Arc<dyn TableProvider>,
    filter: &Filter,
) -> Result<(String, Vec<Uncounted>), DataFusionError> {
    let Scope { sources, .. } = &filter.scope;
    if !canned.counts_decisions() || !sources.is_empty() {
        return Ok((canned.sql("TRUE"), Vec::new()));
    }
    let all = context.read_table(entries)?;
    let condition = format!("kind = 'decision' AND {}", filter.scope.moment_sql());
    let condition = all.parse_sql_expr(&condition)?;
    let chosen = testimony::choose(all.filter(condition)?).await?;
    Ok((canned.sql(&chosen.condition), chosen.uncounted))
}

/// The coverage of what `snapshot` holds, or, when its entries moved meanwhile, of what there is now.
async fn covered(
    request: &Request,
    context: &SessionContext,
    mut snapshot: Arc<Snapshot>,
    spoiled: &[BadFile],
) -> Result<Coverage, Failure> {
    let mut spoiled = spoiled.to_vec();
    let scope = &request.filter.scope;
    for _ in 1..STARTS_MAX {
        let live: Option<&Arc<dyn LiveJournal>> = request.live.as_ref();
        let error = match coverage(context, &snapshot, live, scope).await {
            Ok(coverage) => return Ok(coverage),
            Err(error) => error,
        };
        let has_moved = Moved::cause_of(&error).is_some();
        if !has_moved && !spoil(&snapshot, &error, &mut spoiled).await {
            return Err(error.into());
        }
        snapshot = Arc::new(self::snapshot(request, &spoiled));
    }
    Ok(coverage(context, &snapshot, request.live.as_ref(), scope).await?)
}

fn snapshot(request: &Request, spoiled: &[BadFile]) -> Snapshot {
    Snapshot::take(&request.archives, request.live.as_deref(), spoiled)
}

/// Adds the files that are damaged; false when none is, and the error has another reason.
async fn spoil(snapshot: &Snapshot, error: &DataFusionError, spoiled: &mut Vec<BadFile>) -> bool {
    let files = snapshot.files().map(|(file, _)| Arc::clone(file)).collect();
    let found = damage::of(files, error).await;
    let is_any = !found.is_empty();
    spoiled.extend(found);
    is_any
}

/// The way to the sink.
struct Give {
    pieces: Sender<Piece>,
    rows: u64,
    has_columns: bool,
}

impl Give {
    /// Once, however often the answer starts over.
    async fn columns(&mut self, schema: SchemaRef) {
        if !std::mem::replace(&mut self.has_columns, true) {
            // A receiver that is gone is noticed with the first row.
            let _ = self.pieces.send(Piece::Columns(schema)).await;
        }
    }
}

impl AsyncGive for Give {
    fn give(&mut self, batch: RecordBatch) -> BoxFuture<'_, Result<(), Unwanted>> {
        self.rows += batch.num_rows() as u64;
        let sent = self.pieces.send(Piece::Rows(batch));
        sent.map(|sent| sent.map_err(|_| Unwanted)).boxed()
    }
}
