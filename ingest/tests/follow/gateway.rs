//! A gateway of one sandbox, in memory: small buffers, so that everything that can go wrong does.

use std::collections::{BTreeSet, VecDeque};

use boundlane_ingest::DigestKey;
use boundlane_ingest::watch::{Snapshot, StreamEnd, WatchFrom, WatchedLine};
use boundlane_record::{Fingerprint, Micros};

const BUFFER_LINES: usize = 24;

/// A small generator: the same seed, the same world.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    New { late: bool, floor: bool },
    Old,
}

#[derive(Debug, Clone)]
pub(crate) enum Item {
    Line(WatchedLine),
    Lagged(u64),
    End(StreamEnd),
}

/// One replica's buffers.
#[derive(Debug, Clone, Default)]
struct Replica {
    epoch: u64,
    next: u64,
    buffer: VecDeque<(u64, WatchedLine)>,
}

/// A published line: its id and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    pub(crate) id: u64,
    pub(crate) at: i64,
}

#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) kind: Kind,
    replicas: [Replica; 2],
    /// Which one the sandbox pushes to, and watches reach.
    active: usize,
    attached: Option<(usize, u64)>,
    /// Numberings that were attached to.
    read: BTreeSet<u64>,
    epochs: u64,
    lag: u64,
    dropped: u64,
    late: u64,
    pub(crate) published: Vec<Published>,
    last: Option<WatchedLine>,
    at_snapshot: usize,
}

impl Gateway {
    pub(crate) fn new(kind: Kind) -> Gateway {
        let mut gateway = Gateway {
            kind,
            replicas: Default::default(),
            active: 0,
            attached: None,
            read: BTreeSet::new(),
            epochs: 0,
            lag: 0,
            dropped: 0,
            late: 0,
            published: Vec::new(),
            last: None,
            at_snapshot: 0,
        };
        gateway.renew(0);
        gateway.renew(1);
        gateway
    }

    fn renew(&mut self, replica: usize) {
        self.epochs += 1;
        self.replicas[replica] = Replica {
            epoch: self.epochs,
            next: 1,
            buffer: VecDeque::new(),
        };
    }

    pub(crate) fn restart(&mut self) {
        self.renew(self.active);
    }

    /// Only once the follower knows the one in use: what a replica takes while nobody asks it can be
    /// known to nobody. One whose numbering was read and is no longer kept has started anew: only so many are.
    pub(crate) fn other_replica(&mut self, known: &[String]) {
        let is_of = |cursor: &String, epoch: u64| cursor.contains(&format!("-{epoch:012}:"));
        let last = self.replicas[self.active].epoch;
        if !known.last().is_some_and(|cursor| is_of(cursor, last)) {
            return;
        }
        self.active = 1 - self.active;
        let epoch = self.replicas[self.active].epoch;
        let is_kept = known.iter().any(|cursor| is_of(cursor, epoch));
        if self.read.contains(&epoch) && !is_kept {
            self.renew(self.active);
        }
    }

    pub(crate) fn platform_event(&mut self) {
        self.replicas[self.active].next += 1;
    }

    pub(crate) fn lag_next(&mut self, lines: u64) {
        self.lag = lines;
    }

    /// Whether the watch that is attached is of the process that runs now.
    pub(crate) fn is_attached_here(&self) -> bool {
        self.attached == Some((self.active, self.replicas[self.active].epoch))
    }

    /// The newest line that the replica in use holds.
    pub(crate) fn newest(&self) -> Option<Fingerprint> {
        let buffer = &self.replicas[self.active].buffer;
        buffer.back().map(|(_, line)| fingerprint(line))
    }

    /// Whether lines were left out and the watch was not told yet.
    pub(crate) fn owes_a_warning(&self) -> bool {
        self.dropped > 0
    }

    pub(crate) fn publish(
        &mut self,
        now: i64,
        same: bool,
        random: &mut Random,
        watch: Option<&mut VecDeque<Item>>,
    ) {
        let id = self.published.len() as u64;
        let line = match self.last.clone().filter(|_| same) {
            Some(line) => line,
            None => WatchedLine {
                sandbox_id: "s".into(),
                time: Some(Micros(now * 1000)),
                level: "OCSF".into(),
                source: of(id).into(),
                message: format!("{id}"),
                ..WatchedLine::default()
            },
        };
        self.published.push(Published {
            id: self::id(&line),
            at: now,
        });
        self.last = Some(line.clone());
        let here = self.is_attached_here();
        let replica = &mut self.replicas[self.active];
        let number = replica.next;
        replica.next += 1;
        replica.buffer.push_back((number, line));
        if replica.buffer.len() > BUFFER_LINES {
            replica.buffer.pop_front();
        }
        if let Some(watch) = watch {
            match here {
                true => self.deliver(number, random, watch),
                false => self.cut(watch),
            }
        }
    }

    /// A watch of a process that is gone.
    fn cut(&mut self, watch: &mut VecDeque<Item>) {
        let has_ended = watch.iter().any(|item| matches!(item, Item::End(_)));
        if !has_ended {
            watch.push_back(Item::End(StreamEnd::Broke("gone".into())));
        }
    }

