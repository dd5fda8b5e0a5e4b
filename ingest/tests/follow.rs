//! For all histories of publications, lag, breaks, restarts, replicas and crashes of the follower, each
//! published line is stored once or lies in a gap that admits it, and no line is stored twice.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and a replay is read"
)]

#[path = "follow/cases.rs"]
mod cases;
#[path = "follow/gateway.rs"]
mod gateway;
#[path = "follow/oracle.rs"]
mod oracle;

use std::collections::VecDeque;

use boundlane_ingest::watch::{Arrived, Flow, Follow, Next, Step, WatchPlace, Watched};
use boundlane_record::{Fingerprint, Gap, Micros};
use gateway::{Gateway, Item, Kind, Random};

/// What the follower has committed, and its place there.
#[derive(Debug, Clone, Default)]
struct Journal {
    lines: Vec<u64>,
    gaps: Vec<Gap>,
    place: WatchPlace,
    kept: Vec<Fingerprint>,
}

struct World {
    random: Random,
    gateway: Gateway,
    now: i64,
    /// What the follower's clock is off by, and whether it is ever set.
    off: i64,
    is_clock_set: bool,
    follow: Follow,
    journal: Journal,
    pending: Journal,
    watch: Option<VecDeque<Item>>,
}

impl World {
    fn new(seed: u64, kind: Kind) -> World {
        World {
            random: Random(seed),
            gateway: Gateway::new(kind),
            now: 1,
            off: 0,
            is_clock_set: false,
            follow: Follow::new(watched(), WatchPlace::default(), Vec::new()),
            journal: Journal::default(),
            pending: Journal::default(),
            watch: None,
        }
    }

    fn step(&mut self) {
        self.now += 1;
        if self.is_clock_set && self.random.below(20) == 0 {
            self.off = i64::try_from(self.random.below(2000)).unwrap() - 1000;
        }
        match self.random.below(100) {
            0..=44 => self.publish(),
            45..=49 => (0..self.random.below(30)).for_each(|_| self.publish()),
            50..=72 => self.read(),
            73..=80 => self.commit(),
            81..=84 => self.break_watch(),
            85..=86 => self.crash(),
            87 => {
                self.trace("restart");
                self.gateway.restart();
            }
            88..=91 => self.gateway.lag_next(self.random.below(6)),
            92 => self.gateway.other_replica(&self.journal.place.cursors),
            93 => self.gateway.platform_event(),
            _ => self.look(),
        }
    }

    fn publish(&mut self) {
        self.now += i64::try_from(self.random.below(2)).unwrap();
        let same = self.random.below(8) == 0;
        let watch = self.watch.as_mut();
        self.gateway
            .publish(self.now, same, &mut self.random, watch);
    }

    /// The follower's clock.
    fn clock(&self) -> Micros {
        Micros(self.now + self.off)
    }

    /// Reads some of what waits, or attaches.
    fn read(&mut self) {
        let Some(watch) = &mut self.watch else {
            return self.attach();
        };
        if self.random.below(8) == 0 {
            // The gateway is slow: nothing came for a while, though something is on its way.
            self.follow.idle(Micros(self.now + self.off));
        }
        let Some(item) = watch.pop_front() else {
            match self.gateway.newest() {
                Some(newest) => self.follow.newest_is(&newest),
                None => self.follow.holds_nothing(),
            }
            self.follow.idle(self.clock());
            return self.apply();
        };
        match item {
            Item::Line(line) => {
                let arrived = Arrived {
                    fingerprint: gateway::fingerprint(&line),
                    line,
                };
                assert_eq!(self.follow.line(arrived, self.clock()), Flow::On);
            }
            Item::Lagged(dropped) => {
                assert_eq!(self.follow.lagged(dropped, self.clock()), Flow::Reattach);
                self.watch = None;
            }
            Item::End(end) => {
                assert_ne!(self.follow.ended(end, self.clock()), Next::Gone);
                self.watch = None;
            }
        }
        self.apply();
    }

    fn trace(&self, what: &str) {
        if std::env::var_os("SEED").is_some() {
            eprintln!(
                "{} {what} place {}",
                self.now,
                self.follow.place().to_json()
            );
        }
    }

    fn attach(&mut self) {
        let snapshot = self.gateway.snapshot();
        (0..self.random.below(4)).for_each(|_| self.publish());
        let from = self.follow.attach_from();
        self.trace(&format!("attach {from:?}"));
        match self.gateway.attach(&from, &mut self.random) {
            Ok(items) => {
                self.follow.attached(self.clock(), snapshot);
                self.watch = Some(items);
            }
            Err(end) => {
                self.trace(&format!("{end:?}"));
                let _ = self.follow.ended(end, self.clock());
            }
        }
        self.apply();
    }

