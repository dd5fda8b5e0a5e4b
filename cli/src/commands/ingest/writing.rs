//! The one thread that writes the journal, fed by a bounded channel.
//!
//! Group commit by itself: what arrived while the previous commit ran goes into the next one, and the
//! first item after a pause at once.

use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::context::wall_clock;
use boundlane_record::{Books, EntryBatch, Micros, StreamName};
use boundlane_store::{AppendError, COMMIT_ITEMS_MAX, Checkpoint, Item, Journal, Number, WhenFull};

/// Items on their way to the writer. One holds at most 500 entries, about 250 KB.
const CHANNEL_ITEMS_MAX: usize = 16;

/// One item, owned.
pub(super) struct Prepared {
    pub(super) stream: Arc<StreamName>,
    pub(super) entries: EntryBatch,
    pub(super) at: Micros,
    pub(super) books: Books,
    pub(super) checkpoint: Checkpoint,
    pub(super) when_full: WhenFull,
}

/// The writing thread.
pub(super) struct Writer {
    items: SyncSender<Prepared>,
    emptied: Receiver<EntryBatch>,
    thread: JoinHandle<(Journal, Result<(), AppendError>, Books)>,
}

/// The writer has stopped; [`Writer::finish`] says why.
#[derive(Debug)]
pub(super) struct Stopped;

impl Writer {
    /// Starts the thread. `versions` are the checkpoints that the first item of each stream follows.
    ///
    /// `archives` is run when the queue is full.
    pub(super) fn start(
        journal: Journal,
        versions: HashMap<String, u64>,
        archives: Option<Command>,
    ) -> Writer {
        let (items, incoming) = sync_channel(CHANNEL_ITEMS_MAX);
        let (returned, emptied) = sync_channel(CHANNEL_ITEMS_MAX);
        let thread = std::thread::spawn(move || {
            let mut committer = Committer {
                journal,
                versions,
                archives,
                returned,
                durable: Books::default(),
            };
            let mut ended = committer.run(&incoming);
            if ended.is_ok() && committer.durable.refused > 0 {
                ended = committer.number_drops();
            }
            (committer.journal, ended, committer.durable)
        });
        Writer {
            items,
            emptied,
            thread,
        }
    }

    /// An empty batch, with the memory of one that was written when there is one.
    pub(super) fn batch(&self) -> EntryBatch {
        self.emptied.try_recv().unwrap_or_default()
    }

    /// Hands an item over; waits while the channel is full.
    pub(super) fn send(&self, item: Prepared) -> Result<(), Stopped> {
        self.items.send(item).map_err(|_| Stopped)
    }

    /// Waits until everything is durable. The journal comes back either way, with the books of what is.
    pub(super) fn finish(self) -> (Option<Journal>, Result<(), AppendError>, Books) {
        drop(self.items);
        match self.thread.join() {
            Ok((journal, ended, durable)) => (Some(journal), ended, durable),
            Err(_) => (None, Err(AppendError::Poisoned), Books::default()),
        }
    }
}

struct Committer {
    journal: Journal,
    versions: HashMap<String, u64>,
    archives: Option<Command>,
    returned: SyncSender<EntryBatch>,
    durable: Books,
}

impl Committer {
    fn run(&mut self, incoming: &Receiver<Prepared>) -> Result<(), AppendError> {
        let mut arrived = Vec::new();
        while let Ok(first) = incoming.recv() {
            arrived.push(first);
            arrived.extend(incoming.try_iter().take(COMMIT_ITEMS_MAX - 1));
            self.commit(&arrived)?;
            for mut item in arrived.drain(..) {
                item.entries.clear();
                // Full, or nobody reads any more: the memory goes back to the system instead.
                let _ = self.returned.try_send(item.entries);
            }
        }
        Ok(())
    }

    /// Nothing more is to come: what was dropped is all.
    fn number_drops(&mut self) -> Result<(), AppendError> {
        let streams: Vec<String> = self.versions.keys().cloned().collect();
        for stream in streams {
            self.journal
                .number_open_losses(Number::Stream(&stream), wall_clock())?;
        }
        Ok(())
    }

    /// Commits them together where there is room for all, else fewer at a time.
    fn commit(&mut self, arrived: &[Prepared]) -> Result<(), AppendError> {
        // A pipe too waits for as long as archiving takes.
        let waiting = match self.try_commit(arrived, WhenFull::Wait) {
            Err(AppendError::QueueFull { waiting }) => waiting,
            done => return done,
        };
        if arrived.len() > 1 {
            let (first, rest) = arrived.split_at(arrived.len() / 2);
            self.commit(first)?;
            return self.commit(rest);
        }
        if self.make_room(waiting)? {
            return self.commit(arrived);
        }
        match arrived.first().map(|item| item.when_full) {
            Some(WhenFull::Shed) => self.try_commit(arrived, WhenFull::Shed),
            _ => Err(AppendError::QueueFull { waiting }),
        }
    }

    fn try_commit(&mut self, arrived: &[Prepared], when_full: WhenFull) -> Result<(), AppendError> {
        let mut following = self.versions.clone();
        let mut items = Vec::with_capacity(arrived.len());
        for item in arrived {
            let expects = following.get(&item.stream.stream).copied();
            following.insert(
                item.stream.stream.clone(),
                expects.map_or(1, |version| version + 1),
            );
            items.push(Item {
                stream: &item.stream,
                entries: &item.entries,
                at: item.at,
                books: item.books,
                expects,
                checkpoint: &item.checkpoint,
                open_losses: &[],
                when_full,
            });
        }
        let appended = self.journal.append(&items)?;
        for (item, written) in arrived.iter().zip(appended.items) {
            self.durable += written.books;
            self.versions
                .insert(item.stream.stream.clone(), written.version);
        }
        Ok(())
    }

    /// Archives, so that fewer entries wait than the `waiting` that left no room. Whether fewer do: others may
    /// have archived meanwhile.
    fn make_room(&mut self, waiting: u64) -> Result<bool, AppendError> {
        let Some(archives) = &mut self.archives else {
            return Ok(false);
        };
        let is_archived = archives.status().is_ok_and(|status| status.success());
        Ok(is_archived && self.journal.waiting()?.all().entries < waiting)
    }
}
