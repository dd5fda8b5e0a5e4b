//! The port: open, or shut and kept, so that nobody else gets it while this gateway is away.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::connection;
use super::state::Shared;

/// Below the ports that clients are given: a client that retries a shut port there can meet itself.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

#[derive(Debug)]
pub(super) struct Door {
    pub(super) address: SocketAddr,
    leaf: Leaf,
}

#[derive(Debug)]
enum Leaf {
    /// Bound and not listening: connections are refused.
    Shut(TcpSocket),
    /// Accepting; says so when it no longer listens.
    Open {
        task: AbortHandle,
        is_closed: Receiver<()>,
    },
    Moving,
}

impl Door {
    /// Takes a port, the given one or any, and keeps it shut.
    pub(super) fn new(runtime: &Handle, port: Option<u16>) -> std::io::Result<Door> {
        let _inside = runtime.enter();
        let (address, socket) = match port {
            Some(port) => bound(port)?,
            None => any_port()?,
        };
        Ok(Door {
            address,
            leaf: Leaf::Shut(socket),
        })
    }

    /// Starts to accept.
    pub(super) fn open(&mut self, runtime: &Handle, shared: &Arc<Shared>) {
        let _inside = runtime.enter();
        if let Leaf::Shut(socket) = std::mem::replace(&mut self.leaf, Leaf::Moving) {
            let (closing, is_closed) = channel();
            let accepting = Accepting {
                listener: socket.listen(1024).unwrap(),
                _closing: closing,
            };
            let task = runtime.spawn(accepting.run(Arc::clone(shared)));
            self.leaf = Leaf::Open {
                task: task.abort_handle(),
                is_closed,
            };
        }
    }

    /// Refuses connections from now on; those that are open stay.
    pub(super) fn shut(&mut self, runtime: &Handle) {
        let _inside = runtime.enter();
        if let Leaf::Open { task, is_closed } = std::mem::replace(&mut self.leaf, Leaf::Moving) {
            task.abort();
            // An error is the answer: the other end is dropped after the listener.
            let _ = is_closed.recv();
            self.leaf = Leaf::Shut(bound_soon(runtime, self.address.port()));
        }
    }
}

struct Accepting {
    listener: TcpListener,
    _closing: Sender<()>,
}

impl Accepting {
    async fn run(self, shared: Arc<Shared>) {
        loop {
            if let Ok((stream, _)) = self.listener.accept().await {
                let _ = stream.set_nodelay(true);
                connection::accept(&shared, stream);
            }
        }
    }
}

/// Binds the port that was just listened on: a connection that was accepted and not yet taken can hold
/// it a little longer.
fn bound_soon(runtime: &Handle, port: u16) -> TcpSocket {
    let (done, socket) = channel();
    runtime.spawn(async move {
        loop {
            match bound(port) {
                Ok((_, socket)) => break drop(done.send(socket)),
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(2)).await,
            }
        }
    });
    socket.recv().unwrap()
}

fn bound(port: u16) -> std::io::Result<(SocketAddr, TcpSocket)> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    socket.bind(address)?;
    Ok((address, socket))
}

/// A port that nobody has. Sockets that allow reuse can share a port while none of them listens, so
/// the port is tried by listening. The numbers start elsewhere in each process.
fn any_port() -> std::io::Result<(SocketAddr, TcpSocket)> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let span = PORTS.end - PORTS.start;
    let first = u16::try_from(u64::from(std::process::id()) * 131 % u64::from(span)).unwrap();
    for _ in 0..span {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) % span;
        let port = PORTS.start + (first + step) % span;
        let exclusive = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        if exclusive.is_ok() {
            drop(exclusive);
            if let Ok(bound) = bound(port) {
                return Ok(bound);
            }
        }
    }
    Err(std::io::ErrorKind::AddrInUse.into())
}
