//! One sandbox's buffers in one gateway process: what a late reader can still get, and the broadcast
//! that a live one reads from.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast;

use super::cursor::{self, Cursor};
use super::model::{self, Line, PlatformEvent};

/// Lines that a late reader can get.
pub const TAIL_LINES_MAX: usize = 2_000;
/// Platform events that a late reader can get.
pub const PLATFORM_EVENTS_MAX: usize = 50;
/// What a slow watch can be behind on one bus before it loses the oldest.
pub const BROADCAST_MESSAGES_MAX: usize = 1_024;
/// The same for ticks of the sandbox's status.
pub const STATUS_TICKS_MAX: usize = 128;

/// What is published, with its place.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// The number in the sandbox's one sequence.
    pub(super) seq: u64,
    /// The token of that place.
    pub(super) cursor: Arc<str>,
    /// What it is.
    pub(super) item: Item,
}

/// What is published.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A log line.
    Line(Arc<Line>),
    /// A platform event.
    Event(Arc<PlatformEvent>),
}

/// Which buses a watch reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follow {
    /// Log lines.
    pub(super) logs: bool,
    /// Platform events.
    pub(super) events: bool,
}

/// Why a resume is refused, with `OUT_OF_RANGE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotResumable {
    /// Another process, other buffers, or nothing published yet.
    SpaceGone,
    /// Beyond everything issued.
    Ahead,
    /// What follows is no longer held.
    Trimmed {
        /// The number asked for.
        after: u64,
        /// The first that can be resumed after.
        earliest: u64,
    },
}

impl NotResumable {
    /// The status text. Clients match on a prefix, so the ends of the first two are this fake's own.
    pub(super) fn text(&self) -> String {
        match self {
            NotResumable::SpaceGone => {
                "resume_after_cursor belongs to a cursor space that no longer exists; \
                 reconnect without a cursor"
                    .into()
            }
            NotResumable::Ahead => {
                "resume_after_cursor is ahead of every cursor this sandbox has issued; \
                 reconnect without a cursor"
                    .into()
            }
            NotResumable::Trimmed { after, earliest } => format!(
                "resume cursor {after} is no longer available; \
                 earliest resumable cursor is {earliest}"
            ),
        }
    }
}

/// One kind of message: the last of them, and the broadcast.
#[derive(Debug)]
pub(super) struct Bus {
    kept: VecDeque<Held>,
    kept_max: usize,
    evicted_through: u64,
    last: u64,
    live: broadcast::Sender<Held>,
}

impl Bus {
    fn new(kept_max: usize) -> Bus {
        Bus {
            kept: VecDeque::new(),
            kept_max,
            evicted_through: 0,
            last: 0,
            live: broadcast::Sender::new(BROADCAST_MESSAGES_MAX),
        }
    }

    fn publish(&mut self, held: Held) {
        if self.kept.len() == self.kept_max {
            self.evicted_through = self.kept.pop_front().unwrap().seq;
        }
        self.last = held.seq;
        self.kept.push_back(held.clone());
        let _ = self.live.send(held);
    }

    /// The last `n`, oldest first.
    pub(super) fn tail(&self, n: usize) -> impl Iterator<Item = &Held> {
        self.kept.iter().skip(self.kept.len().saturating_sub(n))
    }

    /// The newest number, 0 before the first.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// How many are kept.
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// A reader of everything from now on.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<Held> {
        self.live.subscribe()
    }

    fn after(&self, seq: u64) -> impl Iterator<Item = &Held> {
        self.kept.iter().filter(move |held| held.seq > seq)
    }
}

/// Both buses, the sequence they share and the ticks of the status.
#[derive(Debug)]
pub(super) struct Buffers {
    epoch: Option<String>,
    seq: u64,
    /// The log lines.
    pub(super) lines: Bus,
    /// The platform events.
    pub(super) events: Bus,
    /// That the record changed.
    pub(super) status: broadcast::Sender<()>,
}

impl Default for Buffers {
    fn default() -> Buffers {
        Buffers {
            epoch: None,
            seq: 0,
            lines: Bus::new(TAIL_LINES_MAX),
            events: Bus::new(PLATFORM_EVENTS_MAX),
            status: broadcast::Sender::new(STATUS_TICKS_MAX),
        }
    }
}

impl Buffers {
    /// Publishes `item`; the first one makes the cursor space.
    pub(super) fn publish(&mut self, encoding: &str, item: Item) -> Held {
        let epoch = self.epoch.get_or_insert_with(model::uuid);
        self.seq += 1;
        let held = Held {
            seq: self.seq,
            cursor: cursor::text(encoding, epoch, self.seq).into(),
            item,
        };
        let bus = match held.item {
            Item::Line(_) => &mut self.lines,
            Item::Event(_) => &mut self.events,
        };
        bus.publish(held.clone());
        held
    }

