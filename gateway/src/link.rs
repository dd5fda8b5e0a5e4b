//! One connection: made when it is needed, and asked for its version whenever it was made.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::HttpConnector;
use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::Service;
use tonic::transport::{Channel, Uri};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::error::GatewayError;
use crate::shared::{Shared, lock};
use crate::status::{self, Failure};
use crate::wire::{HealthRequest, HealthResponse, ServiceStatus, Spoken};
use crate::{Generation, Health};

pub(crate) struct Link {
    shared: Arc<Shared>,
    grpc: Grpc<Channel>,
    /// Connections that were made here so far.
    dials: Arc<AtomicU64>,
    /// What the gateway said, and on which connection.
    told: Mutex<Option<(u64, Health)>>,
}

impl Link {
    /// Needs a runtime of tokio around it.
    pub(crate) fn new(shared: &Arc<Shared>) -> Link {
        let dials = Arc::new(AtomicU64::new(0));
        let channel = shared
            .endpoint
            .connect_with_connector_lazy(Dialer::new(dials.clone()));
        Link {
            grpc: Grpc::new(channel).max_decoding_message_size(shared.limits.message_bytes_max),
            shared: shared.clone(),
            dials,
            told: Mutex::new(None),
        }
    }

    /// What the gateway says of itself, asked now.
    pub(crate) async fn health(&self) -> Result<Health, GatewayError> {
        // The one call that needs no credential: it gets none.
        let request = Request::new(HealthRequest {});
        let answer: HealthResponse = self
            .unary("Health", request)
            .await
            .map_err(|failure| failure.error(&self.shared, "Health"))?;
        let health = Health {
            status: status_word(answer.status),
            generation: self.generation_of(&answer.version)?,
            version: answer.version,
        };
        *lock(&self.told) = Some((self.dials.load(Ordering::Acquire), health.clone()));
        self.shared.told(&health);
        Ok(health)
    }

    fn generation_of(&self, version: &str) -> Result<Generation, GatewayError> {
        generation(version).ok_or_else(|| GatewayError::NotAGateway {
            endpoint: self.shared.target.endpoint.clone(),
            why: format!("it calls its version `{}`", status::plain(version)),
        })
    }

    /// As it was said on this connection.
    fn told(&self) -> Option<Generation> {
        let told = lock(&self.told);
        let (dial, health) = told.as_ref()?;
        (*dial == self.dials.load(Ordering::Acquire)).then_some(health.generation)
    }

    async fn generation(&self) -> Result<Generation, GatewayError> {
        match self.told() {
            Some(generation) => Ok(generation),
            None => Ok(self.health().await?.generation),
        }
    }

