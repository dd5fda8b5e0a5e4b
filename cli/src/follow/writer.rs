//! The one thread that writes the journal while streams are followed.
//!
//! Group commit by itself: what arrived while the previous commit ran goes into the next one. A bundle
//! is never split. A full disk is waited out; after any other failed commit the journal is closed, and
//! whoever follows opens it again and goes on from the stored places.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use boundlane_record::Micros;
use boundlane_store::{
    AppendError, COMMIT_ITEMS_MAX, Checkpoint, Item, Journal, Limits, Number, Prune,
};
use tokio::sync::{mpsc, oneshot};

use super::bundle::Bundle;
use super::tell::{About, Teller};
use crate::pruning;

/// Bundles on their way to the writer.
const CHANNEL_BUNDLES_MAX: usize = 64;
/// For how long drops stay without a number.
const DROPS_OPEN_MAX: Duration = Duration::from_secs(60);
/// Between two looks for entries to prune, when there were none.
const PRUNE_EVERY: Duration = Duration::from_secs(60);
/// Between two attempts while the disk is full or the file is busy.
const RETRY: Duration = Duration::from_millis(500);

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
        journal: Journal,
        teller: Arc<Teller>,
        query_micros_max: i64,
    ) -> (Writer, Handle) {
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

struct Committer {
    journal: Journal,
    teller: Arc<Teller>,
    /// The stored version of each stream's checkpoint, with the place that we wrote.
    versions: HashMap<String, (u64, String)>,
    committed: Arc<AtomicU64>,
    stopped: std_mpsc::Receiver<()>,
    /// When lines were last refused.
    refused_at: Option<Instant>,
    /// When there was last nothing to prune.
    pruned_at: Option<Instant>,
    query_micros_max: i64,
}

impl Committer {
    fn run(&mut self, mut incoming: mpsc::Receiver<Message>) -> Result<(), AppendError> {
        let mut held = None;
        while let Some(first) = held.take().or_else(|| incoming.blocking_recv()) {
            let mut bundles = Vec::new();
            let mut flushes = Vec::new();
            let mut tick = None;
            let mut items = 0;
            let mut next = Some(first);
            while let Some(message) = next.take() {
                match message {
                    Message::Commit(bundle) => {
                        if !bundles.is_empty() && items + bundle.parts.len() > COMMIT_ITEMS_MAX {
                            held = Some(Message::Commit(bundle));
                            break;
                        }
                        items += bundle.parts.len();
                        bundles.push(bundle);
                    }
                    Message::Flush(done) => flushes.push(done),
                    Message::Tick(now) => tick = Some(now),
                    Message::Limit(limits) => self.limit(&limits)?,
                }
                next = incoming.try_recv().ok();
            }
            self.commit(&bundles)?;
            for done in flushes {
                // Nobody waits any more.
                let _ = done.send(());
            }
            if let Some(now) = tick {
                self.tick(now)?;
            }
        }
        Ok(())
    }

    fn limit(&mut self, limits: &Limits) -> Result<(), AppendError> {
        loop {
            match self.journal.set_limits(limits) {
                Err(AppendError::Full) => self.wait("the disk is full")?,
                Err(AppendError::Busy) => self.wait("the journal is busy")?,
                done => return done,
            }
        }
    }

    /// Drops of a stream that has gone silent get their number too.
    fn tick(&mut self, now: Micros) -> Result<(), AppendError> {
        let max = i64::try_from(DROPS_OPEN_MAX.as_micros()).unwrap_or(i64::MAX);
        let before = Micros(now.0.saturating_sub(max));
        match self
            .journal
            .number_open_losses(Number::DropsOpenedBefore(before), now)
        {
            Err(error) if error.closes() => Err(error),
            _ => self.prune(),
        }
    }

    /// Takes away what is due, a batch at a time.
    fn prune(&mut self) -> Result<(), AppendError> {
        if self.pruned_at.is_some_and(|at| at.elapsed() < PRUNE_EVERY) {
            return Ok(());
        }
        self.pruned_at = Some(Instant::now());
        match self.journal.prune(&pruning::terms(self.query_micros_max)) {
            Ok(Prune::Done { .. }) => self.pruned_at = None,
            Ok(Prune::ClockStepped) => self.teller.warn(
                About::Clock,
                "the clock was set by more than a day: nothing is pruned until the machine starts again",
            ),
            Ok(Prune::NotDue) => self.teller.forget(&About::Clock),
            Err(error) if error.closes() => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    fn commit(&mut self, bundles: &[Bundle]) -> Result<(), AppendError> {
        if bundles.is_empty() {
            return Ok(());
        }
        let mut conflicts = 0;
        loop {
            match self.try_commit(bundles) {
                Ok(()) => return Ok(()),
                Err(AppendError::Full) => self.wait("the disk is full")?,
                Err(AppendError::Busy) => self.wait("the journal is busy")?,
                // Another program wrote beside us: `save` does, and leaves the place as it is.
                Err(AppendError::Conflict { stream }) if conflicts < bundles.len() => {
                    conflicts += 1;
                    self.adopt(&stream)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn try_commit(&mut self, bundles: &[Bundle]) -> Result<(), AppendError> {
        for bundle in bundles {
            self.learn(&bundle.stream.stream)?;
        }
        let empty = bundles
            .iter()
            .map(|bundle| Checkpoint {
                fingerprints: Vec::new(),
                ..bundle.checkpoint.clone()
            })
            .collect::<Vec<_>>();
        let mut following: HashMap<&str, Option<u64>> = HashMap::new();
        let mut items = Vec::new();
        for (bundle, empty) in bundles.iter().zip(&empty) {
            let name = bundle.stream.stream.as_str();
            let version = following
                .entry(name)
                .or_insert_with(|| self.versions.get(name).map(|(version, _)| *version));
            for (index, part) in bundle.parts.iter().enumerate() {
                let is_last = index + 1 == bundle.parts.len();
                items.push(Item {
                    stream: &bundle.stream,
                    entries: &part.entries,
                    at: bundle.at,
                    books: part.books,
                    expects: *version,
                    // Fingerprints are of the bundle: they go with its last item.
                    checkpoint: if is_last { &bundle.checkpoint } else { empty },
                    open_losses: &part.open_losses,
                    when_full: boundlane_store::WhenFull::Shed,
                });
                *version = Some(version.map_or(1, |version| version + 1));
            }
        }
        let appended = self.journal.append(&items)?;
        self.tell_refused(appended.items.iter().map(|item| item.books.refused).sum());
        let entries: usize = items.iter().map(|item| item.entries.len()).sum();
        self.committed.fetch_add(entries as u64, Ordering::Relaxed);
        let following: Vec<(String, u64)> = following
            .into_iter()
            .filter_map(|(name, version)| Some((name.to_owned(), version?)))
            .collect();
        self.versions
            .extend(following.into_iter().map(|(name, version)| {
                let last = bundles
                    .iter()
                    .rev()
                    .find(|bundle| bundle.stream.stream == name);
                let place = last.map_or_else(String::new, |bundle| bundle.checkpoint.place.clone());
                (name, (version, place))
            }));
        Ok(())
    }

    /// Learns the stored version of a stream that was not written yet.
    fn learn(&mut self, stream: &str) -> Result<(), AppendError> {
        if !self.versions.contains_key(stream)
            && let Some(stored) = self.stored(stream)?
        {
            self.versions.insert(stream.to_owned(), stored);
        }
        Ok(())
    }

    /// Takes over a version that another program wrote, if the place is still the one that we wrote.
    fn adopt(&mut self, stream: &str) -> Result<(), AppendError> {
        let conflict = || AppendError::Conflict {
            stream: stream.to_owned(),
        };
        let (version, place) = self.stored(stream)?.ok_or_else(conflict)?;
        match self.versions.get(stream) {
            Some((_, ours)) if *ours == place => {
                self.versions.insert(stream.to_owned(), (version, place));
                Ok(())
            }
            _ => Err(conflict()),
        }
    }

    fn stored(&self, stream: &str) -> Result<Option<(u64, String)>, AppendError> {
        let state = self
            .journal
            .stream(stream)
            .map_err(|_| AppendError::Damaged("the stream's checkpoint"))?;
        Ok(state.map(|state| (state.version, state.place)))
    }

    /// Says when lines begin to be refused, and when that ends.
    fn tell_refused(&mut self, lines: u64) {
        if lines > 0 {
            self.teller.warn(
                About::Queue,
                "the queue is full: lines are dropped and counted; `boundlane status` says how many",
            );
            self.refused_at = Some(Instant::now());
        } else if self
            .refused_at
            .is_some_and(|at| at.elapsed() > DROPS_OPEN_MAX)
        {
            self.teller.forget(&About::Queue);
            self.refused_at = None;
        }
    }

    /// Waits a little, unless it is time to end.
    fn wait(&self, why: &str) -> Result<(), AppendError> {
        self.teller.warn(
            About::Journal,
            &format!("{why}: nothing is read until it can be written"),
        );
        match self.stopped.recv_timeout(RETRY) {
            Err(std_mpsc::RecvTimeoutError::Timeout) => Ok(()),
            _ => Err(AppendError::Full),
        }
    }
}

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
