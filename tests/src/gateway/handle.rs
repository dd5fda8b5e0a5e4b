//! The handle: what a test does to a gateway.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::runtime::{Builder, Runtime};

use super::book::Published;
use super::connection::Cut;
use super::door::Door;
use super::model::{Line, Phase, PlatformEvent, Sandbox};
use super::requests::{Scope, Which};
use super::settings::Settings;
use super::state::{PUSH_LINES_MAX, Shared, State};

/// A running gateway. Dropped, it is gone with all its connections.
#[derive(Debug)]
pub struct Gateway {
    pub(super) shared: Arc<Shared>,
    door: Mutex<Door>,
    runtime: Option<Runtime>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Not waited for: a test may be dropped inside a runtime of its own.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Gateway {
    /// Starts a gateway on a port of its own.
    pub fn start(settings: Settings) -> Gateway {
        Gateway::start_on(None, settings).unwrap()
    }

    /// Starts a gateway on `port`, or on any.
    ///
    /// # Errors
    /// The port is taken.
    pub fn start_on(port: Option<u16>, settings: Settings) -> std::io::Result<Gateway> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let shared = Arc::new(Shared::new(settings));
        let mut door = Door::new(runtime.handle(), port)?;
        door.open(runtime.handle(), &shared);
        Ok(Gateway {
            shared,
            door: Mutex::new(door),
            runtime: Some(runtime),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.door.lock().unwrap().address
    }

    /// The same as a URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Changes how it behaves from now on.
    pub fn settings(&self, change: impl FnOnce(&mut Settings)) {
        self.shared.change(|state| change(&mut state.settings));
    }

    /// Makes a sandbox in the workspace `default`; its UUID. The name of a deleted one can be used again.
    pub fn create(&self, name: &str) -> String {
        self.create_in("default", name, &BTreeMap::new())
    }

    /// Makes a sandbox; its UUID.
    pub fn create_in(
        &self,
        workspace: &str,
        name: &str,
        labels: &BTreeMap<String, String>,
    ) -> String {
        let which = Which::Named(name.to_owned(), Scope::named(workspace));
        self.shared.change(|state| {
            assert!(state.find(&which).is_none(), "there is a sandbox `{name}`");
            let made = state.create(name, workspace);
            let kept = state.sandboxes.last_mut().unwrap();
            kept.labels.clone_from(labels);
            made.id
        })
    }

    /// Deletes the sandbox; its buffers are freed at once.
    pub fn delete(&self, name: &str) {
        self.change_of(name, |state, id| state.delete(id));
    }

    /// Changes the record; those who follow the status are told.
    pub fn change_record(&self, name: &str, change: impl FnOnce(&mut Sandbox)) {
        self.change_of(name, |state, id| {
            let kept = state.sandboxes.iter_mut().find(|one| one.id == id);
            change(kept.unwrap());
            state.tick(id);
        });
    }

    /// Changes the phase.
    pub fn phase(&self, name: &str, phase: Phase) {
        self.change_record(name, |sandbox| sandbox.phase = phase);
    }

    /// Publishes lines, one by one, at the first replica.
    pub fn publish(&self, name: &str, lines: impl IntoIterator<Item = Line>) -> Vec<Published> {
        self.publish_at(0, name, lines)
    }

    /// Publishes lines, one by one, at `replica`. The lock is free between two: watches run meanwhile.
    pub fn publish_at(
        &self,
        replica: usize,
        name: &str,
        lines: impl IntoIterator<Item = Line>,
    ) -> Vec<Published> {
        let id = self.id(name);
        let publish = |line| {
            self.shared
                .change(|state| state.publish(&id, replica, line))
        };
        lines.into_iter().map(publish).collect()
    }

    /// Publishes `count` lines as fast as they can be made, all under one lock: no watch runs meanwhile.
    pub fn burst(&self, name: &str, count: usize, line: impl Fn(usize) -> Line) -> Vec<Published> {
        self.change_of(name, |state, id| {
            let numbers = 0..count;
            numbers.map(|n| state.publish(id, 0, line(n))).collect()
        })
    }

    /// What a supervisor pushes in one message: the first hundred lines are published, the rest is not.
    pub fn push(&self, name: &str, batch: impl IntoIterator<Item = Line>) -> Vec<Published> {
        self.publish(name, batch.into_iter().take(PUSH_LINES_MAX))
    }

    /// Publishes platform events.
    pub fn publish_events(&self, name: &str, events: impl IntoIterator<Item = PlatformEvent>) {
        let id = self.id(name);
        for event in events {
            self.shared
                .change(|state| state.publish_event(&id, 0, event));
        }
    }

    /// Stops reading the queues of the sandbox's watches, or goes on. How many they are.
    pub fn stall(&self, name: &str, stalled: bool) -> usize {
        self.change_of(name, |state, id| state.watches.stall(id, stalled))
    }

    /// Closed, new watches subscribe and wait before they read the tail: what is published then is in both.
    pub fn gate(&self, is_open: bool) {
        self.shared.gate.send_replace(is_open);
    }

    /// Cuts every connection.
    pub fn cut(&self, how: Cut) {
        let state = self.shared.look();
        state.connections.values().for_each(|one| one.cut(how));
    }

    /// Cuts the connections that the sandbox's open watches came over.
    pub fn cut_of(&self, name: &str, how: Cut) {
        self.change_of(name, |state, id| {
            for view in state.watches.open().filter(|view| view.sandbox_id == id) {
                if let Some(connection) = state.connections.get(&view.connection) {
                    connection.cut(how);
                }
            }
        });
    }

    /// Refuses new connections, or takes them again. The process lives on, and so do its buffers.
    pub fn refuse(&self, is_refusing: bool) {
        let mut door = self.door.lock().unwrap();
        let runtime = self.runtime.as_ref().unwrap().handle();
        match is_refusing {
            true => door.shut(runtime),
            false => door.open(runtime, &self.shared),
        }
    }

    /// The process ends: no connection, no buffer is left. The records are in its database.
    pub fn stop(&self) {
        self.refuse(true);
        self.cut(Cut::Close);
        self.shared.change(|state| {
            state.is_running = false;
            state.forget_buffers();
        });
        let gone = self.wait_for(|state| state.connections.is_empty().then_some(()));
        gone.expect("connections do not end");
    }

    /// A new process on the same port, of `version` if that is another one.
    pub fn start_again(&self, version: Option<&str>) {
        self.shared.change(|state| {
            state.is_running = true;
            if let Some(version) = version {
                state.settings.version = version.to_owned();
            }
        });
        self.refuse(false);
    }

    /// Ends and starts in one go.
    pub fn restart(&self) {
        self.stop();
        self.start_again(None);
    }

    /// The next calls or connections go to these replicas, in this order.
    pub fn route(&self, replicas: &[usize]) {
        self.shared
            .change(|state| state.next_replicas.extend_from_slice(replicas));
    }

    /// The UUID of the living sandbox of that name.
    pub fn id(&self, name: &str) -> String {
        id_of(&self.shared.look(), name)
    }

    pub(super) fn change_of<A>(&self, name: &str, change: impl FnOnce(&mut State, &str) -> A) -> A {
        self.shared.change(|state| {
            let id = id_of(state, name);
            change(state, &id)
        })
    }
}

pub(super) fn id_of(state: &State, name: &str) -> String {
    let which = Which::Named(name.to_owned(), Scope::All);
    let found = state.find(&which);
    found
        .unwrap_or_else(|| panic!("no sandbox `{name}`"))
        .id
        .clone()
}
