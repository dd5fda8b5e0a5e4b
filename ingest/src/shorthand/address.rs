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
    let scan = Scan::of(text);
    let (address, protocol) = match scan.end {
        end if end == text.len() => (text, None),
        end => (&text[..end], Some(text[end..].strip_prefix('/')?)),
    };
    if protocol.is_some_and(|word| !is_protocol(word)) {
        return None;
    }
    let (host, port) = host_and_port(address, scan)?;
    Some(Destination {
        host,
        port,
        protocol,
    })
}

fn is_protocol(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// `host[:port]`, the host with or without brackets; `scan` ends where `text` does.
///
/// A host with a colon in it is an IPv6 address, and then the last `:digits` is the port: all who
/// print addresses print ports. Only where that leaves no address is the whole one.
#[inline]
fn host_and_port(text: &str, scan: Scan) -> Option<(&str, Option<&str>)> {
    match scan.colons {
        _ if scan.bracketed => bracketed(text),
        0 => (!text.is_empty()).then_some((text, None)),
        1 => {
            let (host, port) = (&text[..scan.last_colon], &text[scan.last_colon + 1..]);
            (!host.is_empty() && is_digits(port)).then_some((host, Some(port)))
        }
        _ => {
            let (host, port) = (&text[..scan.last_colon], &text[scan.last_colon + 1..]);
            match is_digits(port) && is_ipv6(host) {
                true => Some((host, Some(port))),
                false => is_ipv6(text).then_some((text, None)),
            }
        }
    }
}

/// `[address]` or `[address]:port`.
fn bracketed(text: &str) -> Option<(&str, Option<&str>)> {
    let (host, rest) = text.strip_prefix('[')?.split_once(']')?;
    let port = match rest {
        "" => None,
        _ => Some(rest.strip_prefix(':').filter(|port| is_digits(port))?),
    };
    is_ipv6(host).then_some((host, port))
}

/// What one look at a host and port finds.
#[derive(Debug, Clone, Copy, Default)]
struct Scan {
    /// Where it ends: at a byte that no host, address or port holds.
    end: usize,
    colons: usize,
    last_colon: usize,
    bracketed: bool,
}

impl Scan {
    #[inline]
    fn of(text: &str) -> Scan {
        let mut scan = Scan {
            bracketed: text.starts_with('['),
            ..Scan::default()
        };
        for byte in text.bytes() {
            match HOST_BYTES[usize::from(byte)] {
                HostByte::Part => (),
                HostByte::Colon => {
                    scan.colons += 1;
                    scan.last_colon = scan.end;
                }
                HostByte::Bracket if scan.bracketed => (),
                HostByte::Bracket | HostByte::Never => break,
            }
            scan.end += 1;
        }
        scan
    }
}

#[derive(Debug, Clone, Copy)]
enum HostByte {
    Part,
    Colon,
    Bracket,
    /// Space, parenthesis, quote, slash, control and the like.
    Never,
}

static HOST_BYTES: [HostByte; 256] = host_bytes();

const fn host_bytes() -> [HostByte; 256] {
    let mut table = [HostByte::Part; 256];
    let mut control = 0;
    while control <= b' ' {
        table[control as usize] = HostByte::Never;
        control += 1;
    }
    let never = b"\x7f()\"'/<>?#@";
    let mut at = 0;
    while at < never.len() {
        table[never[at] as usize] = HostByte::Never;
        at += 1;
    }
    table[b':' as usize] = HostByte::Colon;
    table[b'[' as usize] = HostByte::Bracket;
    table[b']' as usize] = HostByte::Bracket;
    table
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
    let (scheme, rest) = match text.strip_prefix("http://") {
        Some(rest) => (&text[..4], rest),
        None => scheme(text)?,
    };
    let mut address = rest;
    let mut scan = Scan::of(address);
    if !matches!(address.as_bytes().get(scan.end), None | Some(b'/')) {
        // Userinfo, perhaps; or no path before the query.
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let at = rest[..end].rfind('@').map_or(0, |at| at + 1);
        address = &rest[at..];
        scan = Scan::of(&rest[at..end]);
        if scan.end != end - at {
            return None;
        }
    }
    let (address, target) = address.split_at(scan.end);
    let path = &target[..memchr::memchr2(b'?', b'#', target.as_bytes()).unwrap_or(target.len())];
    let (host, port, open) = split_authority(scheme, address, scan)?;
    Some(Url {
        scheme,
        host,
        port,
        path: (!path.is_empty()).then_some(path),
        open,
    })
}

/// `scheme://`, and what follows.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let scheme: IResult<&str, &str> = terminated(take_while1(is_part), tag("://")).parse(text);
    scheme.ok().map(|(rest, scheme)| (scheme, rest))
}

/// Host, port, and whether they could be split otherwise.
///
/// A port that is the scheme's own is left out in print, so an IPv6 address without brackets is one
/// with a port, or one without, or both.
#[inline]
fn split_authority<'a>(
    scheme: &str,
    address: &'a str,
    scan: Scan,
) -> Option<(&'a str, Option<&'a str>, bool)> {
    if scan.bracketed || scan.colons < 2 {
        let (host, port) = host_and_port(address, scan)?;
        return Some((host, port, false));
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
