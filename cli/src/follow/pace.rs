//! How long following waits for what. Nothing is concluded from these: they say when to ask again.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// Between two listings of the gateway's sandboxes.
const LIST: Duration = Duration::from_secs(1);
/// Without a line, after which a stream counts as caught up.
const IDLE: Duration = Duration::from_secs(1);
/// Between two questions whether everything was received, while lines come.
const PROBE: Duration = Duration::from_secs(10);
/// Between two marks of a stream that is silent.
const MARK: Duration = Duration::from_secs(600);
/// Without a line, after which `--once` is done with a stream.
const ONCE: Duration = Duration::from_secs(3);
/// The first wait after a break, and the longest.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));
/// A step of the wall clock against the monotonic one that makes every stream prove itself again.
const CLOCK_STEP: Duration = Duration::from_secs(5);

/// Every wait, so many times shorter: for tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace(u32);

impl Pace {
    /// `divisor` 1 is the real one; 0 counts as 1.
    pub(crate) fn new(divisor: u32) -> Pace {
        Pace(divisor.max(1))
    }

    /// The divisor.
    pub(crate) fn divisor(self) -> u32 {
        self.0
    }

    pub(crate) fn list(self) -> Duration {
        LIST / self.0
    }

    pub(crate) fn idle(self) -> Duration {
        IDLE / self.0
    }

    pub(crate) fn probe(self) -> Duration {
        PROBE / self.0
    }

    pub(crate) fn mark(self) -> Duration {
        MARK / self.0
    }

    pub(crate) fn once(self) -> Duration {
        ONCE / self.0
    }

    pub(crate) fn clock_step(self) -> Duration {
        CLOCK_STEP
    }

    /// Waits that grow, with jitter, for ever.
    pub(crate) fn backoff(self) -> ExponentialBackoff {
        ExponentialBuilder::default()
            .with_min_delay(BACKOFF.0 / self.0)
            .with_max_delay(BACKOFF.1 / self.0)
            .with_jitter()
            .without_max_times()
            .build()
    }
}
