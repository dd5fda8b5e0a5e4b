//! What goes wrong between us and a gateway, by who can mend it.

use std::path::PathBuf;
use std::time::Duration;

use boundlane_ingest::watch::{Refusal, StreamEnd};
use boundlane_record::Micros;
use boundlane_record::coverage::rfc3339;

use crate::discovery::DiscoverError;

/// Why the gateway could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatewayError {
    /// No gateway is known, or what is said of it cannot be used.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// A file of ours, or a name, cannot be used.
    #[error("{what} cannot be used: {why}")]
    Unusable {
        /// Which.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// No connection could be made.
    #[error(
        "no gateway answers at `{endpoint}`: {why}; start it, or name another with `--gateway`"
    )]
    NotRunning {
        /// Where.
        endpoint: String,
        /// What the system says.
        why: String,
    },
    /// It took too long.
    #[error(
        "the gateway at `{endpoint}` did not answer `{call}` within {} ms; try again, or look at its load",
        after.as_millis()
    )]
    NoAnswer {
        /// Where.
        endpoint: String,
        /// What was asked.
        call: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// One side does not take the other's certificate.
    #[error("{}", certificate(*fault, endpoint, why))]
    WrongCertificate {
        /// Where.
        endpoint: String,
        /// Whose certificate.
        fault: Fault,
        /// What is wrong with it.
        why: String,
    },
    /// The gateway does not let us.
    #[error("{}", refused(*refusal, endpoint, text))]
    Refused {
        /// Why.
        refusal: Refusal,
        /// Where.
        endpoint: String,
        /// What it says.
        text: String,
    },
    /// Our token is past its end.
    #[error(
        "the token in `{}` expired at {}: since then no line is received, and those that the gateway's \
         buffer drops are lost; sign in again with `openshell gateway login`",
        path.display(), rfc3339(*since)
    )]
    ExpiredToken {
        /// Its end.
        since: Micros,
        /// Where it lies.
        path: PathBuf,
    },
    /// There is no token.
    #[error(
        "there is no token in `{}`: {why}; sign in with `openshell gateway login`",
        path.display()
    )]
    NoToken {
        /// Where it should lie.
        path: PathBuf,
        /// What is there instead.
        why: String,
    },
    /// Unknown, or not ours to see.
    #[error(
        "the gateway at `{endpoint}` shows us no workspace `{workspace}`: {text}; name another with \
         `--workspace`"
    )]
    NoSuchWorkspace {
        /// Where.
        endpoint: String,
        /// Which; `*` for all of them.
        workspace: String,
        /// What it says.
        text: String,
    },
    /// Unknown, or not ours to see.
    #[error("the gateway knows no sandbox `{name}`, or does not let us see it")]
    NoSuchSandbox {
        /// Its name.
        name: String,
    },
    /// Something else listens there, or a gateway that this program does not know.
    #[error(
        "what answers at `{endpoint}` is no gateway that can be read: {why}; check the address"
    )]
    NotAGateway {
        /// Where.
        endpoint: String,
        /// How that shows.
        why: String,
    },
    /// More sandboxes than are read.
    #[error("the gateway at `{endpoint}` lists more than {max} sandboxes; select fewer by label")]
    TooMany {
        /// Where.
        endpoint: String,
        /// The limit.
        max: usize,
    },
    /// A message larger than is read.
    #[error("an answer to `{call}` is larger than {bytes_max} bytes")]
    TooLarge {
        /// What was asked.
        call: &'static str,
        /// The limit.
        bytes_max: usize,
    },
    /// The gateway counts our calls.
    #[error("the gateway at `{endpoint}` takes no more calls now: {text}; try again later")]
    RateLimited {
        /// Where.
        endpoint: String,
        /// What it says.
        text: String,
    },
    /// Anything else.
    #[error("the gateway at `{endpoint}` failed: {why}; try again, or look at its log")]
    Broke {
        /// Where.
        endpoint: String,
        /// What it or the connection says.
        why: String,
    },
}

/// Whose certificate is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The gateway's: we do not trust it.
    Server,
    /// Ours: the gateway does not take it, or wants one.
    Client,
}

