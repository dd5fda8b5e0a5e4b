//! How to prove who we are: decided by the registration and by what lies beside it.

use std::path::{Path, PathBuf};

use super::endpoint::Endpoint;
use super::error::DiscoverError;
use super::metadata::Mode;
use super::places::Places;
use crate::{Auth, ClientFiles};

pub(super) fn find(
    places: &Places<'_>,
    endpoint: &Endpoint,
    name: Option<&str>,
    mode: Mode,
) -> Result<Auth, DiscoverError> {
    let is_open = !endpoint.is_encrypted && !endpoint.is_loopback();
    match mode {
        Mode::Oidc if is_open => Err(DiscoverError::TokenInClear {
            endpoint: endpoint.to_string(),
        }),
        Mode::Certificate if is_open => Err(DiscoverError::Plaintext {
            endpoint: endpoint.to_string(),
        }),
        Mode::Oidc => with_token(places, endpoint, name),
        Mode::Certificate | Mode::Plaintext => with_certificate(places, endpoint, name),
    }
}

/// A token that lies beside another kind of registration is left over from before, and not used.
fn with_token(
    places: &Places<'_>,
    endpoint: &Endpoint,
    name: Option<&str>,
) -> Result<Auth, DiscoverError> {
    let below = with_certificate(places, endpoint, name)?;
    match name.and_then(|name| places.token_file(name)) {
        Some(token) => Ok(Auth::Oidc {
            token,
            mtls: below.client().cloned(),
            ca: below.ca().cloned(),
        }),
        None => Ok(below),
    }
}

fn with_certificate(
    places: &Places<'_>,
    endpoint: &Endpoint,
    name: Option<&str>,
) -> Result<Auth, DiscoverError> {
    if !endpoint.is_encrypted {
        return Ok(Auth::None);
    }
    let registered = name.and_then(|name| places.mtls_dir(name));
    if let Some(dir) = registered {
        let auth = of_files(places, files(&dir, &dir))?;
        if auth != Auth::None {
            return Ok(auth);
        }
    }
    // What a gateway on this machine made for its user is of no use elsewhere.
    match places.local_tls_dir() {
        Some(dir) if endpoint.is_loopback() => of_files(places, files(&dir, &dir.join("client"))),
        _ => Ok(Auth::None),
    }
}

fn files(ca: &Path, client: &Path) -> ClientFiles {
    ClientFiles {
        ca: ca.join("ca.crt"),
        crt: client.join("tls.crt"),
        key: client.join("tls.key"),
    }
}

/// All three, or the certificate authority alone, or nothing.
fn of_files(places: &Places<'_>, files: ClientFiles) -> Result<Auth, DiscoverError> {
    let has = |path: &PathBuf| places.has(path);
    match (has(&files.ca), has(&files.crt), has(&files.key)) {
        (true, true, true) => Ok(Auth::Mtls(files)),
        (true, false, false) => Ok(Auth::ServerCaOnly { ca: files.ca }),
        (false, false, false) => Ok(Auth::None),
        (false, ..) => half(files.ca),
        (true, false, true) => half(files.crt),
        (true, true, false) => half(files.key),
    }
}

fn half(missing: PathBuf) -> Result<Auth, DiscoverError> {
    Err(DiscoverError::HalfCertificate { missing })
}
