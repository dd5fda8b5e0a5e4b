//! Numbers that were listed and are no longer where they were: compacted, archived or pruned meanwhile.

use boundlane_record::Seq;
use datafusion::common::DataFusionError;
use datafusion::object_store;

/// List again; nothing is lost yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} moved while it was read; run the question again")]
pub(crate) struct Moved {
    what: String,
}

impl Moved {
    pub(crate) fn numbers(journal: &str, from: Seq) -> Moved {
        Moved {
            what: format!("`{journal}` from number {from} on"),
        }
    }

    pub(crate) fn file(path: &str) -> Moved {
        Moved {
            what: format!("`{path}`"),
        }
    }

    /// What moved, when that is what `error` is about, however deep it lies.
    pub(crate) fn cause_of(error: &DataFusionError) -> Option<Moved> {
        if let DataFusionError::Collection(errors) = error {
            return errors.iter().find_map(Moved::cause_of);
        }
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(at) = cause {
            if let Some(moved) = at.downcast_ref::<Moved>() {
                return Some(moved.clone());
            }
            if let Some(object_store::Error::NotFound { path, .. }) = at.downcast_ref() {
                return Some(Moved::file(path));
            }
            if let Some(io) = at.downcast_ref::<std::io::Error>()
                && io.kind() == std::io::ErrorKind::NotFound
            {
                return Some(Moved::file("a file"));
            }
            cause = deeper(at);
        }
        None
    }
}

/// `source`, through the boxes and counters that some libraries do not look through themselves.
fn deeper<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e (dyn std::error::Error + 'static)> {
    use datafusion::parquet::errors::ParquetError;
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(DataFusionError::Shared(inner)), _) => Some(inner.as_ref()),
        (Some(DataFusionError::External(inner)), _) => Some(inner.as_ref()),
        (Some(DataFusionError::ParquetError(inner)), _) => Some(inner.as_ref()),
        (Some(DataFusionError::ObjectStore(inner)), _) => Some(inner.as_ref()),
        (_, Some(ParquetError::External(inner))) => Some(inner.as_ref()),
        _ => error.source(),
    }
}

impl From<Moved> for DataFusionError {
    fn from(moved: Moved) -> DataFusionError {
        DataFusionError::External(Box::new(moved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_missing_file_is_found_under_every_wrapping() {
        let not_found = || object_store::Error::NotFound {
            path: "v=1/x.parquet".into(),
            source: "gone".into(),
        };
        let plain = DataFusionError::from(not_found());
        let parquet = datafusion::parquet::errors::ParquetError::External(Box::new(not_found()));
        let inside = DataFusionError::ParquetError(Box::new(parquet));
        let shared = DataFusionError::Shared(Arc::new(inside)).context("scan");
        for error in [plain, shared] {
            assert_eq!(Moved::cause_of(&error), Some(Moved::file("v=1/x.parquet")));
        }
        let numbers = DataFusionError::from(Moved::numbers("j", Seq(4)));
        assert_eq!(Moved::cause_of(&numbers), Some(Moved::numbers("j", Seq(4))));
        assert_eq!(Moved::cause_of(&DataFusionError::Plan("no".into())), None);
    }
}
