//! Who is let into the queue: pure arithmetic over what waits already.
//!
//! What is held is never pushed out, so a record is refused at the door or not at all. A share is as
//! much as is still free: one sandbox alone can hold half of a region, two a third each, so that a
//! newcomer always has room.

use std::ops::{Add, AddAssign, Sub};

use boundlane_record::DropCause;

/// Of how many parts of the bound one is kept for what matters most.
const TENTHS: u64 = 10;

/// How much waits, or may: entries, and bytes as stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Entries.
    pub entries: u64,
    /// Bytes of their bodies in the file.
    pub stored_bytes: u64,
}

impl Held {
    pub(crate) const fn one(bytes: u64) -> Held {
        Held {
            entries: 1,
            stored_bytes: bytes,
        }
    }

    /// The part of the bound that anything may fill.
    fn general(self) -> Held {
        self - self.last_tenth()
    }

    /// The part that is kept for what matters most.
    fn last_tenth(self) -> Held {
        Held {
            entries: self.entries / TENTHS,
            stored_bytes: self.stored_bytes / TENTHS,
        }
    }
}

impl Add for Held {
    type Output = Held;

    fn add(self, more: Held) -> Held {
        Held {
            entries: self.entries.saturating_add(more.entries),
            stored_bytes: self.stored_bytes.saturating_add(more.stored_bytes),
        }
    }
}

impl AddAssign for Held {
    fn add_assign(&mut self, more: Held) {
        *self = *self + more;
    }
}

impl Sub for Held {
    type Output = Held;

    /// Never below zero: losses are let in when nothing else is, so more can wait than may.
    fn sub(self, less: Held) -> Held {
        Held {
            entries: self.entries.saturating_sub(less.entries),
            stored_bytes: self.stored_bytes.saturating_sub(less.stored_bytes),
        }
    }
}

/// A part of the queue with bounds of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    /// Nine tenths, for anything.
    General,
    /// The last tenth, for what matters most.
    LastTenth,
}

/// What waits, by region: of all sandboxes, or of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// In the nine tenths that are for anything.
    pub general: Held,
    /// In the last tenth.
    pub last_tenth: Held,
}

impl Waiting {
    /// In both.
    pub fn all(self) -> Held {
        self.general + self.last_tenth
    }

    pub(crate) fn add(&mut self, region: Region, more: Held) {
        match region {
            Region::General => self.general += more,
            Region::LastTenth => self.last_tenth += more,
        }
    }
}

/// The queue as one item meets it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Door {
    /// The bound.
    pub(crate) bound: Held,
    /// What waits of all sandboxes.
    pub(crate) queue: Waiting,
    /// What waits of the item's sandbox.
    pub(crate) share: Waiting,
}

impl Door {
    /// Lets one record in, or says why not. `bytes` is the most that it can take as stored;
    /// `matters` opens the last tenth.
    pub(crate) fn admit(&mut self, bytes: u64, matters: bool) -> Result<Region, DropCause> {
        let one = Held::one(bytes);
        let general = room(
            self.bound.general(),
            self.queue.general,
            self.share.general,
            one,
        );
        let region = match general {
            Ok(()) => Region::General,
            Err(cause) if !matters => return Err(cause),
            Err(_) => {
                let bound = self.bound.last_tenth();
                room(bound, self.queue.last_tenth, self.share.last_tenth, one)?;
                Region::LastTenth
            }
        };
        self.take(region, one);
        Ok(region)
    }

    /// Whether so much more is let in without a look at each record.
    pub(crate) fn has_room_for(&self, more: Held) -> bool {
        let bound = self.bound.general();
        room(bound, self.queue.general, self.share.general, more).is_ok()
    }

    /// Whether a source that can wait has to: its share is used up, or the region is full. What it then
    /// brings is taken whole, so that a great item is not held back for ever.
    pub(crate) fn holds_back(&self) -> bool {
        !self.has_room_for(Held::one(1))
    }

    /// Takes room without asking: for losses and sessions, which are always let in.
    pub(crate) fn take(&mut self, region: Region, more: Held) {
        self.queue.add(region, more);
        self.share.add(region, more);
    }
}

/// Whether `more` finds room in a region that holds `held`, of which `mine` is the asker's own: there
/// is then still as much free as is the asker's.
fn room(bound: Held, held: Held, mine: Held, more: Held) -> Result<(), DropCause> {
    if !fits(bound, held, more) {
        return Err(DropCause::QueueFull);
    }
    let (free, mine) = (bound - held - more, mine + more);
    match mine.entries <= free.entries && mine.stored_bytes <= free.stored_bytes {
        true => Ok(()),
        false => Err(DropCause::FairShare),
    }
}

