//! A gateway and how to prove who we are to it.

use std::path::PathBuf;

/// Names that a renamed product would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The package of the interface.
    pub package: String,
    /// The service in it.
    pub service: String,
    /// What environment variables begin with, before `_`.
    pub env_prefix: String,
    /// The directory below the user's and the system's configuration.
    pub dir: String,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            package: "openshell.v1".to_owned(),
            service: "OpenShell".to_owned(),
            env_prefix: "OPENSHELL".to_owned(),
            dir: "openshell".to_owned(),
        }
    }
}

/// A gateway to talk to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The name it is registered by; `None` when only its address is known.
    pub name: Option<String>,
    /// `http://host:port` or `https://host:port`, an IPv6 host in brackets.
    pub endpoint: String,
    /// How we prove who we are.
    pub auth: Auth,
    /// The workspace of sandboxes that are asked for by name.
    pub workspace: String,
    /// The server's certificate is taken as it comes.
    pub skip_verification: bool,
    /// Names of the interface.
    pub names: Names,
    /// What named it.
    pub found: Found,
}

/// Where a credential lies. It is read when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// None. With `https` the system's certificate authorities are trusted.
    None,
    /// None, with a certificate authority of the gateway's own.
    ServerCaOnly {
        /// Its certificate, PEM.
        ca: PathBuf,
    },
    /// A client certificate.
    Mtls(ClientFiles),
    /// A bearer token.
    Oidc {
        /// `oidc_token.json`, written by the gateway's own client.
        token: PathBuf,
        /// A client certificate besides.
        mtls: Option<ClientFiles>,
        /// A certificate authority of the gateway's own, where there is no client certificate.
        ca: Option<PathBuf>,
    },
}

/// The files of a client certificate, all PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFiles {
    /// The certificate authority of the server.
    pub ca: PathBuf,
    /// Our certificate.
    pub crt: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What named a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The caller.
    Flag,
    /// An environment variable.
    Variable,
    /// The user's active gateway.
    ActiveFile,
    /// The system's active gateway.
    SystemFile,
}

impl Auth {
    /// How we prove who we are, in a word: `none`, `mtls`, `oidc` or `oidc+mtls`.
    pub fn word(&self) -> &'static str {
        match self {
            Auth::None | Auth::ServerCaOnly { .. } => "none",
            Auth::Mtls(_) => "mtls",
            Auth::Oidc { mtls: None, .. } => "oidc",
            Auth::Oidc { mtls: Some(_), .. } => "oidc+mtls",
        }
    }

    /// The certificate authority of the gateway's own.
    pub(crate) fn ca(&self) -> Option<&PathBuf> {
        match self {
            Auth::None => None,
            Auth::ServerCaOnly { ca } => Some(ca),
            Auth::Mtls(files) => Some(&files.ca),
            Auth::Oidc { mtls, ca, .. } => mtls.as_ref().map(|files| &files.ca).or(ca.as_ref()),
        }
    }

    /// The files of the client certificate.
    pub(crate) fn client(&self) -> Option<&ClientFiles> {
        match self {
            Auth::Mtls(files) => Some(files),
            Auth::Oidc { mtls, .. } => mtls.as_ref(),
            Auth::None | Auth::ServerCaOnly { .. } => None,
        }
    }
}
