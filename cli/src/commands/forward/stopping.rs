//! When to stop, and when the clock was set or the machine slept.

use std::future::Future;
use std::time::{Duration, Instant, SystemTime};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

use crate::follow::pace::Pace;

/// How long streams may take to commit what they have.
pub(super) const GRACE: Duration = Duration::from_secs(4);
/// Between two looks at the clocks.
const LOOK: Duration = Duration::from_secs(1);

/// Listens for SIGINT and SIGTERM.
pub(crate) struct Stopping {
    signals: Mutex<[Signal; 2]>,
    clocks: std::sync::Mutex<(Instant, SystemTime, u64)>,
}

impl Stopping {
    /// Listens from now on; inside a runtime.
    pub(crate) fn listen() -> std::io::Result<Stopping> {
        let signals = [
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        ];
        Ok(Stopping {
            signals: Mutex::new(signals),
            clocks: std::sync::Mutex::new((Instant::now(), SystemTime::now(), 0)),
        })
    }

    /// Waits until somebody asks for an end.
    pub(crate) async fn asked(&self) {
        let mut signals = self.signals.lock().await;
        let [interrupt, terminate] = &mut *signals;
        tokio::select! {
            _ = interrupt.recv() => (),
            _ = terminate.recv() => (),
        }
    }

    /// Lets `work` end before `end`; a second signal, or a journal that cannot be written, does not hold
    /// it up.
    pub(crate) async fn until<A>(
        &self,
        end: tokio::time::Instant,
        work: &mut (impl Future<Output = A> + Unpin),
    ) -> Option<A> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.asked() => None,
            () = tokio::time::sleep_until(end) => None,
        }
    }

    /// Waits until the wall clock has moved otherwise than the monotonic one; how often it has.
    pub(crate) async fn clock_stepped(&self, pace: Pace) -> u64 {
        loop {
            tokio::time::sleep(LOOK).await;
            let Ok(mut clocks) = self.clocks.lock() else {
                continue;
            };
            let (monotonic, wall) = (Instant::now(), SystemTime::now());
            let moved = monotonic.duration_since(clocks.0);
            let off = match wall.duration_since(clocks.1) {
                Ok(walked) => walked.abs_diff(moved),
                Err(back) => back.duration() + moved,
            };
            (clocks.0, clocks.1) = (monotonic, wall);
            if off > pace.clock_step() {
                clocks.2 += 1;
                return clocks.2;
            }
        }
    }
}
