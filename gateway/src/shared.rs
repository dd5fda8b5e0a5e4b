//! What all connections of a client have in common.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tonic::Request;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Endpoint;

use crate::error::GatewayError;
use crate::tls::Tls;
use crate::{Auth, Health, Limits, Target, discovery, token};

/// Files of a registration are small; a larger one is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Which gateway was asked, and as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its address.
    pub endpoint: String,
    /// The name it is registered by.
    pub name: Option<String>,
    /// Its version, once it was asked.
    pub version: Option<String>,
    /// SHA-256 of its certificate as it came (DER), lower-case hex; `None` without TLS, and before a
    /// connection was made.
    pub certificate_sha256: Option<String>,
    /// `none`, `mtls`, `oidc` or `oidc+mtls`.
    pub authenticated: &'static str,
    /// The certificate was taken as it came.
    pub verification_skipped: bool,
}

pub(crate) struct Shared {
    pub(crate) target: Target,
    pub(crate) limits: Limits,
    /// How a connection is made.
    pub(crate) endpoint: Endpoint,
    tls: Option<Tls>,
    /// As last told, by whichever connection.
    health: Mutex<Option<Health>>,
}

impl Shared {
    pub(crate) fn new(target: Target, limits: Limits) -> Result<Shared, GatewayError> {
        discovery::check(&target)?;
        let tls = Tls::new(&target)?;
        let endpoint = endpoint(&target, &limits, tls.as_ref())?;
        Ok(Shared {
            target,
            limits,
            endpoint,
            tls,
            health: Mutex::new(None),
        })
    }

    /// The path of a call.
    pub(crate) fn path(&self, rpc: &str) -> Result<PathAndQuery, GatewayError> {
        let names = &self.target.names;
        let path = format!("/{}.{}/{rpc}", names.package, names.service);
        PathAndQuery::from_maybe_shared(path.clone()).map_err(|error| GatewayError::Unusable {
            what: format!("the call `{path}`"),
            why: error.to_string(),
        })
    }

    /// A request with our credential, read now.
    pub(crate) fn authorized<Q>(&self, message: Q) -> Result<Request<Q>, GatewayError> {
        let mut request = Request::new(message);
        if let Auth::Oidc { token, .. } = &self.target.auth {
            let value = token::authorization(token)?;
            request.metadata_mut().insert("authorization", value);
        }
        Ok(request)
    }

    pub(crate) fn told(&self, health: &Health) {
        *lock(&self.health) = Some(health.clone());
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity {
            endpoint: self.target.endpoint.clone(),
            name: self.target.name.clone(),
            version: lock(&self.health)
                .as_ref()
                .map(|health| health.version.clone()),
            certificate_sha256: self.tls.as_ref().and_then(Tls::seen),
            authenticated: self.target.auth.word(),
            verification_skipped: self.tls.is_some() && self.target.skip_verification,
        }
    }
}

/// Nothing that is held here can be left half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file of a registration; the error is a text without the path.
pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    let read = || {
        let mut text = String::new();
        let file = std::fs::File::open(path)?;
        file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    match read() {
        Ok(text) if text.len() as u64 > FILE_BYTES_MAX => {
            Err(format!("it is larger than {FILE_BYTES_MAX} bytes"))
        }
        Ok(text) => Ok(text),
        Err(error) => Err(error.to_string()),
    }
}

/// What one stream may hold unread, in bytes. A connection holds as much for each of its watches, so
/// that one that is read slowly does not stop the others.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;

fn endpoint(target: &Target, limits: &Limits, tls: Option<&Tls>) -> Result<Endpoint, GatewayError> {
    let unusable = |error: tonic::transport::Error| GatewayError::Unusable {
        what: format!("the gateway `{}`", target.endpoint),
        why: crate::status::innermost(&error),
    };
    let streams = u32::try_from(limits.watches_per_connection + 1).unwrap_or(u32::MAX);
    let endpoint = Endpoint::from_shared(target.endpoint.clone())
        .and_then(|endpoint| endpoint.user_agent(concat!("boundlane/", env!("CARGO_PKG_VERSION"))))
        .map_err(unusable)?
        .connect_timeout(limits.connect)
        .http2_keep_alive_interval(limits.keepalive)
        .keep_alive_timeout(limits.keepalive_answer)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(
            streams.saturating_mul(STREAM_WINDOW_BYTES).min(WINDOW_MAX),
        );
    match tls {
        Some(tls) => tls.apply(endpoint).map_err(unusable),
        None => Ok(endpoint),
    }
}

/// The largest window of HTTP/2, RFC 9113 section 6.9.1.
const WINDOW_MAX: u32 = (1 << 31) - 1;
