//! One connection: made when it is needed, and asked for its version whenever it was made.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use prost::Message;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::dialer::Dialer;
use crate::error::GatewayError;
use crate::shared::{Shared, lock};
use crate::status::{self, Failure};
use crate::wire::{HealthRequest, HealthResponse, Spoken};
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
        let why = format!("it calls its version `{}`", status::plain(&answer.version));
        let health = Health::of(answer).ok_or_else(|| GatewayError::NotAGateway {
            endpoint: self.shared.target.endpoint.clone(),
            why,
        })?;
        *lock(&self.told) = Some((self.dials.load(Ordering::Acquire), health.clone()));
        self.shared.told(&health);
        Ok(health)
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

    /// One answer, and which generation gave it.
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
        let shared = &self.shared;
        self.in_its_words(|generation| async move {
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
        })
        .await
    }

    /// A stream of answers.
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
        let shared = &self.shared;
        let (_, stream) = self
            .in_its_words(|generation| async move {
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
            })
            .await?;
        Ok(stream)
    }

    /// A call as the gateway's generation makes it. When the connection was made anew meanwhile and the
    /// gateway is now of the other one, the answer is to a question that it read as something else: it
    /// is asked again.
    async fn in_its_words<A, F>(
        &self,
        call: impl Fn(Generation) -> F,
    ) -> Result<(Generation, A), Failure>
    where
        F: Future<Output = Result<A, Failure>>,
    {
        let first = self.generation().await?;
        let answer = call(first).await;
        if matches!(answer, Err(Failure::Failed(_))) {
            // Nobody read the question.
            return answer.map(|answer| (first, answer));
        }
        match self.turned(first).await {
            Some(now) => Ok((now, call(now).await?)),
            None => Ok((first, answer?)),
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
