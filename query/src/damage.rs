//! Telling a damaged file from a question that fails.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::error::ArrowError;
use boundlane_archive::{ArchiveFile, BadFile};
use datafusion::common::DataFusionError;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::PageIndexPolicy;

/// Threads that read a file to find out whether it is whole.
const WORKERS_MAX: usize = 2;

/// Which of `files` are damaged, when `error` may come from their bytes: each is read to its end and
/// compared with what its footer says.
pub(crate) async fn of(files: Vec<Arc<ArchiveFile>>, error: &DataFusionError) -> Vec<BadFile> {
    if !may_be_of_bytes(error) {
        return Vec::new();
    }
    let bad = |file: &Arc<ArchiveFile>| check(file).err();
    let found = tokio::task::spawn_blocking(move || files.iter().filter_map(bad).collect());
    // A reader that breaks down over a file has found no other reason for the error.
    found.await.unwrap_or_default()
}

fn check(file: &ArchiveFile) -> Result<(), BadFile> {
    file.open()?.verify(WORKERS_MAX)?;
    page_index(&file.path).map_err(|why| BadFile {
        path: file.path.clone(),
        why: format!("its page index cannot be read ({why})"),
    })
}

/// Entries can be read without the page index, and questions cannot be answered without it.
fn page_index(path: &Path) -> Result<(), ParquetError> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    ArrowReaderMetadata::load(&File::open(path)?, options).map(|_| ())
}

/// An error of a question names its reason; errors of decoders come in many wrappings.
fn may_be_of_bytes(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ParquetError(_)
        | DataFusionError::ObjectStore(_)
        | DataFusionError::IoError(_)
        | DataFusionError::External(_) => true,
        DataFusionError::ArrowError(error, _) => matches!(
            error.as_ref(),
            ArrowError::ParquetError(_)
                | ArrowError::ExternalError(_)
                | ArrowError::IoError(..)
                | ArrowError::SchemaError(_)
        ),
        _ => false,
    }
}