    /// The newest number, 0 before the first.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// What a watch that resumes gets before it goes live: everything followed after `cursor`, by number.
    ///
    /// # Errors
    /// [`NotResumable`]; a bus that is not followed cannot refuse.
    pub(super) fn after(&self, cursor: &Cursor, follow: Follow) -> Result<Vec<Held>, NotResumable> {
        if self.epoch.as_deref() != Some(&cursor.epoch) {
            return Err(NotResumable::SpaceGone);
        }
        if cursor.seq > self.seq {
            return Err(NotResumable::Ahead);
        }
        let followed = || {
            let logs = follow.logs.then_some(&self.lines);
            logs.into_iter()
                .chain(follow.events.then_some(&self.events))
        };
        let evicted = followed().map(|bus| bus.evicted_through).max();
        if let Some(earliest) = evicted.filter(|evicted| *evicted > cursor.seq) {
            return Err(NotResumable::Trimmed {
                after: cursor.seq,
                earliest,
            });
        }
        let mut replay: Vec<Held> = followed()
            .flat_map(|bus| bus.after(cursor.seq).cloned())
            .collect();
        replay.sort_by_key(|held| held.seq);
        Ok(replay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::cursor::ENCODING;

    fn line(n: usize) -> Item {
        Item::Line(Arc::new(Line::ocsf(format!("line {n}"))))
    }

    fn event(n: usize) -> Item {
        Item::Event(Arc::new(PlatformEvent::new("Pulled", format!("event {n}"))))
    }

    const LOGS: Follow = Follow {
        logs: true,
        events: false,
    };
    const BOTH: Follow = Follow {
        logs: true,
        events: true,
    };

    fn at(held: &Held) -> Cursor {
        Cursor::parse(ENCODING, &held.cursor).unwrap()
    }

    #[test]
    fn lines_and_events_share_one_sequence_and_a_replay_is_merged_by_it() {
        let mut buffers = Buffers::default();
        let first = buffers.publish(ENCODING, line(0));
        for n in 1..6 {
            let item = if n % 2 == 0 { line(n) } else { event(n) };
            buffers.publish(ENCODING, item);
        }
        let seqs = |follow| -> Vec<u64> {
            let replay = buffers.after(&at(&first), follow).unwrap();
            replay.iter().map(|held| held.seq).collect()
        };
        assert_eq!(seqs(BOTH), [2, 3, 4, 5, 6]);
        assert_eq!(seqs(LOGS), [3, 5]);
    }

    #[test]
    fn two_thousand_lines_are_kept_and_the_next_one_trims() {
        let mut buffers = Buffers::default();
        let first = at(&buffers.publish(ENCODING, line(0)));
        for n in 0..TAIL_LINES_MAX {
            buffers.publish(ENCODING, line(n));
        }
        assert_eq!(buffers.lines.kept(), 2_000);
        assert_eq!(buffers.after(&first, LOGS).unwrap().len(), 2_000);
        buffers.publish(ENCODING, line(0));
        assert_eq!(
            buffers.after(&first, LOGS).unwrap_err().text(),
            "resume cursor 1 is no longer available; earliest resumable cursor is 2"
        );
    }

    #[test]
    fn fifty_events_are_kept_and_only_those_who_follow_them_are_refused() {
        let mut buffers = Buffers::default();
        let first = at(&buffers.publish(ENCODING, line(0)));
        for n in 0..=PLATFORM_EVENTS_MAX {
            buffers.publish(ENCODING, event(n));
        }
        assert_eq!(buffers.events.kept(), 50);
        assert!(buffers.after(&first, LOGS).unwrap().is_empty());
        assert_eq!(
            buffers.after(&first, BOTH).unwrap_err(),
            NotResumable::Trimmed {
                after: 1,
                earliest: 2
            }
        );
    }

    #[test]
    fn nothing_published_is_a_space_that_is_gone() {
        let mut buffers = Buffers::default();
        let other = at(&Buffers::default().publish(ENCODING, line(0)));
        assert_eq!(
            buffers.after(&other, LOGS).unwrap_err(),
            NotResumable::SpaceGone
        );
        let mut cursor = at(&buffers.publish(ENCODING, line(0)));
        cursor.seq = 2;
        assert_eq!(
            buffers.after(&cursor, LOGS).unwrap_err(),
            NotResumable::Ahead
        );
    }
}
