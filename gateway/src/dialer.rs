//! Connections, counted: what was said on one is not taken for the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::HttpConnector;
use tonic::codegen::Service;
use tonic::transport::Uri;

/// Connects, and counts.
#[derive(Clone)]
pub(crate) struct Dialer {
    tcp: HttpConnector,
    dials: Arc<AtomicU64>,
}

impl Dialer {
    pub(crate) fn new(dials: Arc<AtomicU64>) -> Dialer {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Dialer { tcp, dials }
    }
}

impl Service<Uri> for Dialer {
    type Response = <HttpConnector as Service<Uri>>::Response;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = <HttpConnector as Service<Uri>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        // Before it is made: no call can go out on a connection that is not counted.
        self.dials.fetch_add(1, Ordering::AcqRel);
        self.tcp.call(uri)
    }
}
