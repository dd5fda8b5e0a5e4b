//! The interface in its two shapes.

pub(super) mod new;
pub(super) mod old;

use std::pin::Pin;

use futures::Stream;
use tonic::Status;

/// The largest request that is read: a push of more ends its stream.
pub(super) const REQUEST_BYTES_MAX: usize = 1024 * 1024;

/// A stream of answers.
pub(super) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;