    fn deliver(&mut self, number: u64, random: &mut Random, watch: &mut VecDeque<Item>) {
        let has_ended = watch.iter().any(|item| matches!(item, Item::End(_)));
        if has_ended {
            return;
        }
        if self.lag > 0 {
            self.lag -= 1;
            self.dropped += 1;
            self.late = random.below(5);
            return;
        }
        let is_late = matches!(self.kind, Kind::New { late: true, .. });
        if self.dropped > 0 && (!is_late || self.late == 0) {
            let dropped = std::mem::take(&mut self.dropped);
            match self.kind {
                Kind::Old => {
                    watch.push_back(Item::End(StreamEnd::Lagged { dropped }));
                    return;
                }
                Kind::New { .. } => watch.push_back(Item::Lagged(dropped)),
            }
        }
        self.late = self.late.saturating_sub(1);
        let found = self.find(number);
        watch.extend(found.map(Item::Line));
    }

    fn find(&self, number: u64) -> Option<WatchedLine> {
        let replica = &self.replicas[self.active];
        let (number, line) = replica.buffer.iter().find(|(held, _)| *held == number)?;
        Some(self.sent(replica, *number, line))
    }

    fn sent(&self, replica: &Replica, number: u64, line: &WatchedLine) -> WatchedLine {
        let cursor = match self.kind {
            Kind::Old => String::new(),
            Kind::New { .. } => format!(
                "v1:00000000-0000-0000-0000-{:012}:{number:020}",
                replica.epoch
            ),
        };
        WatchedLine {
            cursor,
            ..line.clone()
        }
    }

    /// How many lines are held, for gateways without cursors.
    pub(crate) fn snapshot(&mut self) -> Option<Snapshot> {
        self.at_snapshot = self.published.len();
        let buffer = &self.replicas[self.active].buffer;
        (self.kind == Kind::Old)
            .then(|| Snapshot(buffer.iter().map(|(_, line)| fingerprint(line)).collect()))
    }

    pub(crate) fn attach(
        &mut self,
        from: &WatchFrom,
        random: &mut Random,
    ) -> Result<VecDeque<Item>, StreamEnd> {
        self.lag = 0;
        self.dropped = 0;
        let replica = self.replicas[self.active].clone();
        let items: Vec<WatchedLine> = match from {
            WatchFrom::Tail(lines) => {
                let skipped = replica.buffer.len().saturating_sub(*lines as usize);
                let tail = replica.buffer.iter().skip(skipped);
                tail.map(|(number, line)| self.in_tail(&replica, *number, line))
                    .collect()
            }
            WatchFrom::After(cursor) => self.after(&replica, cursor)?,
        };
        self.attached = Some((self.active, replica.epoch));
        self.read.insert(replica.epoch);
        let mut items: VecDeque<Item> = items.into_iter().map(Item::Line).collect();
        // Subscribed before the tail was read: its end comes once more.
        let since = self.published.len() - self.at_snapshot;
        let twice = usize::try_from(random.below(since as u64 + 1)).unwrap();
        if self.kind == Kind::Old {
            let from = items.len().saturating_sub(twice);
            items.extend(items.range(from..).cloned().collect::<Vec<_>>());
        }
        Ok(items)
    }

    fn in_tail(&self, replica: &Replica, number: u64, line: &WatchedLine) -> WatchedLine {
        let mut sent = self.sent(replica, number, line);
        if matches!(self.kind, Kind::New { floor: true, .. }) {
            sent.cursor.clear();
        }
        sent
    }

    fn after(&self, replica: &Replica, cursor: &str) -> Result<Vec<WatchedLine>, StreamEnd> {
        let (space, number) = cursor.rsplit_once(':').unwrap();
        let number: u64 = number.parse().unwrap();
        let own = format!("v1:00000000-0000-0000-0000-{:012}", replica.epoch);
        if space != own || replica.next == 1 {
            return Err(StreamEnd::SpaceGone);
        }
        if number >= replica.next {
            return Err(StreamEnd::CursorAhead);
        }
        let oldest = replica.buffer.front().map_or(1, |(number, _)| *number);
        // Only lines that were evicted count: a full buffer may have lost some below its oldest.
        if replica.buffer.len() == BUFFER_LINES && number + 1 < oldest {
            return Err(StreamEnd::Trimmed {
                after: Some(number),
                earliest: Some(oldest - 1),
            });
        }
        let replayed = replica.buffer.iter().filter(|(held, _)| *held > number);
        Ok(replayed
            .map(|(number, line)| self.sent(replica, *number, line))
            .collect())
    }
}

/// Who says a line: the gateway itself says some.
fn of(id: u64) -> &'static str {
    match id % 4 {
        1 => "gateway",
        _ => "sandbox",
    }
}

pub(crate) fn id(line: &WatchedLine) -> u64 {
    line.message.parse().unwrap()
}

pub(crate) fn fingerprint(line: &WatchedLine) -> Fingerprint {
    DigestKey::new(&[3; 32]).fingerprint(line.message.as_bytes())
}
