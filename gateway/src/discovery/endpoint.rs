//! An address: a scheme, a host and a port, and nothing else.

use std::net::{IpAddr, Ipv6Addr};

use tonic::transport::Uri;

use super::error::DiscoverError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) is_encrypted: bool,
    /// Lower case; an IPv6 address without brackets.
    host: String,
    port: u16,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        match self.host.contains(':') {
            true => write!(f, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

impl Endpoint {
    /// Reads an address that came from `from`. An error does not repeat it.
    pub(super) fn parse(text: &str, from: &str) -> Result<Endpoint, DiscoverError> {
        read(text.trim()).map_err(|why| DiscoverError::BadEndpoint {
            from: from.to_owned(),
            why,
        })
    }

    /// Whether what is sent there stays on this machine. A name other than `localhost` is not resolved:
    /// what it resolves to may change between the check and the connection.
    pub(super) fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => self.host == "localhost",
        }
    }
}

fn read(text: &str) -> Result<Endpoint, &'static str> {
    if text.contains('@') {
        return Err("it carries a user name or a password, which are not used");
    }
    if text.contains('#') {
        return Err("it has a fragment");
    }
    let uri: Uri = text.parse().map_err(|_| "it cannot be read")?;
    let scheme = uri.scheme_str().unwrap_or_default().to_ascii_lowercase();
    let is_encrypted = match scheme.as_str() {
        "https" => true,
        "http" => false,
        _ => return Err("it begins with neither `http://` nor `https://`"),
    };
    if uri.query().is_some() {
        return Err("it has a query");
    }
    if !matches!(uri.path(), "" | "/") {
        return Err("it has a path");
    }
    let authority = uri.authority().ok_or("it has no host")?;
    Ok(Endpoint {
        host: host(authority.host())?,
        port: port(authority.as_str(), authority.port_u16(), is_encrypted)?,
        is_encrypted,
    })
}

fn host(text: &str) -> Result<String, &'static str> {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match inner {
        Some(inner) => match inner.parse::<Ipv6Addr>() {
            Ok(address) => Ok(address.to_string()),
            Err(_) => Err("its host is no IPv6 address"),
        },
        None if text.is_empty() => Err("it has no host"),
        None => Ok(text.to_ascii_lowercase()),
    }
}

fn port(authority: &str, port: Option<u16>, is_encrypted: bool) -> Result<u16, &'static str> {
    let is_named = !authority.ends_with(']')
        && authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty());
    match port {
        Some(0) => Err("its port is 0"),
        Some(port) => Ok(port),
        None if is_named => Err("its port is no number up to 65535"),
        None if is_encrypted => Ok(443),
        None => Ok(80),
    }
}
