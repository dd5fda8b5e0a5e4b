//! The queue: what waits for a consumer, and how much may.

use boundlane_record::Micros;
use boundlane_store::Totals;

/// A ratio is counted in these.
const MILLIONTHS: u128 = 1_000_000;

/// What waits, and its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Entries that wait.
    pub(crate) entries: u64,
    /// Entries that may.
    pub(crate) entries_max: u64,
    /// Stored bytes of the blocks that hold them.
    pub(crate) stored_bytes: u64,
    /// Stored bytes that may wait.
    pub(crate) stored_bytes_max: u64,
    /// When the oldest was observed.
    pub(crate) oldest: Option<Micros>,
}

impl Queue {
    pub(crate) fn of(totals: &Totals) -> Queue {
        Queue {
            entries: totals.queued,
            entries_max: totals.limits.queued_entries_max,
            stored_bytes: totals.waiting.all().stored_bytes,
            stored_bytes_max: totals.limits.queued_stored_bytes_max,
            oldest: totals.oldest_queued.filter(|_| totals.queued > 0),
        }
    }

    /// How much of the limit that is nearer is used, in millionths.
    pub(crate) fn used_millionths(&self) -> u64 {
        let of = |used: u64, max: u64| u128::from(used) * MILLIONTHS / u128::from(max.max(1));
        let bytes = of(self.stored_bytes, self.stored_bytes_max);
        let used = of(self.entries, self.entries_max).max(bytes);
        u64::try_from(used).unwrap_or(u64::MAX)
    }

    /// For how long the oldest has waited, in microseconds.
    pub(crate) fn waiting_micros(&self, now: Micros) -> i64 {
        let oldest = self.oldest.map(|oldest| now.0.saturating_sub(oldest.0));
        oldest.unwrap_or(0).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_fuller_than_it_looks() {
        let queue = Queue {
            entries: 1,
            entries_max: 10,
            stored_bytes: 3,
            stored_bytes_max: 4,
            oldest: Some(Micros(5)),
        };
        assert_eq!(queue.used_millionths(), 750_000);
        let entries = Queue {
            stored_bytes: 0,
            ..queue
        };
        assert_eq!(entries.used_millionths(), 100_000);
        assert_eq!(Queue::default().used_millionths(), 0);
        assert_eq!(queue.waiting_micros(Micros(9)), 4);
        assert_eq!(queue.waiting_micros(Micros(1)), 0, "the clock was set back");
    }
}