fn fits(bound: Held, held: Held, more: Held) -> bool {
    let sum = held + more;
    sum.entries <= bound.entries && sum.stored_bytes <= bound.stored_bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use proptest::prelude::*;

    const ENTRIES: u64 = 1000;

    /// Sandboxes that bring one record after another to one queue.
    #[derive(Clone)]
    struct World {
        bound: Held,
        queue: Waiting,
        shares: Vec<Waiting>,
    }

    impl World {
        fn new(sandboxes: usize) -> World {
            World {
                bound: Held {
                    entries: ENTRIES,
                    stored_bytes: ENTRIES * 100,
                },
                queue: Waiting::default(),
                shares: vec![Waiting::default(); sandboxes],
            }
        }

        fn bring(
            &mut self,
            sandbox: usize,
            bytes: u64,
            matters: bool,
        ) -> Result<Region, DropCause> {
            let mut door = Door {
                bound: self.bound,
                queue: self.queue,
                share: self.shares[sandbox],
            };
            let verdict = door.admit(bytes, matters);
            (self.queue, self.shares[sandbox]) = (door.queue, door.share);
            verdict
        }

        fn fill(&mut self, sandbox: usize, bytes: u64, matters: bool) -> DropCause {
            loop {
                if let Err(cause) = self.bring(sandbox, bytes, matters) {
                    return cause;
                }
            }
        }
    }

    #[test]
    fn one_sandbox_alone_takes_more_than_half() {
        let mut world = World::new(2);
        assert_eq!(world.fill(0, 1, false), DropCause::FairShare);
        assert_eq!(world.shares[0].general.entries, 450);
        // The newcomer gets half of what is left, and so on.
        assert_eq!(world.fill(1, 1, false), DropCause::FairShare);
        assert_eq!(world.shares[1].general.entries, 225);
    }

    #[test]
    fn two_sandboxes_at_once_do_not_get_a_third_each() {
        let mut world = World::new(2);
        while (0..2)
            .map(|sandbox| world.bring(sandbox, 1, false))
            .filter(Result::is_ok)
            .count()
            > 0
        {}
        for share in &world.shares {
            assert!(share.general.entries.abs_diff(300) <= 1, "{share:?}");
        }
    }

    #[test]
    fn long_lines_take_the_bytes_of_all() {
        let mut world = World::new(2);
        assert_eq!(world.fill(0, 5000, false), DropCause::FairShare);
        assert_eq!(world.shares[0].general.entries, 9, "45,000 of 90,000 bytes");
        assert!(world.bring(1, 5000, false).is_ok());
    }

    #[test]
    fn a_denial_is_refused_while_the_last_tenth_is_free() {
        let mut world = World::new(2);
        world.fill(0, 1, false);
        assert_eq!(world.bring(0, 1, true), Ok(Region::LastTenth));
        assert_eq!(world.fill(0, 1, true), DropCause::FairShare);
        assert_eq!(world.shares[0].last_tenth.entries, 50);
        assert_eq!(world.bring(1, 1, true), Ok(Region::General));
    }

    #[test]
    fn a_bound_below_what_is_held_admits() {
        let mut world = World::new(1);
        world.fill(0, 1, false);
        world.bound = Held {
            entries: 100,
            stored_bytes: 100,
        };
        assert_eq!(world.bring(0, 1, false), Err(DropCause::QueueFull));
        assert!(world.bring(0, 1, true).is_ok(), "the last tenth is free");
    }

    fn verdicts() -> impl Strategy<Value = Vec<(usize, u64, bool)>> {
        prop::collection::vec((0..5_usize, 0..400_u64, any::<bool>()), 1..1000)
    }

    proptest! {
        /// For all arrivals: no region holds more than its bound, and a newcomer finds room.
        #[test]
        fn the_bound_is_passed_or_a_newcomer_is_refused(arrivals in verdicts()) {
            let mut world = World::new(6);
            for (sandbox, bytes, matters) in arrivals {
                let before = world.clone();
                let verdict = world.bring(sandbox, bytes, matters);
                let (bound, queue) = (world.bound, world.queue);
                prop_assert!(fits(bound.general(), queue.general, Held::default()));
                prop_assert!(fits(bound.last_tenth(), queue.last_tenth, Held::default()));
                if verdict.is_err() {
                    prop_assert_eq!(before.queue, queue);
                }
                if !matters {
                    prop_assert!(verdict != Ok(Region::LastTenth));
                }
                prop_assert!(world.bring(5, 0, false).is_ok(), "the newcomer: {:?}", queue);
                world.queue = queue;
                world.shares[5] = Waiting::default();
            }
        }

        /// For all queues: what is let in as a whole is let in record by record too.
        #[test]
        fn the_short_way_admits_what_the_long_way_refuses(
            arrivals in verdicts(), sizes in prop::collection::vec(0..400_u64, 1..50),
        ) {
            let mut world = World::new(5);
            for (sandbox, bytes, matters) in arrivals {
                let _ = world.bring(sandbox, bytes, matters);
            }
            let door = Door { bound: world.bound, queue: world.queue, share: world.shares[0] };
            let more = Held { entries: sizes.len() as u64, stored_bytes: sizes.iter().sum() };
            if door.has_room_for(more) {
                let mut door = door;
                for bytes in sizes {
                    prop_assert_eq!(door.admit(bytes, false), Ok(Region::General));
                }
            }
        }
    }
}
