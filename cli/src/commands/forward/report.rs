//! `forward.json` while this process follows.

use std::sync::Arc;
use std::time::Duration;

use boundlane_store::StateDir;
use tokio::runtime::Runtime;

use crate::context::wall_clock;
use crate::follow::board::Board;
use crate::follow::pace::Pace;
use crate::forwarder::{Forwarder, GatewayFacts, file};

/// Between two looks at the board.
const LOOK: Duration = Duration::from_secs(1);
/// A file that says the same is written again after so long, so that it is believed.
const AGAIN_MICROS: i64 = 15 * 1_000_000;

/// Keeps the file until it is dropped, which takes it away.
pub(super) struct Report {
    dir: StateDir,
}

impl Report {
    /// Writes the file now, and whenever something changes while `runtime` runs.
    pub(super) fn begin(runtime: &Runtime, dir: StateDir, board: Arc<Board>, pace: Pace) -> Report {
        let mut told = None;
        let of = dir.clone();
        tell(&of, &board, &mut told);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(LOOK / pace.divisor()).await;
                tell(&of, &board, &mut told);
            }
        });
        Report { dir }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        file::remove(&self.dir);
    }
}

fn tell(dir: &StateDir, board: &Board, told: &mut Option<Forwarder>) {
    let forwarder = board.forwarder(wall_clock());
    if told.as_ref().is_some_and(|told| !is_news(told, &forwarder)) {
        return;
    }
    match file::write(dir, &forwarder) {
        Ok(()) => *told = Some(forwarder),
        // Tried again at the next look; until then what is there grows old and is not believed.
        Err(error) => tracing::debug!("`{}` cannot be written: {error}", file::NAME),
    }
}

/// Whether something is different, or it was told too long ago. The clock may have been set back.
fn is_news(told: &Forwarder, now: &Forwarder) -> bool {
    let is_old = now.written.saturating_sub(told.written).saturating_abs() >= AGAIN_MICROS;
    let same_moments = Forwarder {
        written: told.written,
        gateway: GatewayFacts {
            answered: told.gateway.answered,
            ..now.gateway.clone()
        },
        ..now.clone()
    };
    is_old
        || same_moments != *told
        || told.gateway.answered.is_some() != now.gateway.answered.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_new_is_written_each_second_or_something_new_is_not() {
        let told = Forwarder {
            written: 1,
            gateway: GatewayFacts {
                answered: Some(1),
                ..GatewayFacts::default()
            },
            ..Forwarder::default()
        };
        let mut now = told.clone();
        (now.written, now.gateway.answered) = (2, Some(2));
        assert!(!is_news(&told, &now));
        now.written = 1 + AGAIN_MICROS;
        assert!(is_news(&told, &now));
        now.written = 1 - AGAIN_MICROS;
        assert!(is_news(&told, &now), "the clock was set back");
        now.written = 2;
        now.attached = 1;
        assert!(is_news(&told, &now));
        let never = Forwarder {
            gateway: GatewayFacts::default(),
            ..told.clone()
        };
        assert!(is_news(&never, &told));
    }
}