    /// What the follower does with its steps.
    fn apply(&mut self) {
        for step in self.follow.steps().collect::<Vec<_>>() {
            self.trace(&match &step {
                Step::Take(arrived) => {
                    format!("take {} {}", arrived.line.message, arrived.line.cursor)
                }
                Step::Repeat(arrived) => format!("repeat {}", arrived.line.message),
                Step::Gap(gap) | Step::OpenGap(gap) => format!("{gap:?}"),
            });
            match step {
                Step::Take(arrived) => {
                    self.pending.lines.push(gateway::id(&arrived.line));
                    self.pending.kept.push(arrived.fingerprint);
                }
                Step::Repeat(_) => (),
                Step::Gap(gap) | Step::OpenGap(gap) => self.pending.gaps.push(gap),
            }
        }
    }

    /// Asks the gateway whether everything was received.
    fn look(&mut self) {
        let is_read = self.watch.as_ref().is_some_and(VecDeque::is_empty);
        if is_read && self.gateway.is_attached_here() && !self.gateway.owes_a_warning() {
            self.follow.whole_before(self.clock());
            self.now += 1;
            self.apply();
        }
    }

    fn commit(&mut self) {
        self.pending.place = WatchPlace::from_json(&self.follow.place().to_json()).unwrap();
        self.journal = self.pending.clone();
    }

    fn break_watch(&mut self) {
        if self.watch.take().is_some() {
            let broke = boundlane_ingest::watch::StreamEnd::Broke("cut".into());
            assert!(matches!(
                self.follow.ended(broke, self.clock()),
                Next::Later(_)
            ));
            self.apply();
        }
    }

    fn crash(&mut self) {
        self.trace("crash");
        self.watch = None;
        self.pending = self.journal.clone();
        let from = self.journal.kept.len().saturating_sub(4096);
        let kept = self.journal.kept[from..].to_vec();
        self.follow = Follow::new(watched(), self.journal.place.clone(), kept);
    }

    /// Lets everything that is on its way arrive, and a last word of the sandbox.
    fn settle(&mut self) {
        self.break_watch();
        (0..2).for_each(|_| self.publish());
        for _ in 0..4000 {
            self.now += 1;
            self.read();
            if self.watch.as_ref().is_some_and(VecDeque::is_empty) {
                break;
            }
        }
        self.read();
        self.commit();
    }
}

impl World {
    fn check(&self, seed: u64) {
        let journal = &self.journal;
        let found = oracle::check(&self.gateway.published, &journal.lines, &journal.gaps);
        let kind = self.gateway.kind;
        assert!(
            found.is_empty(),
            "seed {seed}, {kind:?}:\n{}",
            found.join("\n")
        );
    }
}

fn watched() -> Watched {
    Watched {
        sandbox_id: "s".into(),
        created: Some(Micros(0)),
    }
}

fn run(seed: u64, kind: Kind) {
    let mut world = World::new(seed, kind);
    for _ in 0..200 + world.random.below(600) {
        world.step();
    }
    world.settle();
    world.check(seed);
}

/// Seeds of each kind; `SEEDS` asks for more.
fn seeds() -> std::ops::Range<u64> {
    let wanted = std::env::var("SEEDS").ok();
    0..wanted.map_or(500, |count| count.parse().unwrap())
}

const EARLY: Kind = Kind::New {
    late: false,
    floor: false,
};
const LATE: Kind = Kind::New {
    late: true,
    floor: false,
};
const LATE_FLOOR: Kind = Kind::New {
    late: true,
    floor: true,
};
const FLOOR: Kind = Kind::New {
    late: false,
    floor: true,
};

#[test]
#[ignore = "prints one seed's history"]
fn replay() {
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let kind = match std::env::var("KIND").unwrap().as_str() {
        "early" => EARLY,
        "late" => LATE,
        "floor" => FLOOR,
        "late_floor" => LATE_FLOOR,
        _ => Kind::Old,
    };
    run(seed, kind);
}

/// For all settings of the follower's clock: its ends are in order, nothing is stored twice, and what is missing
/// has a gap, wherever that lies.
#[test]
fn clock_that_is_set_while_following() {
    for (seed, kind) in seeds().zip([EARLY, LATE, LATE_FLOOR, Kind::Old].into_iter().cycle()) {
        let mut world = World::new(seed, kind);
        world.is_clock_set = true;
        for _ in 0..200 + world.random.below(600) {
            world.step();
        }
        world.settle();
        let gaps = &mut world.journal.gaps;
        assert!(
            gaps.iter().all(|gap| gap.from <= gap.to),
            "seed {seed}, {kind:?}: {gaps:#?}"
        );
        for gap in gaps {
            (gap.from, gap.to) = (None, None);
        }
        world.check(seed);
    }
}

#[test]
fn gateway_with_cursors_and_early_warnings() {
    seeds().for_each(|seed| run(seed, EARLY));
}

#[test]
fn gateway_whose_warnings_come_behind_what_they_warn_of() {
    seeds().for_each(|seed| run(seed, LATE));
}

#[test]
fn gateway_that_replays_its_tail_without_cursors() {
    seeds().for_each(|seed| run(seed, FLOOR));
}

#[test]
fn gateway_that_does_both() {
    seeds().for_each(|seed| run(seed, LATE_FLOOR));
}

#[test]
fn gateway_without_cursors() {
    seeds().for_each(|seed| run(seed, Kind::Old));
}
