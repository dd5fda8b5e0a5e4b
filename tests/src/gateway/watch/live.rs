//! The live part of a watch, which the two generations do differently.

use std::convert::Infallible;
use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tonic::Status;

use super::{Ended, Follower, Sent};
use crate::gateway::buffers::Held;
use crate::gateway::drain::{Piece, Round};
use crate::gateway::model::Generation;
use crate::gateway::requests::Which;

/// What a bus gives.
enum Got<T> {
    Message(T),
    Lagged(u64),
    Closed,
}

/// Where something came from.
enum From {
    Logs(Got<Held>),
    Events(Got<Held>),
    Status(Got<()>),
    Client,
}

fn lagged(lost: u64) -> String {
    format!("watch stream lagged; dropped {lost} messages")
}

async fn next<T: Clone>(bus: &mut Receiver<T>) -> Got<T> {
    match bus.recv().await {
        Ok(message) => Got::Message(message),
        Err(RecvError::Lagged(lost)) => Got::Lagged(lost),
        Err(RecvError::Closed) => Got::Closed,
    }
}

/// As [`next`], and never for a bus that is not followed.
async fn next_of(bus: &mut Option<Receiver<Held>>) -> Got<Held> {
    match bus {
        Some(bus) => next(bus).await,
        None => std::future::pending().await,
    }
}

fn next_now(bus: &mut Receiver<Held>) -> Option<Got<Held>> {
    match bus.try_recv() {
        Ok(message) => Some(Got::Message(message)),
        Err(TryRecvError::Lagged(lost)) => Some(Got::Lagged(lost)),
        Err(TryRecvError::Closed) => Some(Got::Closed),
        Err(TryRecvError::Empty) => None,
    }
}

impl Follower {
    /// Waits for anything. The buses come before the status: what was published before a deletion is said.
    async fn wait(&mut self) -> From {
        tokio::select! {
            biased;
            () = self.queue.closed() => From::Client,
            got = next_of(&mut self.logs) => From::Logs(got),
            got = next_of(&mut self.events) => From::Events(got),
            got = next(&mut self.status) => From::Status(got),
        }
    }

    /// Each message as it comes; a hole ends the stream.
    pub(super) async fn live_old(&mut self) -> Result<Infallible, Ended> {
        loop {
            match self.wait().await {
                From::Client => return Err(Ended::Gone),
                From::Logs(Got::Message(held)) | From::Events(Got::Message(held)) => {
                    let cursor = Arc::clone(&held.cursor);
                    self.say_live(&held, cursor).await?;
                }
                From::Logs(Got::Lagged(lost)) | From::Events(Got::Lagged(lost)) => {
                    return Err(Ended::With(Status::resource_exhausted(lagged(lost))));
                }
                From::Status(Got::Lagged(lost)) if self.asked.follow_status => {
                    return Err(Ended::With(Status::resource_exhausted(lagged(lost))));
                }
                From::Status(Got::Message(()) | Got::Lagged(_)) => {
                    self.status_changed(Generation::Old).await?;
                }
                From::Logs(Got::Closed) | From::Events(Got::Closed) | From::Status(Got::Closed) => {
                    return Err(self.closed());
                }
            }
        }
    }

    /// Rounds of draining both buses; a hole is a warning, and the stream goes on.
    pub(super) async fn live_new(&mut self, joint: u64) -> Result<Infallible, Ended> {
        let mut held_back = Vec::new();
        loop {
            let mut round = Round::with(std::mem::take(&mut held_back));
            let mut is_closed = false;
            if round.is_empty() {
                let from = self.wait().await;
                is_closed = self.first(from, &mut round, joint).await?;
            }
            let watermark = self.watermark();
            is_closed |= self.drain(&mut round, joint);
            let limit = if is_closed { u64::MAX } else { watermark };
            let place = self.shared.look().settings.warning_place;
            let (pieces, later) = round.split(limit, place);
            held_back = later;
            for piece in pieces {
                self.say_piece(piece).await?;
            }
            if is_closed {
                return Err(self.closed());
            }
        }
    }

    async fn say_piece(&mut self, piece: Piece) -> Result<(), Ended> {
        match piece {
            Piece::Message(held) => {
                let cursor = Arc::clone(&held.cursor);
                self.say_live(&held, cursor).await
            }
            Piece::Lagged(lost) => self.send(Sent::Warning(lagged(lost))).await,
        }
    }

    /// Takes what ended the wait; whether the buffers are gone.
    async fn first(&mut self, from: From, round: &mut Round, joint: u64) -> Result<bool, Ended> {
        match from {
            From::Client => return Err(Ended::Gone),
            From::Logs(got) => return Ok(take(&mut self.logs, got, round, joint)),
            From::Events(got) => return Ok(take(&mut self.events, got, round, joint)),
            From::Status(Got::Closed) => return Ok(true),
            From::Status(Got::Lagged(lost)) if self.asked.follow_status => {
                self.send(Sent::Warning(lagged(lost))).await?;
            }
            From::Status(_) => {}
        }
        self.status_changed(Generation::New).await?;
        Ok(false)
    }

    fn drain(&mut self, round: &mut Round, joint: u64) -> bool {
        let mut is_closed = false;
        for bus in [&mut self.logs, &mut self.events] {
            while let Some(got) = bus.as_mut().and_then(next_now) {
                if take(bus, got, round, joint) {
                    is_closed = true;
                    break;
                }
            }
        }
        is_closed
    }

    /// The newest number published before now.
    fn watermark(&self) -> u64 {
        let state = self.shared.look();
        let buffers = state.replicas[self.replica].buffers.get(&self.sandbox.id);
        buffers.map_or(u64::MAX, super::super::buffers::Buffers::seq)
    }

    async fn status_changed(&mut self, generation: Generation) -> Result<(), Ended> {
        if !self.asked.follow_status {
            return Ok(());
        }
        let which = Which::WithId(self.sandbox.id.clone());
        let found = self.shared.look().find(&which).cloned();
        match found {
            Some(sandbox) => self.snapshot(sandbox, generation).await,
            None => Err(Ended::Finished),
        }
    }

    /// The buffers are gone: with the status followed, the missing record is seen first.
    fn closed(&self) -> Ended {
        match self.asked.follow_status {
            true => Ended::Finished,
            false => Ended::With(Status::cancelled("stream closed")),
        }
    }
}

/// Puts what a bus gave into the round, what the replay had passed over; whether the bus is closed.
fn take(bus: &mut Option<Receiver<Held>>, got: Got<Held>, round: &mut Round, joint: u64) -> bool {
    match got {
        Got::Message(held) if held.seq <= joint => {}
        Got::Message(held) => round.message(held),
        Got::Closed => return true,
        Got::Lagged(lost) => {
            // The oldest that is left is there at once: it says where the hole ends.
            let behind = bus.as_mut().and_then(next_now);
            let before = match &behind {
                Some(Got::Message(held)) => held.seq,
                _ => u64::MAX,
            };
            round.hole(lost, before);
            if let Some(got) = behind {
                return take(bus, got, round, joint);
            }
        }
    }
    false
}
