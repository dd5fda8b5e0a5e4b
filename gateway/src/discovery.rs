//! Which gateway this machine talks to, and as whom.
//!
//! The order is the one of the gateway's own client. Files and variables come through [`Surroundings`],
//! so that nothing here touches a real home.

mod credentials;
mod endpoint;
mod error;
mod metadata;
mod places;
mod surroundings;
#[cfg(test)]
mod tests;

pub use error::DiscoverError;
pub use surroundings::{ProcessSurroundings, Surroundings};

use crate::{Auth, Found, Names, Target};
use endpoint::Endpoint;
use metadata::{Metadata, Mode};
use places::Places;

/// The workspace where none is named.
const WORKSPACE: &str = "default";

/// What the caller wants.
#[derive(Debug, Clone, Default)]
pub struct Discover<'a> {
    /// A URL, or the name of a registered gateway. It goes before every variable and file.
    pub gateway: Option<&'a str>,
    /// A workspace.
    pub workspace: Option<&'a str>,
    /// Names of the interface.
    pub names: Names,
}

/// Finds the gateway. Blank values and variables count as absent.
pub fn discover(wanted: &Discover<'_>, around: &dyn Surroundings) -> Result<Target, DiscoverError> {
    let places = Places::new(&wanted.names, around);
    let chosen = choose(wanted, &places)?;
    let skip_verification = places
        .variable("GATEWAY_INSECURE")
        .is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "0" | "false"));
    let auth = credentials::find(
        &places,
        &chosen.endpoint,
        chosen.name.as_deref(),
        chosen.mode,
    )?;
    Ok(Target {
        endpoint: chosen.endpoint.to_string(),
        auth,
        workspace: given(wanted.workspace)
            .map(str::to_owned)
            .or_else(|| places.variable("WORKSPACE"))
            .unwrap_or_else(|| WORKSPACE.to_owned()),
        skip_verification,
        names: wanted.names.clone(),
        name: chosen.name,
        found: chosen.found,
    })
}

/// Holds a target to the rules of an address, however it was made.
pub(crate) fn check(target: &Target) -> Result<(), DiscoverError> {
    let endpoint = Endpoint::parse(&target.endpoint, "the gateway's address")?;
    let is_private = endpoint.is_encrypted || endpoint.is_loopback();
    match target.auth {
        Auth::Oidc { .. } if !is_private => Err(DiscoverError::TokenInClear {
            endpoint: endpoint.to_string(),
        }),
        _ => Ok(()),
    }
}

struct Chosen {
    name: Option<String>,
    endpoint: Endpoint,
    mode: Mode,
    found: Found,
}

fn choose(wanted: &Discover<'_>, places: &Places<'_>) -> Result<Chosen, DiscoverError> {
    let by_flag = given(wanted.gateway);
    if let Some(url) = by_flag.filter(|value| value.contains("://")) {
        return by_endpoint(url, "the gateway's address", Found::Flag, places);
    }
    if let Some(name) = by_flag {
        return by_name(name, "the gateway's name", Found::Flag, places);
    }
    if let Some(url) = places.variable("GATEWAY_ENDPOINT") {
        let from = format!("`{}`", places.variable_name("GATEWAY_ENDPOINT"));
        return by_endpoint(&url, &from, Found::Variable, places);
    }
    if let Some(name) = places.variable("GATEWAY") {
        let from = format!("`{}`", places.variable_name("GATEWAY"));
        return by_name(&name, &from, Found::Variable, places);
    }
    for (found, path) in places.active_files() {
        let text = places.read(&path)?;
        if let Some(name) = given(text.as_deref()) {
            return by_name(name, &format!("`{}`", path.display()), found, places);
        }
    }
    Err(DiscoverError::NotInstalled {
        looked: places.active_files().map(|(_, path)| path).collect(),
    })
}

/// An address; the registration that it belongs to says how to sign in.
fn by_endpoint(
    url: &str,
    from: &str,
    found: Found,
    places: &Places<'_>,
) -> Result<Chosen, DiscoverError> {
    let endpoint = Endpoint::parse(url, from)?;
    let name = match places.variable("GATEWAY") {
        Some(name) => {
            let from = format!("`{}`", places.variable_name("GATEWAY"));
            Some(component(&name, &from)?.to_owned())
        }
        None => metadata::registered_as(&endpoint, places),
    };
    let metadata = match &name {
        Some(name) => metadata::load(name, places)?,
        None => None,
    };
    Ok(Chosen {
        mode: metadata.map_or(Mode::Certificate, |(_, metadata)| metadata.mode),
        name,
        endpoint,
        found,
    })
}

/// A name; its registration says where it is.
fn by_name(
    name: &str,
    from: &str,
    found: Found,
    places: &Places<'_>,
) -> Result<Chosen, DiscoverError> {
    let name = component(name, from)?;
    let (path, metadata) =
        metadata::load(name, places)?.ok_or_else(|| DiscoverError::UnknownGateway {
            name: name.to_owned(),
            looked: places.metadata_files(name).collect(),
        })?;
    let Metadata { endpoint, mode } = metadata;
    Ok(Chosen {
        name: Some(name.to_owned()),
        endpoint: Endpoint::parse(&endpoint, &format!("`{}`", path.display()))?,
        mode,
        found,
    })
}

/// A name of a directory, so that no file outside is read by it.
fn component<'a>(name: &'a str, from: &str) -> Result<&'a str, DiscoverError> {
    let is_one = !matches!(name, "" | "." | "..")
        && !name.contains(|c: char| matches!(c, '/' | '\\') || c.is_control());
    is_one
        .then_some(name)
        .ok_or_else(|| DiscoverError::BadName {
            from: from.to_owned(),
        })
}

/// Neither absent nor blank.
fn given(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|value| !value.is_empty())
}
