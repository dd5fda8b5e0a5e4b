//! The one thread that writes the journal while streams are followed.
//!
//! Group commit by itself: what arrived while the previous commit ran goes into the next one. A bundle
//! is never split. While the disk is full, records are refused and counted; after any other failed commit the journal is closed, and
//! whoever follows opens it again and goes on from the stored places.

mod committer;
mod sink;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;

use boundlane_record::Micros;
use boundlane_store::{AppendError, Journal, Limits, StateDir};
use tokio::sync::{mpsc, oneshot};

use super::bundle::Bundle;
use super::tell::Teller;
use committer::Committer;
pub(crate) use sink::{Sink, sink};

/// Bundles on their way to the writer.
const CHANNEL_BUNDLES_MAX: usize = 64;

enum Message {
    Commit(Bundle),
    /// Answered when everything that was sent before is durable.
    Flush(oneshot::Sender<()>),
    /// Time has passed.
    Tick(Micros),
    /// Other bounds come into force.
    Limit(Limits),
}

/// Sends bundles to the writer. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Handle {
    messages: mpsc::Sender<Message>,
    committed: Arc<AtomicU64>,
}

/// The writer is gone; what was sent last may not be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

/// The writing thread.
pub(crate) struct Writer {
    thread: JoinHandle<Result<(), AppendError>>,
    /// Dropped to end a wait for the disk.
    _stop: std_mpsc::Sender<()>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// A query may take `query_micros_max`: for so long it finds in the journal what it did not find archived.
    pub(crate) fn start(
        (dir, journal): (StateDir, Journal),
        teller: Arc<Teller>,
        query_micros_max: i64,
    ) -> (Writer, Handle) {
        // Without it a full disk is waited out.
        let _ = dir.keep_reserve();
        let (messages, incoming) = mpsc::channel(CHANNEL_BUNDLES_MAX);
        let (stop, stopped) = std_mpsc::channel();
        let committed = Arc::new(AtomicU64::new(0));
        let mut committer = Committer {
            journal,
            teller,
            versions: HashMap::new(),
            committed: Arc::clone(&committed),
            stopped,
            refused_at: None,
            dir,
            full_since: None,
            pruned_at: None,
            query_micros_max,
        };
        let thread = std::thread::spawn(move || committer.run(incoming));
        let writer = Writer {
            thread,
            _stop: stop,
        };
        (
            writer,
            Handle {
                messages,
                committed,
            },
        )
    }

    /// Waits until everything is durable; every handle must be dropped before.
    pub(crate) fn finish(self) -> Result<(), AppendError> {
        self.thread.join().unwrap_or(Err(AppendError::Poisoned))
    }

    /// The same for who does not wait for ever: a program that ends meanwhile ends.
    pub(crate) fn finishing(self) -> oneshot::Receiver<Result<(), AppendError>> {
        let (done, finished) = oneshot::channel();
        std::thread::spawn(move || done.send(self.finish()));
        finished
    }
}

impl Handle {
    /// Hands a bundle over; waits while the channel is full.
    pub(crate) async fn send(&self, bundle: Bundle) -> Result<(), Closed> {
        let sent = self.messages.send(Message::Commit(bundle)).await;
        sent.map_err(|_| Closed)
    }

    /// Waits until everything that was sent before is durable.
    pub(crate) async fn flush(&self) -> Result<(), Closed> {
        let (done, durable) = oneshot::channel();
        let sent = self.messages.send(Message::Flush(done)).await;
        sent.map_err(|_| Closed)?;
        durable.await.map_err(|_| Closed)
    }

    /// Says that time has passed; of no use to a writer that is busy.
    pub(crate) fn tick(&self, now: Micros) {
        let _ = self.messages.try_send(Message::Tick(now));
    }

    /// Puts other bounds in force; a writer that is gone has none.
    pub(crate) fn limit(&self, limits: Limits) {
        let messages = self.messages.clone();
        tokio::spawn(async move { messages.send(Message::Limit(limits)).await.is_ok() });
    }

    /// Entries committed since the writer began.
    pub(crate) fn committed(&self) -> u64 {
        self.committed.load(Ordering::Relaxed)
    }

    /// Whether the writer has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.messages.is_closed()
    }
}
