//! Everything the gateway knows, behind one lock, and a bell that rings at every change.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::book::{Attachment, Book, Published};
use super::buffers::{Buffers, Item};
use super::connection::Connection;
use super::model::{Line, Moment, Phase, PlatformEvent, Sandbox, now, uuid};
use super::requests::{Call, Which};
use super::settings::Settings;
use super::watches::{WatchView, Watches};

/// Lines of one push that are kept; the rest are dropped and the call is OK.
pub const PUSH_LINES_MAX: usize = 100;

/// The state, shared by the handle and all that serves.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    bell: Condvar,
    /// Closed, watches that have subscribed wait here before they read the tail.
    pub(super) gate: tokio::sync::watch::Sender<bool>,
}

/// One gateway process: its buffers die with it.
#[derive(Debug, Default)]
pub(super) struct Replica {
    pub(super) buffers: HashMap<String, Buffers>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: Settings,
    pub(super) is_running: bool,
    pub(super) sandboxes: Vec<Sandbox>,
    pub(super) replicas: Vec<Replica>,
    pub(super) connections: BTreeMap<u64, Connection>,
    pub(super) connections_made: u64,
    pub(super) calls_made: u64,
    pub(super) next_replicas: Vec<usize>,
    pub(super) watches: Watches,
    pub(super) requests: Vec<Call>,
    pub(super) book: Book,
}

impl Shared {
    pub(super) fn new(settings: Settings) -> Shared {
        let replicas = (0..settings.replicas).map(|_| Replica::default());
        Shared {
            state: Mutex::new(State {
                is_running: true,
                sandboxes: Vec::new(),
                replicas: replicas.collect(),
                connections: BTreeMap::new(),
                connections_made: 0,
                calls_made: 0,
                next_replicas: Vec::new(),
                watches: Watches::default(),
                requests: Vec::new(),
                book: Book::default(),
                settings,
            }),
            bell: Condvar::new(),
            gate: tokio::sync::watch::Sender::new(true),
        }
    }