    /// One answer, and which generation gave it. When the connection was made anew meanwhile and the gateway is now of the other
    /// generation, it is asked again in its own words.
    pub(crate) async fn ask<N, O, A>(
        &self,
        rpc: &'static str,
        request: &Spoken<N, O>,
    ) -> Result<(Generation, A), Failure>
    where
        N: Message + Clone + 'static,
        O: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let first = self.generation().await?;
        let answer = self.ask_as(first, rpc, request).await;
        match self.turned(first).await {
            Some(now) => Ok((now, self.ask_as(now, rpc, request).await?)),
            None => Ok((first, answer?)),
        }
    }

    async fn ask_as<N, O, A>(
        &self,
        generation: Generation,
        rpc: &'static str,
        request: &Spoken<N, O>,
    ) -> Result<A, Failure>
    where
        N: Message + Clone + 'static,
        O: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let shared = &self.shared;
        match generation {
            Generation::New => {
                self.unary(rpc, shared.authorized(request.new.clone())?)
                    .await
            }
            Generation::Old => {
                self.unary(rpc, shared.authorized(request.old.clone())?)
                    .await
            }
        }
    }

    /// A stream, likewise.
    pub(crate) async fn follow<N, O, A>(
        &self,
        rpc: &'static str,
        request: &Spoken<N, O>,
    ) -> Result<Streaming<A>, Failure>
    where
        N: Message + Clone + 'static,
        O: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let first = self.generation().await?;
        let answer = self.follow_as(first, rpc, request).await;
        match self.turned(first).await {
            Some(now) => self.follow_as(now, rpc, request).await,
            None => answer,
        }
    }

    async fn follow_as<N, O, A>(
        &self,
        generation: Generation,
        rpc: &'static str,
        request: &Spoken<N, O>,
    ) -> Result<Streaming<A>, Failure>
    where
        N: Message + Clone + 'static,
        O: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let shared = &self.shared;
        match generation {
            Generation::New => {
                self.stream(rpc, shared.authorized(request.new.clone())?)
                    .await
            }
            Generation::Old => {
                self.stream(rpc, shared.authorized(request.old.clone())?)
                    .await
            }
        }
    }

    /// The generation now, where the connection was made anew and it is not `first`.
    async fn turned(&self, first: Generation) -> Option<Generation> {
        if self.told() == Some(first) {
            return None;
        }
        let now = self.generation().await.ok()?;
        (now != first).then_some(now)
    }

    async fn unary<Q, A>(&self, rpc: &'static str, mut request: Request<Q>) -> Result<A, Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let path = self.shared.path(rpc)?;
        request.set_timeout(self.shared.limits.unary);
        let mut grpc = self.grpc.clone();
        let call = async {
            grpc.ready().await.map_err(unready)?;
            grpc.unary(request, path, ProstCodec::default()).await
        };
        Ok(self.in_time(rpc, call).await?.into_inner())
    }

    async fn stream<Q, A>(
        &self,
        rpc: &'static str,
        request: Request<Q>,
    ) -> Result<Streaming<A>, Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let path = self.shared.path(rpc)?;
        let mut grpc = self.grpc.clone();
        let call = async {
            grpc.ready().await.map_err(unready)?;
            grpc.server_streaming(request, path, ProstCodec::default())
                .await
        };
        Ok(self.in_time(rpc, call).await?.into_inner())
    }

    async fn in_time<A>(
        &self,
        call: &'static str,
        answer: impl Future<Output = Result<A, Status>>,
    ) -> Result<A, Failure> {
        let (endpoint, after) = (&self.shared.target.endpoint, self.shared.limits.unary);
        match tokio::time::timeout(after, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(status)) if !status::is_timeout(&status) => Err(Failure::of(endpoint, status)),
            Ok(Err(_)) | Err(_) => Err(Failure::Failed(GatewayError::NoAnswer {
                endpoint: endpoint.clone(),
                call,
                after,
            })),
        }
    }
}

fn unready(error: tonic::transport::Error) -> Status {
    Status::from_error(error.into())
}

/// Connects, and counts.
#[derive(Clone)]
struct Dialer {
    tcp: HttpConnector,
    dials: Arc<AtomicU64>,
}

impl Dialer {
    fn new(dials: Arc<AtomicU64>) -> Dialer {
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

/// `0.0.x` is old; everything after it is new.
fn generation(version: &str) -> Option<Generation> {
    let mut parts = version
        .trim()
        .trim_start_matches('v')
        .split(|c: char| !c.is_ascii_digit());
    let mut number = || parts.next()?.parse::<u32>().ok();
    match (number()?, number()?) {
        (0, 0) => Some(Generation::Old),
        _ => Some(Generation::New),
    }
}

fn status_word(status: i32) -> &'static str {
    match ServiceStatus::try_from(status) {
        Ok(ServiceStatus::Unspecified) => "unspecified",
        Ok(ServiceStatus::Healthy) => "healthy",
        Ok(ServiceStatus::Degraded) => "degraded",
        Ok(ServiceStatus::Unhealthy) => "unhealthy",
        Err(_) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The break is between 0.0 and 0.1; what is no version is not guessed.
    #[test]
    fn generations_by_version() {
        use Generation::{New, Old};
        for (version, expected) in [
            ("0.0.116", Some(Old)),
            ("v0.0.37", Some(Old)),
            ("0.0.0-dev.5+g12ab", Some(Old)),
            ("0.1.0", Some(New)),
            ("0.1.5-rc.1", Some(New)),
            ("0.10", Some(New)),
            ("1.0.0", Some(New)),
            ("", None),
            ("7", None),
            ("main", None),
        ] {
            assert_eq!(generation(version), expected, "{version}");
        }
    }
}
