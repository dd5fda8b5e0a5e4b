//! The engine, set up so that it can only read, only this table, and only so much of the machine.

mod views;

pub use views::VIEWS;
pub(crate) use views::register;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::request::Limits;

/// Rows in one batch.
const BATCH_ROWS_MAX: usize = 8_192;

/// A context without tables. Nothing is spilled: a question writes nothing to any disk.
///
/// # Errors
/// When the engine cannot be set up.
pub(crate) fn context(limits: &Limits) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_target_partitions(limits.threads_max)
        .with_batch_size(BATCH_ROWS_MAX)
        .with_information_schema(true)
        .with_parquet_pruning(true);
    let options = config.options_mut();
    "UTC".clone_into(options.execution.time_zone.get_or_insert_default());
    options.execution.parquet.pushdown_filters = true;
    options.execution.parquet.reorder_filters = true;
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(limits.memory_bytes_max)))
        .with_metadata_cache_limit(limits.memory_bytes_max / 8)
        .with_disk_manager_builder(
            DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled),
        )
        .build_arc()?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// Plans `sql`, which may only read: no DDL, no DML, no `COPY`, no `SET`.
///
/// # Errors
/// When `sql` is not one statement that can be planned, or would do anything but read.
pub(crate) async fn plan(context: &SessionContext, sql: &str) -> Result<DataFrame> {
    let read_only = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    context.sql_with_options(sql, read_only).await
}
