//! Connections of watches: another one when all are full.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::link::Link;
use crate::shared::{Shared, lock};

#[derive(Default)]
pub(crate) struct Pool {
    lanes: Mutex<Vec<Arc<Lane>>>,
}

struct Lane {
    link: Link,
    live: AtomicUsize,
}

/// A place on a connection, free again when it is dropped.
pub(crate) struct Slot(Arc<Lane>);

impl Pool {
    /// A place on the first connection that has one. Connections that nothing uses are closed.
    pub(crate) fn slot(&self, shared: &Arc<Shared>) -> Slot {
        let max = shared.limits.watches_per_connection.max(1);
        let mut lanes = lock(&self.lanes);
        let free = |lane: &&Arc<Lane>| lane.live.load(Ordering::Acquire) < max;
        let lane = lanes.iter().find(free).cloned().unwrap_or_else(|| {
            let lane = Arc::new(Lane {
                link: Link::new(shared),
                live: AtomicUsize::new(0),
            });
            lanes.push(lane.clone());
            lane
        });
        // Only here is it counted up, and under the lock.
        lane.live.fetch_add(1, Ordering::AcqRel);
        lanes.retain(|lane| lane.live.load(Ordering::Acquire) > 0);
        Slot(lane)
    }
}

impl Slot {
    pub(crate) fn link(&self) -> &Link {
        &self.0.link
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::AcqRel);
    }
}