    /// The state, to look at.
    pub(super) fn look(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes the state and tells those who wait.
    pub(super) fn change<A>(&self, change: impl FnOnce(&mut State) -> A) -> A {
        let answer = change(&mut self.state.lock().unwrap());
        self.bell.notify_all();
        answer
    }

    /// Waits until `ready` gives something; none when `patience` is over.
    pub(super) fn wait<A>(
        &self,
        patience: Duration,
        mut ready: impl FnMut(&State) -> Option<A>,
    ) -> Option<A> {
        let deadline = Instant::now() + patience;
        let mut state = self.look();
        loop {
            if let Some(answer) = ready(&state) {
                return Some(answer);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            state = self.bell.wait_timeout(state, left).unwrap().0;
        }
    }
}

impl State {
    pub(super) fn create(&mut self, name: &str, workspace: &str) -> Sandbox {
        let at = now();
        let sandbox = Sandbox {
            id: uuid(),
            name: name.into(),
            workspace: workspace.into(),
            labels: BTreeMap::new(),
            phase: Phase::Ready,
            policy_version: 1,
            created_ms: at / 1000,
        };
        self.book.open(&sandbox, at);
        self.sandboxes.push(sandbox.clone());
        if self.settings.opening_lines {
            for message in ["sandbox created", "sandbox ready"] {
                let target = "openshell_server::grpc::sandbox";
                let line = Line::tracing("INFO", target, message).from("gateway");
                self.publish(&sandbox.id, 0, line);
            }
        }
        sandbox
    }

    pub(super) fn delete(&mut self, id: &str) {
        self.sandboxes.retain(|sandbox| sandbox.id != id);
        if let Some(pages) = self.book.pages(id) {
            pages.deleted = Some(now());
        }
        for replica in &mut self.replicas {
            if let Some(buffers) = replica.buffers.remove(id) {
                let _ = buffers.status.send(());
            }
        }
    }

    /// The living sandbox that is asked for.
    pub(super) fn find(&self, which: &Which) -> Option<&Sandbox> {
        self.sandboxes.iter().find(|one| match which {
            Which::Named(name, scope) => one.name == *name && scope.has(&one.workspace),
            Which::WithId(id) => one.id == *id,
        })
    }

    fn is_living(&self, id: &str) -> bool {
        self.sandboxes.iter().any(|one| one.id == id)
    }

    pub(super) fn buffers(&mut self, replica: usize, id: &str) -> &mut Buffers {
        self.replicas[replica]
            .buffers
            .entry(id.to_owned())
            .or_default()
    }

    /// Publishes a line and books it. None of it reaches a process that is down, nor a sandbox that is gone.
    pub(super) fn publish(&mut self, id: &str, replica: usize, line: Line) -> Published {
        let at = now();
        let cursor = (self.is_running && self.is_living(id)).then(|| {
            let encoding = self.settings.encoding.clone();
            let item = Item::Line(line.clone().into());
            let held = self.buffers(replica, id).publish(&encoding, item);
            held.cursor.to_string()
        });
        let published = Published {
            line,
            cursor,
            at,
            replica,
        };
        if let Some(pages) = self.book.pages(id) {
            pages.lines.push(published.clone());
        }
        published
    }

    pub(super) fn publish_event(&mut self, id: &str, replica: usize, event: PlatformEvent) {
        if self.is_running && self.is_living(id) {
            let encoding = self.settings.encoding.clone();
            let item = Item::Event(event.into());
            self.buffers(replica, id).publish(&encoding, item);
        }
    }

    /// Says to all that follow the status that the record changed.
    pub(super) fn tick(&mut self, id: &str) {
        for replica in &mut self.replicas {
            if let Some(buffers) = replica.buffers.get(id) {
                let _ = buffers.status.send(());
            }
        }
    }

    /// A process that ends takes its buffers with it.
    pub(super) fn forget_buffers(&mut self) {
        for replica in &mut self.replicas {
            replica.buffers.clear();
        }
        let count = self.settings.replicas;
        self.replicas.resize_with(count, Replica::default);
        self.book.restarts.push(now());
    }

    /// The replica of the next call or connection, `turn` being its number.
    pub(super) fn next_replica(&mut self, turn: u64) -> usize {
        if !self.next_replicas.is_empty() {
            return self.next_replicas.remove(0);
        }
        let count = self.replicas.len() as u64;
        usize::try_from(turn % count).unwrap()
    }

    /// Whether a watch has been handed everything that it follows.
    pub(super) fn is_idle(&self, watch: &WatchView) -> bool {
        let buffers = self.replicas[watch.replica].buffers.get(&watch.sandbox_id);
        let Some(buffers) = buffers else {
            return false;
        };
        let last = |followed: bool, last: u64| if followed { last } else { 0 };
        let logs = last(watch.asked.follow_logs, buffers.lines.last());
        let events = last(watch.asked.follow_events, buffers.events.last());
        watch.is_following() && watch.queued == 0 && watch.seen >= logs.max(events)
    }

    /// The book, with the watches as they are now.
    pub(super) fn full_book(&self) -> Book {
        let attachment = |view: &WatchView| Attachment {
            sandbox_id: view.sandbox_id.clone(),
            replica: view.replica,
            from: view.attached,
            to: view.ended,
        };
        Book {
            // One that was refused, or that had nothing to say, tells a follower nothing of its replica.
            attachments: self
                .watches
                .views()
                .filter(|view| view.ended.is_none() || view.delivered_lines > 0)
                .map(attachment)
                .collect(),
            ..self.book.clone()
        }
    }

    /// When something was last published, for a message about what was waited for in vain.
    pub(super) fn last_published(&self) -> Option<Moment> {
        let lines = self
            .book
            .sandboxes
            .iter()
            .filter_map(|one| one.lines.last());
        lines.map(|line| line.at).max()
    }
}
