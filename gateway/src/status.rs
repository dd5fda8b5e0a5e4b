//! A status, or what a library made of a broken connection.

use std::error::Error;
use std::io;

use boundlane_ingest::watch::StreamEnd;
use rustls::Error as TlsError;
use tonic::{Code, ConnectError, Status, TimeoutExpired};

use crate::error::{Fault, GatewayError};
use crate::shared::Shared;

/// Bytes of a gateway's text that are kept.
const TEXT_BYTES_MAX: usize = 1024;

/// Why a call has no answer.
pub(crate) enum Failure {
    /// The other side said so, or a library of what the other side sent.
    Said(Status),
    /// It could not be asked.
    Failed(GatewayError),
}

impl From<GatewayError> for Failure {
    fn from(error: GatewayError) -> Failure {
        Failure::Failed(error)
    }
}

impl Failure {
    /// A status with a source was made here, of a broken connection; one that was received has none.
    pub(crate) fn of(endpoint: &str, status: Status) -> Failure {
        match status.source() {
            Some(source) => Failure::Failed(transport(endpoint, source)),
            None => Failure::Said(status),
        }
    }

    pub(crate) fn says(&self, code: Code, text: &str) -> bool {
        matches!(self, Failure::Said(status) if status.code() == code && status.message().starts_with(text))
    }

    /// What it means for a call.
    pub(crate) fn error(self, shared: &Shared, call: &'static str) -> GatewayError {
        match self {
            Failure::Failed(error) => error,
            Failure::Said(status) => said(&status, shared, call),
        }
    }

    /// What it means for a stream.
    pub(crate) fn end(self) -> StreamEnd {
        match self {
            Failure::Failed(error) => error.end(),
            Failure::Said(status) => end(&status),
        }
    }
}

/// How a stream ended.
pub(crate) fn end(status: &Status) -> StreamEnd {
    match status.source() {
        Some(source) => StreamEnd::Broke(innermost(source)),
        None => StreamEnd::of_status(status.code() as i32, &said_text(status)),
    }
}

fn said(status: &Status, shared: &Shared, call: &'static str) -> GatewayError {
    let (endpoint, text) = (shared.target.endpoint.clone(), said_text(status));
    match (status.code(), end(status)) {
        (_, StreamEnd::Refused(refusal, text)) => GatewayError::Refused {
            refusal,
            endpoint,
            text,
        },
        (_, StreamEnd::TooLarge) => GatewayError::TooLarge {
            call,
            bytes_max: shared.limits.message_bytes_max,
        },
        (_, StreamEnd::RateLimited) => GatewayError::RateLimited { endpoint, text },
        (Code::Unimplemented, _) => GatewayError::NotAGateway {
            endpoint,
            why: format!(
                "it has no `{}.{}/{call}`",
                shared.target.names.package, shared.target.names.service
            ),
        },
        (Code::Unauthenticated | Code::PermissionDenied, _) => GatewayError::NotAGateway {
            endpoint,
            why: text,
        },
        _ => GatewayError::Broke {
            endpoint,
            why: text,
        },
    }
}

/// What the status says, or what its code means.
fn said_text(status: &Status) -> String {
    match status.message() {
        "" => status.code().description().to_owned(),
        text => plain(text),
    }
}

/// The gateway gave up, or the client library did.
pub(crate) fn is_timeout(status: &Status) -> bool {
    let expired = |source| chain(source).any(|error| error.is::<TimeoutExpired>());
    status.code() == Code::DeadlineExceeded || status.source().is_some_and(expired)
}

/// What broke a connection, or kept it from being made.
fn transport(endpoint: &str, error: &(dyn Error + 'static)) -> GatewayError {
    let endpoint = endpoint.to_owned();
    let why = innermost(error);
    if let Some(fault) = chain(error).find_map(certificate) {
        return GatewayError::WrongCertificate {
            endpoint,
            fault,
            why,
        };
    }
    let made = !chain(error).any(|error| error.is::<ConnectError>() || is_slow_connect(error));
    match chain(error).any(is_foreign) {
        true => GatewayError::NotAGateway { endpoint, why },
        false if made => GatewayError::Broke { endpoint, why },
        false => GatewayError::NotRunning { endpoint, why },
    }
}

/// Alerts by which a server says that it does not take our certificate. The library of HTTP/2 keeps only
/// the text of an error that comes after the handshake.
const ALERTS: [&str; 9] = [
    "AccessDenied",
    "BadCertificate",
    "CertificateExpired",
    "CertificateRequired",
    "CertificateRevoked",
    "CertificateUnknown",
    "DecryptError",
    "UnknownCA",
    "UnsupportedCertificate",
];

fn certificate(error: &(dyn Error + 'static)) -> Option<Fault> {
    if let Some(TlsError::InvalidCertificate(_)) = error.downcast_ref() {
        return Some(Fault::Server);
    }
    let text = error.to_string();
    let (_, alert) = text.split_once("received fatal alert: ")?;
    let ours = ALERTS.iter().any(|name| alert.contains(name));
    ours.then_some(Fault::Client)
}

/// The other side speaks something else: no TLS, no HTTP/2.
fn is_foreign(error: &(dyn Error + 'static)) -> bool {
    let said = error.to_string();
    matches!(
        error.downcast_ref(),
        Some(TlsError::InvalidMessage(_) | TlsError::NoApplicationProtocol)
    ) || said.starts_with("HTTP/2 was not negotiated")
        || said.ends_with("frame with invalid size")
}

fn is_slow_connect(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

/// An error and what caused it, outermost first. An `io::Error` hides the error that it was made of.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        match held {
            Some(held) => Some(held as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// The text of the first cause.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    let last = chain(error).last().unwrap_or(error);
    plain(&last.to_string())
}

/// A text from outside, as it can be printed: one line, without control characters, not too long.
pub(crate) fn plain(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    let spaced = |c: char| if c.is_control() { ' ' } else { c };
    text[..end].chars().map(spaced).collect()
}
