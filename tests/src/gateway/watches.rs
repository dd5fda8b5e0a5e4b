//! The watches, as an observer sees them.

use std::task::Waker;

use serde::{Deserialize, Serialize};

use super::model::{Moment, now};
use super::requests::Asked;

/// How far a watch is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Subscribed; the tail or the replay is not read yet.
    Attaching,
    /// Live.
    Following,
    /// Over: the status, or `client gone`.
    Ended(String),
}

/// One watch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WatchView {
    /// Its number, from 1.
    pub id: u64,
    /// The connection it came over.
    pub connection: u64,
    /// The replica that serves it.
    pub replica: usize,
    /// The sandbox's UUID.
    pub sandbox_id: String,
    /// What was asked.
    pub asked: Asked,
    /// How far it is.
    pub stage: Stage,
    /// Lines handed to the connection.
    pub delivered_lines: u64,
    /// Platform events handed to the connection.
    pub delivered_events: u64,
    /// Warnings handed to the connection.
    pub delivered_warnings: u64,
    /// The greatest cursor handed to the connection; empty before the first.
    pub last_cursor: String,
    /// Messages in the queue to the client.
    pub queued: usize,
    /// The newest number that was taken from the buses.
    pub seen: u64,
    /// Whether the queue is not read.
    pub stalled: bool,
    /// When it was attached.
    pub attached: Moment,
    /// When it ended.
    pub ended: Option<Moment>,
}

impl WatchView {
    /// Whether it still runs.
    pub fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Ended(_))
    }

    /// Whether it is live.
    pub fn is_following(&self) -> bool {
        self.stage == Stage::Following
    }
}

/// What a message counts as, when the connection takes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counts {
    Line,
    Event,
    Warning,
    Nothing,
}

#[derive(Debug, Default)]
pub(super) struct Watches {
    all: Vec<(WatchView, Option<Waker>)>,
}

impl Watches {
    pub(super) fn begin(
        &mut self,
        asked: Asked,
        sandbox_id: String,
        connection: u64,
        replica: usize,
    ) -> u64 {
        let id = self.all.len() as u64 + 1;
        let view = WatchView {
            id,
            connection,
            replica,
            sandbox_id,
            asked,
            stage: Stage::Attaching,
            delivered_lines: 0,
            delivered_events: 0,
            delivered_warnings: 0,
            last_cursor: String::new(),
            queued: 0,
            seen: 0,
            stalled: false,
            attached: now(),
            ended: None,
        };
        self.all.push((view, None));
        id
    }

    pub(super) fn views(&self) -> impl Iterator<Item = &WatchView> {
        self.all.iter().map(|(view, _)| view)
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &WatchView> {
        self.views().filter(|view| view.is_open())
    }

    pub(super) fn get(&mut self, id: u64) -> &mut WatchView {
        &mut self.slot(id).0
    }

    fn slot(&mut self, id: u64) -> &mut (WatchView, Option<Waker>) {
        let at = usize::try_from(id - 1).unwrap();
        &mut self.all[at]
    }

    /// Stops or goes on reading the queues of a sandbox's watches; how many they are.
    pub(super) fn stall(&mut self, sandbox_id: &str, stalled: bool) -> usize {
        let of_sandbox = |view: &WatchView| view.sandbox_id == sandbox_id;
        let mut met = 0;
        // Those that ended too: their status may still be in the queue.
        for (view, waker) in self.all.iter_mut().filter(|(view, _)| of_sandbox(view)) {
            view.stalled = stalled;
            met += usize::from(view.is_open());
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        }
        met
    }

    /// Whether the queue is not to be read now; then `waker` is woken when it is.
    pub(super) fn is_stalled(&mut self, id: u64, waker: &Waker) -> bool {
        let (view, slot) = self.slot(id);
        if view.stalled {
            *slot = Some(waker.clone());
        }
        view.stalled
    }

    pub(super) fn delivered(&mut self, id: u64, counts: Counts, cursor: &str) {
        let view = self.get(id);
        view.queued -= 1;
        match counts {
            Counts::Line => view.delivered_lines += 1,
            Counts::Event => view.delivered_events += 1,
            Counts::Warning => view.delivered_warnings += 1,
            Counts::Nothing => {}
        }
        if cursor > view.last_cursor.as_str() {
            view.last_cursor = cursor.to_owned();
        }
    }

    /// The first end counts: what comes after is the stream being dropped.
    pub(super) fn end(&mut self, id: u64, how: &str) {
        let view = self.get(id);
        if view.is_open() {
            view.stage = Stage::Ended(how.to_owned());
            view.ended = Some(now());
        }
    }
}
