//! What the writing thread does: commits, and what has to be done as time passes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as std_mpsc;
use std::time::{Duration, Instant};

use boundlane_record::Micros;
use boundlane_store::{
    AppendError, COMMIT_ITEMS_MAX, Checkpoint, Item, Journal, Limits, Number, Prune, StateDir,
    WhenFull,
};
use tokio::sync::mpsc;

use super::Message;
use crate::follow::bundle::Bundle;
use crate::follow::tell::{About, Teller};
use crate::pruning;

/// For how long drops stay without a number.
const DROPS_OPEN_MAX: Duration = Duration::from_secs(60);
/// Between two looks for entries to prune, when there were none.
const PRUNE_EVERY: Duration = Duration::from_secs(60);
/// Between two attempts while the disk is full or the file is busy.
const RETRY: Duration = Duration::from_millis(500);

pub(super) struct Committer {
    pub(super) journal: Journal,
    pub(super) teller: Arc<Teller>,
    /// The stored version of each stream's checkpoint, with the place that we wrote.
    pub(super) versions: HashMap<String, (u64, String)>,
    pub(super) committed: Arc<AtomicU64>,
    pub(super) stopped: std_mpsc::Receiver<()>,
    /// When lines were last refused.
    pub(super) refused_at: Option<Instant>,
    pub(super) dir: StateDir,
    /// When the disk was last found to be full.
    pub(super) full_since: Option<Instant>,
    /// When there was last nothing to prune.
    pub(super) pruned_at: Option<Instant>,
    pub(super) query_micros_max: i64,
}

impl Committer {
    pub(super) fn run(&mut self, mut incoming: mpsc::Receiver<Message>) -> Result<(), AppendError> {
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
            let when_full = match self.is_disk_full() {
                true => WhenFull::Refuse,
                false => WhenFull::Shed,
            };
            match self.try_commit(bundles, when_full) {
                Ok(()) => return Ok(()),
                Err(AppendError::Full) if when_full == WhenFull::Shed => self.disk_is_full(),
                Err(AppendError::Full) => self.wait("the disk is full to the last byte")?,
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

    fn try_commit(&mut self, bundles: &[Bundle], when_full: WhenFull) -> Result<(), AppendError> {
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
                    when_full,
                });
                *version = Some(version.map_or(1, |version| version + 1));
            }
        }
        let appended = self.journal.append(&items)?;
        if when_full == WhenFull::Shed {
            self.tell_refused(appended.items.iter().map(|item| item.books.refused).sum());
        }
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

    /// Gives back the space that was kept for this: losses can be stated while records are refused.
    fn disk_is_full(&mut self) {
        self.full_since = Some(Instant::now());
        let _ = self.dir.release_reserve();
        self.teller.warn(
            About::Disk,
            "the disk is full: lines are dropped and counted until there is space again",
        );
    }

    /// Whether it still is. It is over when there is room for the reserve again.
    fn is_disk_full(&mut self) -> bool {
        let Some(since) = self.full_since else {
            return false;
        };
        if since.elapsed() < RETRY {
            return true;
        }
        self.full_since = Some(Instant::now());
        if self.dir.keep_reserve().is_ok_and(|is_kept| is_kept) {
            self.full_since = None;
            self.teller
                .say(About::Disk, "there is disk space again: lines are recorded");
        }
        self.full_since.is_some()
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
