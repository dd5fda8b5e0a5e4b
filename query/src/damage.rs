//! Telling a damaged file from a question that fails.

use boundlane_archive::BadFile;
use datafusion::common::DataFusionError;
use arrow::error::ArrowError;

use crate::snapshot::Snapshot;

/// Threads that read a file to find out whether it is whole.
const WORKERS_MAX: usize = 2;

/// What is wrong with a file, when `error` is about bytes and not about the question.
pub(crate) fn why_damaged(error: &DataFusionError) -> Option<String> {
    let is_of_bytes = match error.find_root() {
        DataFusionError::ParquetError(_)
        | DataFusionError::ObjectStore(_)
        | DataFusionError::IoError(_) => true,
        DataFusionError::ArrowError(error, _) => matches!(
            error.as_ref(),
            ArrowError::ParquetError(_)
                | ArrowError::ExternalError(_)
                | ArrowError::IoError(..)
                | ArrowError::SchemaError(_)
        ),
        DataFusionError::External(error) => error.is::<datafusion::parquet::errors::ParquetError>(),
        _ => false,
    };
    is_of_bytes.then(|| format!("its rows cannot be decoded ({})", error.strip_backtrace()))
}

/// Reads every file to its end and names those that do not hold what their footers say.
pub(crate) fn damaged_files(snapshot: &Snapshot) -> Vec<BadFile> {
    let verify = |(file, _): (&std::sync::Arc<boundlane_archive::ArchiveFile>, _)| {
        file.open().and_then(|open| open.verify(WORKERS_MAX)).err()
    };
    snapshot.files().filter_map(verify).collect()
}
