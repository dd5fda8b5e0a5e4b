//! Bundles that are shown and not stored.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::mpsc;

use super::{CHANNEL_BUNDLES_MAX, Handle, Message};
use crate::follow::bundle::Bundle;

/// What is read and not stored: bundles go to whoever shows them.
pub(crate) struct Sink(mpsc::Receiver<Message>);

/// A sink and the handle that feeds it.
pub(crate) fn sink() -> (Handle, Sink) {
    let (messages, incoming) = mpsc::channel(CHANNEL_BUNDLES_MAX);
    let handle = Handle {
        messages,
        committed: Arc::new(AtomicU64::new(0)),
    };
    (handle, Sink(incoming))
}

impl Sink {
    /// The next bundle; `None` when whoever reads has ended. Blocks.
    pub(crate) fn next(&mut self) -> Option<Bundle> {
        loop {
            match self.0.blocking_recv()? {
                Message::Commit(bundle) => return Some(bundle),
                // Nothing is durable here, and nobody waits for it to be.
                Message::Flush(done) => drop(done.send(())),
                Message::Tick(_) | Message::Limit(_) => {}
            }
        }
    }
}
