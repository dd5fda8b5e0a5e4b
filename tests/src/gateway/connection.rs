//! One TCP connection: served until it ends, is cut, or is frozen and never answers again.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tonic::codegen::Service;

use super::api::{REQUEST_BYTES_MAX, new, old};
use super::calls::Caller;
use super::model::Generation;
use super::proto::new::openshell::v1::open_shell_server::OpenShellServer as NewServer;
use super::proto::old::openshell::v1::open_shell_server::OpenShellServer as OldServer;
use super::settings::Spread;
use super::state::Shared;

/// The gateway's own HTTP/2 keepalive.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Closed, as by a process that ends.
    Close,
    /// Reset: what was sent and not read is lost too.
    Reset,
    /// Neither: open, and silent for ever.
    Freeze,
}

#[derive(Debug, Default)]
struct Control {
    reset: AtomicBool,
    frozen: AtomicBool,
}

/// An open connection, as the state holds it.
#[derive(Debug)]
pub(super) struct Connection {
    control: Arc<Control>,
    task: AbortHandle,
}

impl Connection {
    pub(super) fn cut(&self, how: Cut) {
        match how {
            Cut::Close => self.task.abort(),
            Cut::Reset => {
                self.control.reset.store(true, Ordering::SeqCst);
                self.task.abort();
            }
            Cut::Freeze => self.control.frozen.store(true, Ordering::SeqCst),
        }
    }
}

/// Serves `stream` in a task of its own.
pub(super) fn accept(shared: &Arc<Shared>, stream: TcpStream) {
    let control = Arc::new(Control::default());
    shared.change(|state| {
        state.connections_made += 1;
        let id = state.connections_made;
        let caller = Caller {
            shared: Arc::clone(shared),
            connection: id,
            replica: match state.settings.spread {
                Spread::PerConnection => state.next_replica(id - 1),
                Spread::PerCall => 0,
            },
        };
        let io = Cuttable {
            stream,
            control: Arc::clone(&control),
        };
        // Made here: a task that is ended before its first step runs none of its body.
        let leave = Leave(caller.clone());
        let task = tokio::spawn(serve(caller, io, leave)).abort_handle();
        state.connections.insert(id, Connection { control, task });
    });
}

async fn serve(caller: Caller, io: Cuttable, _leave: Leave) {
    let service = service_fn(move |request| {
        let caller = caller.clone();
        async move {
            let generation = caller.shared.look().settings.generation();
            match generation {
                Generation::Old => {
                    let server = OldServer::new(old::Api(caller));
                    let mut server = server.max_decoding_message_size(REQUEST_BYTES_MAX);
                    server.call(request).await
                }
                Generation::New => {
                    let server = NewServer::new(new::Api(caller));
                    let mut server = server.max_decoding_message_size(REQUEST_BYTES_MAX);
                    server.call(request).await
                }
            }
        }
    });
    let mut server = http2::Builder::new(TokioExecutor::new());
    server
        .timer(TokioTimer::new())
        .max_concurrent_streams(None)
        .keep_alive_interval(Some(PING_EVERY))
        .keep_alive_timeout(PING_ANSWER_WITHIN);
    let _ = server.serve_connection(TokioIo::new(io), service).await;
}

/// Takes the connection out of the books, however its task ends.
struct Leave(Caller);

impl Drop for Leave {
    fn drop(&mut self) {
        let id = self.0.connection;
        self.0.shared.change(|state| state.connections.remove(&id));
    }
}

struct Cuttable {
    stream: TcpStream,
    control: Arc<Control>,
}

impl Cuttable {
    fn is_frozen(&self) -> bool {
        self.control.frozen.load(Ordering::SeqCst)
    }
}

impl Drop for Cuttable {
    fn drop(&mut self) {
        if self.control.reset.load(Ordering::SeqCst) {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Cuttable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_frozen() {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_frozen() {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
