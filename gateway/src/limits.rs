//! How much and how long.

use std::time::Duration;

/// Named limits of a [`Client`](crate::Client).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The largest message that is read, in bytes.
    pub message_bytes_max: usize,
    /// Watches on one connection; the next one opens another. A gateway allows 200 streams by default.
    pub watches_per_connection: usize,
    /// Sandboxes that a listing may hold.
    pub sandboxes_max: usize,
    /// Sandboxes asked for in one page of a listing; a gateway may send fewer.
    pub page_sandboxes: u32,
    /// For a connection to be made, its TLS included.
    pub connect: Duration,
    /// For the answer to a call, and for a watch to begin.
    pub unary: Duration,
    /// Between two pings of a connection, also of one without a call.
    pub keepalive: Duration,
    /// For the answer to a ping; then the connection is given up.
    pub keepalive_answer: Duration,
}

impl Default for Limits {
    /// The times are those of the gateway's own client and server.
    fn default() -> Limits {
        Limits {
            message_bytes_max: 16 << 20,
            watches_per_connection: 100,
            sandboxes_max: 100_000,
            page_sandboxes: 500,
            connect: Duration::from_secs(10),
            unary: Duration::from_secs(10),
            keepalive: Duration::from_secs(10),
            keepalive_answer: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// The same with every time so many times shorter: for tests, which run at a pace. 0 counts as 1.
    pub fn paced(mut self, pace: u32) -> Limits {
        for time in [
            &mut self.connect,
            &mut self.unary,
            &mut self.keepalive,
            &mut self.keepalive_answer,
        ] {
            *time /= pace.max(1);
        }
        self
    }
}
