//! Hosts, ports and URLs as they are printed: IPv6 mostly without brackets.

use std::net::Ipv6Addr;

use nom::IResult;
use nom::Parser;
use nom::bytes::complete::{tag, take_while1};
use nom::sequence::terminated;

/// A destination of NET and SSH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Destination<'a> {
    pub(super) host: &'a str,
    pub(super) port: Option<&'a str>,
    pub(super) protocol: Option<&'a str>,
}

/// `host[:port][/protocol]`, all of `text`. `None` for what cannot be a destination.
#[inline]
pub(super) fn destination(text: &str) -> Option<Destination<'_>> {
    let (address, protocol) = match text.rsplit_once('/') {
        Some((address, protocol)) => (address, Some(protocol)),
        None => (text, None),
    };
    let is_protocol = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if protocol.is_some_and(|word| !is_protocol(word)) {
        return None;
    }
    let (host, port) = host_and_port(address)?;
    Some(Destination {
        host,
        port,
        protocol,
    })
}

/// `host[:port]`, the host with or without brackets.
///
/// A host with a colon in it is an IPv6 address, and then the last `:digits` is the port: all who
/// print addresses print ports. Only where that leaves no address is the whole one.
fn host_and_port(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(inner) = text.strip_prefix('[') {
        let (host, rest) = inner.split_once(']')?;
        let port = match rest {
            "" => None,
            _ => Some(rest.strip_prefix(':').filter(|port| is_digits(port))?),
        };
        return is_ipv6(host).then_some((host, port));
    }
    if !is_host(text) {
        return None;
    }
    let Some((host, port)) = text.rsplit_once(':') else {
        return Some((text, None));
    };
    if !host.contains(':') {
        return (!host.is_empty() && is_digits(port)).then_some((host, Some(port)));
    }
    if is_digits(port) && is_ipv6(host) {
        return Some((host, Some(port)));
    }
    is_ipv6(text).then_some((text, None))
}

/// No space, bracket, quote, slash or control: what a host name or address never holds.
fn is_host(text: &str) -> bool {
    let never = |byte: u8| {
        byte <= b' '
            || byte == 0x7f
            || matches!(
                byte,
                b'(' | b')' | b'[' | b']' | b'"' | b'\'' | b'/' | b'<' | b'>'
            )
    };
    !text.is_empty() && !text.bytes().any(never)
}

fn is_digits(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_ipv6(text: &str) -> bool {
    let address = text.split_once('%').map_or(text, |(address, _)| address);
    address.parse::<Ipv6Addr>().is_ok()
}

/// A URL of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Url<'a> {
    pub(super) scheme: &'a str,
    /// Without userinfo and brackets.
    pub(super) host: &'a str,
    /// As printed; absent too where an unbracketed IPv6 address leaves it open.
    pub(super) port: Option<&'a str>,
    /// Without query and fragment; absent when empty.
    pub(super) path: Option<&'a str>,
    /// The authority can be split in two ways and stands whole in `host`.
    pub(super) open: bool,
}

/// `scheme://host[:port]path`, all of `text`.
pub(super) fn url(text: &str) -> Option<Url<'_>> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme: IResult<&str, &str> = terminated(take_while1(is_scheme), tag("://")).parse(text);
    let (rest, scheme) = scheme.ok()?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    let address = authority
        .rsplit_once('@')
        .map_or(authority, |(_, address)| address);
    let path = &target[..target.find(['?', '#']).unwrap_or(target.len())];
    let (host, port, open) = split_authority(scheme, address)?;
    Some(Url {
        scheme,
        host,
        port,
        path: (!path.is_empty()).then_some(path),
        open,
    })
}

/// Host, port, and whether they could be split otherwise.
///
/// A port that is the scheme's own is left out in print, so an IPv6 address without brackets is one
/// with a port, or one without, or both.
fn split_authority<'a>(scheme: &str, address: &'a str) -> Option<(&'a str, Option<&'a str>, bool)> {
    let colons = address.bytes().filter(|byte| *byte == b':').count();
    if address.starts_with('[') || colons < 2 {
        let (host, port) = host_and_port(address)?;
        return Some((host, port, false));
    }
    if !is_host(address) {
        return None;
    }
    let with_port = address.rsplit_once(':').filter(|(host, port)| {
        is_ipv6(host) && is_digits(port) && !port.starts_with('0') && !is_default(scheme, port)
    });
    match (with_port, is_ipv6(address)) {
        (Some((host, port)), false) => Some((host, Some(port), false)),
        (None, true) => Some((address, None, false)),
        (Some(_), true) => Some((address, None, true)),
        (None, false) => None,
    }
}

fn is_default(scheme: &str, port: &str) -> bool {
    matches!((scheme, port), ("http", "80") | ("https", "443"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(&str, Option<&str>, Option<&str>)> {
        destination(text).map(|found| (found.host, found.port, found.protocol))
    }

    #[test]
    fn last_digits_of_an_ipv6_destination_are_its_port() {
        for (text, host, port) in [
            (
                "2606:4700:4700::1111:443",
                "2606:4700:4700::1111",
                Some("443"),
            ),
            ("[2001:db8::1]:443", "2001:db8::1", Some("443")),
            ("[2001:db8::1]", "2001:db8::1", None),
            ("2001:db8::1", "2001:db8::1", None),
            ("2a02:cf40::", "2a02:cf40::", None),
            ("::1", "::1", None),
            ("::1:8080", "::1", Some("8080")),
            ("::ffff:10.0.0.1:8443", "::ffff:10.0.0.1", Some("8443")),
            ("fe80::1%eth0:443", "fe80::1%eth0", Some("443")),
        ] {
            assert_eq!(split(text), Some((host, port, None)), "{text}");
        }
    }

    #[test]
    fn names_ports_and_protocols_are_told_apart() {
        assert_eq!(
            split("pypi.org:443/tcp"),
            Some(("pypi.org", Some("443"), Some("tcp")))
        );
        assert_eq!(split("pypi.org"), Some(("pypi.org", None, None)));
        assert_eq!(split("unknown"), Some(("unknown", None, None)));
        for text in [
            "",
            ":443",
            "a b:1",
            "a(1):2",
            "host:",
            "host:x",
            "/usr/bin/curl",
            "[x]:1",
            "a]:1",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn url_is_split_without_userinfo_and_query() {
        let found = url("http://u:p@h.example:8080/a/b?q=1#f").map(|u| (u.host, u.port, u.path));
        assert_eq!(found, Some(("h.example", Some("8080"), Some("/a/b"))));
        let found = url("https://h?q=/x").map(|u| (u.scheme, u.host, u.path));
        assert_eq!(found, Some(("https", "h", None)));
        assert_eq!(url("/only/a/path"), None);
        assert_eq!(url("://h/x"), None);
    }

    /// The port of an unbracketed IPv6 URL is given only where no other reading exists.
    #[test]
    fn open_authority_is_kept_whole() {
        let split = |text| url(text).map(|u| (u.host, u.port, u.open));
        assert_eq!(split("http://::1:8080/x"), Some(("::1:8080", None, true)));
        assert_eq!(split("http://fe80::1/x"), Some(("fe80::1", None, false)));
        assert_eq!(
            split("http://2001:db8:1:2:3:4:5:6:8080/"),
            Some(("2001:db8:1:2:3:4:5:6", Some("8080"), false))
        );
        assert_eq!(
            split("http://[::1]:8080/x"),
            Some(("::1", Some("8080"), false))
        );
        assert_eq!(
            split("https://fe80::1:443/x"),
            Some(("fe80::1:443", None, false))
        );
    }
}
