//! `--metrics`: how things stand, over HTTP, for programs on this machine.
//!
//! `GET /metrics` answers in Prometheus' text format 0.0.4, `GET /healthz` with the word of `status`:
//! `docs/METRICS.md` is the contract. Each answer is read from the journal when it is asked for, one at a
//! time, on a thread of its own, so that following goes on meanwhile.
//!
//! Limits: 8 connections, the rest wait to be taken; 5 s for a request's head of at most 16 KiB and 32
//! headers; 10 s for a connection, which carries one request.

mod answer;
mod families;
mod page;
mod server;
mod values;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::commands::health::Place;
use crate::context::Context;
use crate::exit::{Exit, Failure, Outcome};
use crate::follow::board::Board;
use answer::Source;

/// Listens at `address` for as long as `runtime` runs.
///
/// # Errors
/// 3 when it cannot be listened at.
pub(super) fn begin(
    address: SocketAddr,
    runtime: &Runtime,
    board: &Arc<Board>,
    ctx: &Context,
) -> Outcome<()> {
    let source = Source::new(Place::of(ctx)?, Arc::clone(board));
    let listening = runtime.block_on(server::listen(address));
    let (listener, address) = listening.map_err(|error| {
        let text = format_args!("cannot listen at `{address}` for `--metrics`: {error}");
        Failure::new(Exit::NotReady, text).advise("name another port")
    })?;
    ctx.note(&format!("metrics are at http://{address}/metrics"));
    runtime.spawn(server::serve(listener, Arc::new(source)));
    Ok(())
}

/// An address of this machine that nobody else can reach.
///
/// # Errors
/// For people, when it is another one or none.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:");
    let address = match port.and_then(|port| port.parse().ok()) {
        Some(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        None => text
            .parse()
            .map_err(|_| "it has to be like `127.0.0.1:9709` or `[::1]:9709`".to_owned())?,
    };
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(
        "only loopback is listened at: whoever asks is not asked who they are. A collector on this \
         machine can scrape `127.0.0.1`, and a proxy that knows its users can pass it on"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_may_ask() {
        for ours in ["127.0.0.1:9709", "127.9.9.9:1", "[::1]:0", "localhost:9709"] {
            assert!(loopback(ours).is_ok(), "{ours}");
        }
        for others in [
            "0.0.0.0:9709",
            "[::]:9709",
            "192.0.2.1:9709",
            "[::ffff:127.0.0.1]:9709",
            "example.net:9709",
            "localhost:",
            "9709",
            "",
        ] {
            assert!(loopback(others).is_err(), "{others}");
        }
    }
}