/// A [`GatewayError`] without its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No gateway is registered here.
    NotInstalled,
    /// What is said of the gateway cannot be used.
    Setup,
    /// Nothing answers.
    NotRunning,
    /// It answers too slowly.
    NoAnswer,
    /// One side does not take the other's certificate.
    WrongCertificate,
    /// It does not know who we are.
    Unauthenticated,
    /// It knows, and we may not.
    PermissionDenied,
    /// Our token is past its end.
    ExpiredToken,
    /// There is no token.
    NoToken,
    /// Unknown, or not ours to see.
    NoSuchWorkspace,
    /// Unknown, or not ours to see.
    NoSuchSandbox,
    /// Something else listens there.
    NotAGateway,
    /// More than is read.
    TooMuch,
    /// It counts our calls.
    RateLimited,
    /// Anything else.
    Broke,
}

impl GatewayError {
    /// Which error it is.
    pub fn kind(&self) -> Kind {
        match self {
            GatewayError::Discover(DiscoverError::NotInstalled { .. }) => Kind::NotInstalled,
            GatewayError::Discover(_) | GatewayError::Unusable { .. } => Kind::Setup,
            GatewayError::NotRunning { .. } => Kind::NotRunning,
            GatewayError::NoAnswer { .. } => Kind::NoAnswer,
            GatewayError::WrongCertificate { .. } => Kind::WrongCertificate,
            GatewayError::Refused { refusal, .. } => match refusal {
                Refusal::Unauthenticated => Kind::Unauthenticated,
                Refusal::PermissionDenied => Kind::PermissionDenied,
            },
            GatewayError::ExpiredToken { .. } => Kind::ExpiredToken,
            GatewayError::NoToken { .. } => Kind::NoToken,
            GatewayError::NoSuchWorkspace { .. } => Kind::NoSuchWorkspace,
            GatewayError::NoSuchSandbox { .. } => Kind::NoSuchSandbox,
            GatewayError::NotAGateway { .. } => Kind::NotAGateway,
            GatewayError::TooMany { .. } | GatewayError::TooLarge { .. } => Kind::TooMuch,
            GatewayError::RateLimited { .. } => Kind::RateLimited,
            GatewayError::Broke { .. } => Kind::Broke,
        }
    }

    /// What it means for a stream that could not be attached.
    pub(crate) fn end(&self) -> StreamEnd {
        match self {
            GatewayError::Refused { refusal, text, .. } => {
                StreamEnd::Refused(*refusal, text.clone())
            }
            GatewayError::ExpiredToken { .. } | GatewayError::NoToken { .. } => {
                StreamEnd::Refused(Refusal::Unauthenticated, self.to_string())
            }
            GatewayError::NoSuchSandbox { .. } => StreamEnd::NotFound,
            GatewayError::TooLarge { .. } => StreamEnd::TooLarge,
            GatewayError::RateLimited { .. } => StreamEnd::RateLimited,
            _ => StreamEnd::Broke(self.to_string()),
        }
    }
}

impl From<&GatewayError> for StreamEnd {
    /// What it means for a stream that could not be attached.
    fn from(error: &GatewayError) -> StreamEnd {
        error.end()
    }
}

fn certificate(fault: Fault, endpoint: &str, why: &str) -> String {
    match fault {
        Fault::Server => format!(
            "the certificate of the gateway at `{endpoint}` is not trusted: {why}; check `ca.crt` of \
             its registration"
        ),
        Fault::Client => format!(
            "the gateway at `{endpoint}` does not take our certificate: {why}; check `tls.crt` and \
             `tls.key` of its registration"
        ),
    }
}

fn refused(refusal: Refusal, endpoint: &str, text: &str) -> String {
    match refusal {
        Refusal::Unauthenticated => format!(
            "the gateway at `{endpoint}` does not know who we are: {text}; sign in with `openshell \
             gateway login`, or check the client certificate"
        ),
        Refusal::PermissionDenied => format!(
            "the gateway at `{endpoint}` does not let us: {text}; ask for the role `user` in the \
             workspace and the scope `sandbox:read`"
        ),
    }
}
