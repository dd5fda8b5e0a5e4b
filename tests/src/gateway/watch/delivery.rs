//! The client's end of a watch: a stream that can be stopped from being read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;
use tokio::sync::mpsc;
use tonic::Status;

use super::Sent;
use crate::gateway::state::Shared;

/// What the connection reads. Counts what it takes; dropped, the watch is over.
pub(in crate::gateway) struct Delivery {
    shared: Arc<Shared>,
    id: u64,
    queue: mpsc::Receiver<Result<Sent, Status>>,
}

impl Delivery {
    pub(super) fn new(
        shared: Arc<Shared>,
        id: u64,
        queue: mpsc::Receiver<Result<Sent, Status>>,
    ) -> Delivery {
        Delivery { shared, id, queue }
    }
}

impl Stream for Delivery {
    type Item = Result<Sent, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let id = self.id;
        if self.shared.look().watches.is_stalled(id, cx.waker()) {
            return Poll::Pending;
        }
        let polled = self.queue.poll_recv(cx);
        if let Poll::Ready(Some(Ok(sent))) = &polled {
            let (counts, cursor) = sent.counts();
            self.shared
                .change(|state| state.watches.delivered(id, counts, cursor));
        }
        polled
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let id = self.id;
        self.shared
            .change(|state| state.watches.end(id, "client gone"));
    }
}
