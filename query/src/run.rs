//! One question from its request to its outcome, for callers without an async runtime.
//!
//! The answer is computed on threads of its own; the caller's thread takes in rows and watches for a limit
//! or an interruption, so either ends the answer at once whatever the engine is doing.

mod answer;
mod watch;

use datafusion::common::DataFusionError;
use futures::StreamExt;
use futures::channel::mpsc;
use futures::future::{Either, select};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::cells::{Rows, output_columns};
use crate::moved::Moved;
use crate::outcome::{Cut, Outcome, QueryError, Sink};
use crate::request::{Limits, Request};
use answer::{Answered, Piece, answer};
use watch::Watch;

/// Pieces of an answer that wait for the sink.
const PIECES_WAITING_MAX: usize = 2;

/// Answers `request` into `sink`.
///
/// An answer that was cut, or that is incomplete, is no error: [`Outcome`] says so.
///
/// # Errors
/// [`QueryError`] when there is no answer; rows may have been given before.
pub fn run(request: &Request, sink: &mut dyn Sink) -> Result<Outcome, QueryError> {
    let runtime = runtime(&request.limits)?;
    let mut watch = Watch::start(&request.interrupted, request.limits.time_max);
    let answered = runtime.block_on(receive(request, sink, &mut watch));
    // Threads that still compute for an answer nobody waits for end by themselves.
    runtime.shutdown_background();
    answered
}

fn runtime(limits: &Limits) -> Result<Runtime, QueryError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(limits.threads_max.max(1))
        .thread_name("query")
        .build()
        .map_err(|error| QueryError::Engine(error.to_string()))
}

async fn receive(
    request: &Request,
    sink: &mut dyn Sink,
    watch: &mut Watch,
) -> Result<Outcome, QueryError> {
    let (give, mut pieces) = mpsc::channel(PIECES_WAITING_MAX);
    let task = tokio::spawn(answer(request.clone(), give));
    let mut outcome = Outcome {
        rows: 0,
        coverage: None,
        cut: None,
        sql: None,
        uncounted: Vec::new(),
    };
    loop {
        match select(pieces.next(), watch.cut()).await {
            Either::Left((Some(piece), _)) => take_in(piece, sink, &mut outcome)?,
            Either::Left((None, _)) => break,
            Either::Right((cut, _)) => {
                task.abort();
                outcome.cut = Some(cut);
                return Ok(outcome);
            }
        }
    }
    finish(task, watch, outcome, request).await
}

fn take_in(piece: Piece, sink: &mut dyn Sink, outcome: &mut Outcome) -> Result<(), QueryError> {
    match piece {
        Piece::Columns(schema) => sink.columns(&output_columns(&schema))?,
        Piece::Rows(batch) => {
            outcome.rows += batch.num_rows() as u64;
            sink.rows(&Rows::new(batch))?;
        }
    }
    Ok(())
}

/// All rows are in; coverage may still be read.
async fn finish(
    mut task: JoinHandle<Result<Answered, Failure>>,
    watch: &mut Watch,
    mut outcome: Outcome,
    request: &Request,
) -> Result<Outcome, QueryError> {
    let ended = match select(&mut task, watch.cut()).await {
        Either::Left((ended, _)) => ended,
        Either::Right((cut, _)) => {
            outcome.cut = Some(cut);
            return Ok(outcome);
        }
    };
    match ended {
        Ok(Ok(answered)) => {
            outcome.coverage = Some(answered.coverage);
            outcome.sql = answered.sql;
            outcome.uncounted = answered.uncounted;
            Ok(outcome)
        }
        Ok(Err(Failure::Memory)) => {
            let bytes_max = request.limits.memory_bytes_max;
            outcome.cut = Some(Cut::Memory { bytes_max });
            Ok(outcome)
        }
        Ok(Err(failure)) => Err(failure.into()),
        Err(panic) => Err(QueryError::Engine(panic.to_string())),
    }
}

/// Why an answer ends without being whole.
#[derive(Debug)]
enum Failure {
    /// The memory limit was reached.
    Memory,
    /// Entries kept moving.
    Moving(Moved),
    /// Anything else.
    Failed(DataFusionError),
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Failure {
        if let Some(moved) = Moved::cause_of(&error) {
            return Failure::Moving(moved);
        }
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => Failure::Memory,
            _ => Failure::Failed(error),
        }
    }
}

impl From<Failure> for QueryError {
    fn from(failure: Failure) -> QueryError {
        let error = match failure {
            Failure::Memory => return QueryError::Engine("out of memory".to_owned()),
            Failure::Moving(moved) => return QueryError::Moving(moved.to_string()),
            Failure::Failed(error) => error,
        };
        match error.find_root() {
            DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Diagnostic(..)
            | DataFusionError::Configuration(_) => QueryError::Question(message(&error)),
            DataFusionError::Execution(_) | DataFusionError::ArrowError(..) => {
                QueryError::Failed(message(&error))
            }
            _ => QueryError::Engine(message(&error)),
        }
    }
}

/// The engine's words without its traces, headings and lists of everything there is.
fn message(error: &DataFusionError) -> String {
    let text = error.find_root().strip_backtrace();
    let line = text.lines().next().unwrap_or_default();
    let line = BLAMES
        .iter()
        .find_map(|blame| line.split_once(blame))
        .map_or(line, |(line, _)| line.trim_end());
    let mut line = line;
    while let Some(rest) = HEADINGS
        .iter()
        .find_map(|heading| line.strip_prefix(heading))
    {
        line = rest;
    }
    line.trim_end_matches('.').to_owned()
}

/// How the engine goes on about itself behind what it says.
const BLAMES: [&str; 2] = [
    "This was likely caused by a bug",
    "This issue was likely caused by a bug",
];

/// How the engine begins what it says about a question.
const HEADINGS: [&str; 12] = [
    "Error during planning: ",
    "Schema error: ",
    "SQL error: ",
    "Execution error: ",
    "Arrow error: ",
    "Cast error: ",
    "Compute error: ",
    "Parser error: ",
    "Internal error: ",
    "External error: ",
    "This feature is not implemented: ",
    "Invalid or Unsupported Configuration: ",
];
