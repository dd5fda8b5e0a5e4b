//! Limits that come from outside of the computation: the clock and the person.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use futures::channel::oneshot;

use crate::outcome::Cut;

/// How often the flag is looked at: well under the 200 ms in which an interruption has to work.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A thread that watches while an answer is computed; it ends with this value.
pub(super) struct Watch {
    cut: Option<oneshot::Receiver<Cut>>,
    is_over: Arc<AtomicBool>,
    thread: Option<Thread>,
}

impl Watch {
    pub(super) fn start(interrupted: &Arc<AtomicBool>, time_max: Option<Duration>) -> Watch {
        let (tell, cut) = oneshot::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let (interrupted, ended) = (Arc::clone(interrupted), Arc::clone(&is_over));
        let begun = Instant::now();
        let watching = std::thread::Builder::new()
            .name("query-watch".into())
            .spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    let is_interrupted = interrupted.load(Ordering::Relaxed);
                    if let Some(cut) = due(is_interrupted, begun.elapsed(), time_max) {
                        // A receiver that is gone has ended by itself.
                        let _ = tell.send(cut);
                        return;
                    }
                    std::thread::park_timeout(LOOK_EVERY);
                }
            });
        Watch {
            cut: Some(cut),
            is_over,
            thread: watching.ok().map(|handle| handle.thread().clone()),
        }
    }

    /// Ready when the answer has to end; never when there is no reason to.
    pub(super) fn cut(&mut self) -> impl Future<Output = Cut> + Unpin + '_ {
        let cut = &mut self.cut;
        Box::pin(async move {
            match cut {
                Some(receiver) => match receiver.await {
                    Ok(reason) => reason,
                    Err(_) => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

fn due(is_interrupted: bool, elapsed: Duration, time_max: Option<Duration>) -> Option<Cut> {
    if is_interrupted {
        return Some(Cut::Interrupted);
    }
    let time_max = time_max.filter(|max| elapsed >= *max)?;
    let seconds_max = time_max.as_secs();
    Some(Cut::Time { seconds_max })
}
