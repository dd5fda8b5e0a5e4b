//! Scans of Parquet files, with what their footers say about them.

use std::path::Path;
use std::sync::Arc;

use boundlane_archive::{ArchiveFile, Span};
use boundlane_record::Seq;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, DataFusionError, Result, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfigBuilder, ParquetFileReaderFactory, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::Operator;
use datafusion::object_store;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::arrays::table_schema;

/// How files are read.
pub(crate) struct FileScan {
    /// Places in the table's schema; all columns when absent.
    pub(crate) projection: Option<Vec<usize>>,
    pub(crate) limit: Option<usize>,
    /// Streams that may run beside each other. With one, rows come in the order of the files.
    pub(crate) partitions: usize,
    /// Rows that cannot fit it are not even decoded; those that are left are filtered by it.
    pub(crate) filter: Option<Arc<dyn PhysicalExpr>>,
    readers: Arc<dyn ParquetFileReaderFactory>,
}

impl FileScan {
    /// A scan of all columns in one stream. Footers are kept in `runtime`'s cache.
    ///
    /// # Errors
    /// When `runtime` has no local file system.
    pub(crate) fn new(runtime: &RuntimeEnv) -> Result<FileScan> {
        let store = runtime.object_store(ObjectStoreUrl::local_filesystem())?;
        let cache = runtime.cache_manager.get_file_metadata_cache();
        Ok(FileScan {
            projection: None,
            limit: None,
            partitions: 1,
            filter: None,
            readers: Arc::new(CachedParquetFileReaderFactory::new(store, cache)),
        })
    }

    /// The whole of `files`.
    ///
    /// # Errors
    /// When a path cannot be spelled as a URL.
    pub(crate) fn of(&self, files: &[&Arc<ArchiveFile>]) -> Result<Arc<dyn ExecutionPlan>> {
        let groups = groups(files, self.partitions)?;
        let mut source = ParquetSource::new(table_schema())
            .with_parquet_file_reader_factory(Arc::clone(&self.readers));
        if let Some(filter) = &self.filter {
            source = source
                .with_predicate(Arc::clone(filter))
                .with_pushdown_filters(true);
        }
        let mut config =
            FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
                .with_file_groups(groups)
                .with_projection_indices(self.projection.clone())?
                .with_preserve_order(self.partitions == 1)
                .with_limit(self.limit);
        if self.filter.is_none() {
            config = config.with_statistics(sum(files));
        }
        Ok(DataSourceExec::from_data_source(config.build()))
    }

    /// `file` from number `first` on.
    ///
    /// # Errors
    /// As [`FileScan::of`].
    pub(crate) fn tail_of(
        &self,
        file: &Arc<ArchiveFile>,
        first: Seq,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = table_schema();
        let wanted = match &self.projection {
            Some(columns) => columns.clone(),
            None => (0..schema.fields().len()).collect(),
        };
        let seq = schema.index_of("seq")?;
        let mut read = wanted.clone();
        read.push(seq);
        let scan = FileScan {
            projection: Some(read),
            limit: None,
            filter: self.filter.clone(),
            readers: Arc::clone(&self.readers),
            partitions: 1,
        };
        let number = i64::try_from(first.0).unwrap_or(i64::MAX);
        let at_or_after = BinaryExpr::new(
            Arc::new(Column::new("seq", wanted.len())),
            Operator::GtEq,
            Arc::new(Literal::new(ScalarValue::Int64(Some(number)))),
        );
        let rows = FilterExec::try_new(Arc::new(at_or_after), scan.of(&[file])?)?;
        let columns = wanted.iter().enumerate().map(|(at, &column)| {
            let name = schema.field(column).name();
            let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, at));
            (column, name.clone())
        });
        let columns: Vec<_> = columns.collect();
        Ok(Arc::new(ProjectionExec::try_new(columns, Arc::new(rows))?))
    }
}

/// Neighbouring files in as many groups of about as many bytes.
fn groups(files: &[&Arc<ArchiveFile>], partitions: usize) -> Result<Vec<FileGroup>> {
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    let share = bytes / partitions.max(1) as u64 + 1;
    let mut groups = vec![Vec::new()];
    let mut filled = 0;
    for file in files {
        if filled >= share && groups.len() < partitions {
            groups.push(Vec::new());
            filled = 0;
        }
        if let Some(group) = groups.last_mut() {
            group.push(partitioned(file)?);
        }
        filled += file.bytes;
    }
    Ok(groups.into_iter().map(FileGroup::new).collect())
}

fn partitioned(file: &ArchiveFile) -> Result<PartitionedFile> {
    let mut entry = PartitionedFile::new(String::new(), file.bytes);
    entry.object_meta.location = location(&file.path)?;
    Ok(entry.with_statistics(Arc::new(statistics(file))))
}

fn location(path: &Path) -> Result<object_store::path::Path> {
    let absolute = std::path::absolute(path).map_err(DataFusionError::IoError)?;
    Ok(object_store::path::Path::from_absolute_path(absolute)?)
}

fn sum(files: &[&Arc<ArchiveFile>]) -> Statistics {
    let rows: u64 = files.iter().map(|file| file.footer.tally.rows).sum();
    let mut all = Statistics::new_unknown(&table_schema());
    all.num_rows = usize::try_from(rows).map_or(Precision::Absent, Precision::Exact);
    all
}

/// What a file's footer says about its rows: enough to leave it out without opening it again.
fn statistics(file: &ArchiveFile) -> Statistics {
    let tally = &file.footer.tally;
    let mut columns = vec![ColumnStatistics::new_unknown(); table_schema().fields().len()];
    let number = |seq: Seq| ScalarValue::Int64(i64::try_from(seq.0).ok());
    let journal = ScalarValue::Utf8View(Some(file.name.journal.to_string()));
    let mut state = |name: &str, bounds: Option<(ScalarValue, ScalarValue)>| {
        if let (Ok(at), Some((min, max))) = (table_schema().index_of(name), bounds) {
            columns[at].min_value = Precision::Exact(min);
            columns[at].max_value = Precision::Exact(max);
        }
    };
    state(
        "seq",
        Some((number(file.name.first), number(file.name.last))),
    );
    state("journal", Some((journal.clone(), journal)));
    state("time", moments(tally.time));
    state("observed", moments(tally.observed));
    Statistics {
        num_rows: usize::try_from(tally.rows).map_or(Precision::Absent, Precision::Exact),
        total_byte_size: Precision::Absent,
        column_statistics: columns,
    }
}

fn moments(span: Span) -> Option<(ScalarValue, ScalarValue)> {
    let scalar = |micros| ScalarValue::TimestampMicrosecond(Some(micros), Some("UTC".into()));
    Some((scalar(span.first()?.0), scalar(span.last()?.0)))
}
