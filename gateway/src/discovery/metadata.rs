//! A registration, `metadata.json`. Keys that are not read here are tolerated.

use std::path::PathBuf;

use serde::Deserialize;

use super::endpoint::Endpoint;
use super::error::DiscoverError;
use super::places::Places;

pub(super) struct Metadata {
    pub(super) endpoint: String,
    pub(super) mode: Mode,
}

/// How the gateway's own client signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// By a client certificate, if there is one.
    Certificate,
    /// Not at all, and without encryption.
    Plaintext,
    /// By a token.
    Oidc,
}

#[derive(Deserialize)]
struct Text {
    gateway_endpoint: String,
    auth_mode: Option<String>,
}

/// The registration of this name and its file: the user's, else the system's.
pub(super) fn load(
    name: &str,
    places: &Places<'_>,
) -> Result<Option<(PathBuf, Metadata)>, DiscoverError> {
    for path in places.metadata_files(name) {
        if let Some(text) = places.read(&path)? {
            let metadata = parse(name, &path, &text)?;
            return Ok(Some((path, metadata)));
        }
    }
    Ok(None)
}

fn parse(name: &str, path: &std::path::Path, text: &str) -> Result<Metadata, DiscoverError> {
    // A parse error of serde may quote the value that it met.
    let text: Text = serde_json::from_str(text).map_err(|error| DiscoverError::Unreadable {
        path: path.to_owned(),
        why: format!("it is no registration (line {})", error.line()),
    })?;
    let mode = match text.auth_mode.as_deref() {
        None | Some("" | "mtls") => Mode::Certificate,
        Some("plaintext") => Mode::Plaintext,
        Some("oidc") => Mode::Oidc,
        Some(mode) => {
            return Err(DiscoverError::UnknownMode {
                name: name.to_owned(),
                mode: crate::status::plain(mode),
            });
        }
    };
    Ok(Metadata {
        endpoint: text.gateway_endpoint,
        mode,
    })
}

/// The name that an address is registered by. A registration that cannot be read is passed over.
pub(super) fn registered_as(endpoint: &Endpoint, places: &Places<'_>) -> Option<String> {
    let is_it = |name: &String| {
        let Ok(Some((_, metadata))) = load(name, places) else {
            return false;
        };
        Endpoint::parse(&metadata.endpoint, "").is_ok_and(|registered| registered == *endpoint)
    };
    places.registered().into_iter().find(is_it)
}
