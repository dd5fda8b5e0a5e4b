//! Why no gateway was found. No message repeats an address or a value: they may carry secrets.

use std::path::PathBuf;

/// Why no gateway was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoverError {
    /// None is named and none is active.
    #[error(
        "no gateway is known here, {} is not there: install OpenShell, register one with `openshell \
         gateway add`, or name one with `--gateway`",
        listed(looked)
    )]
    NotInstalled {
        /// Files that would name one.
        looked: Vec<PathBuf>,
    },
    /// It is named and not registered.
    #[error(
        "no gateway `{name}` is registered, {} is not there: see `openshell gateway list`; an address \
         begins with `http://` or `https://`",
        listed(looked)
    )]
    UnknownGateway {
        /// Its name.
        name: String,
        /// Files that would describe it.
        looked: Vec<PathBuf>,
    },
    /// A file is there and cannot be read or understood.
    #[error("`{}` cannot be read: {why}; mend it, or name a gateway with `--gateway`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A name that would leave the directory of registrations.
    #[error("{from} is no name of a gateway: it must be one part of a path")]
    BadName {
        /// What holds the name.
        from: String,
    },
    /// An address that cannot be used; it is not repeated, for it may carry a password.
    #[error("{from} is no address of a gateway: {why}; it looks like `https://127.0.0.1:17670`")]
    BadEndpoint {
        /// What holds the address.
        from: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Everything that is said there could be read and changed on the way.
    #[error(
        "`{endpoint}` is neither this machine nor encrypted: use `https://`, or register the gateway as \
         `plaintext` when nothing on the way can listen"
    )]
    Plaintext {
        /// The address.
        endpoint: String,
    },
    /// A token would cross the network in clear.
    #[error("a token is never sent to `{endpoint}`, which is not encrypted: use `https://`")]
    TokenInClear {
        /// The address.
        endpoint: String,
    },
    /// A way to sign in that this program does not know.
    #[error(
        "gateway `{name}` is signed in to by `{mode}`, which is not supported: `mtls`, `plaintext` and \
         `oidc` are"
    )]
    UnknownMode {
        /// The gateway.
        name: String,
        /// `auth_mode` of its registration.
        mode: String,
    },
    /// A client certificate of which a part is missing.
    #[error("`{}` is not there: a client certificate is `ca.crt`, `tls.crt` and `tls.key`", missing.display())]
    HalfCertificate {
        /// The missing file.
        missing: PathBuf,
    },
}

fn listed(paths: &[PathBuf]) -> String {
    let quoted: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    quoted.join(" or ")
}
