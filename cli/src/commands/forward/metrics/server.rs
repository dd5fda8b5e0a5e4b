//! Connections: few, short, one request each.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::answer::Source;

/// Connections at a time; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 8;
/// For a request's head.
const HEAD: Duration = Duration::from_secs(5);
/// For a whole connection.
const CONNECTION: Duration = Duration::from_secs(10);
/// Between two attempts after one that failed: files may have run out.
const RETRY: Duration = Duration::from_secs(1);
/// Of a request's head.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// In a request.
const HEADERS_MAX: usize = 32;

/// Listens, and says where: port 0 is any that is free.
pub(super) async fn listen(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Takes connections for ever.
pub(super) async fn serve(listener: TcpListener, source: Arc<Source>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((socket, _)) => {
                let source = Arc::clone(&source);
                tokio::spawn(async move {
                    if tokio::time::timeout(CONNECTION, connection(socket, source))
                        .await
                        .is_err()
                    {
                        tracing::debug!("a connection to the metrics took too long");
                    }
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::debug!("no connection to the metrics can be taken: {error}");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn connection(socket: TcpStream, source: Arc<Source>) {
    let service = service_fn(move |request| {
        let source = Arc::clone(&source);
        async move { Ok::<_, Infallible>(source.answer(&request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(socket), service)
        .await;
    if let Err(error) = served {
        tracing::debug!("a connection to the metrics broke: {error}");
    }
}
