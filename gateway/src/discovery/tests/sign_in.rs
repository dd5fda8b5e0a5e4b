//! Addresses, and how to prove who we are there.

use std::path::Path;

use super::{Machine, USER};
use crate::discovery::DiscoverError;
use crate::{Auth, ClientFiles};

/// An address is a scheme, a host and a port; one that cannot be used is not repeated.
#[test]
fn addresses() {
    for (url, expected) in [
        ("https://127.0.0.1:17670", Some("https://127.0.0.1:17670")),
        (
            " HTTPS://Gateway.Example/ ",
            Some("https://gateway.example:443"),
        ),
        ("http://localhost", Some("http://localhost:80")),
        ("http://[::1]:8080", Some("http://[::1]:8080")),
        ("http://[0:0::1]", Some("http://[::1]:80")),
        ("https://[2001:DB8::1]:1", Some("https://[2001:db8::1]:1")),
        ("https://u:hunter2@localhost:1", None),
        ("https://hunter2@[::1]:1", None),
        ("https://localhost:1/hunter2", None),
        ("https://localhost:1?hunter2", None),
        ("https://localhost:1#hunter2", None),
        ("hunter2://localhost:1", None),
        ("https://localhost:hunter2", None),
        ("https://localhost:70000", None),
        ("https://localhost:0", None),
        ("https://[hunter2]:1", None),
        ("https://", None),
        ("://hunter2", None),
        ("https://a b/hunter2", None),
    ] {
        match (Machine::new().find(Some(url)), expected) {
            (Ok(target), expected) => assert_eq!(Some(target.endpoint.as_str()), expected, "{url}"),
            (Err(error), None) => {
                assert!(matches!(error, DiscoverError::BadEndpoint { .. }), "{url}");
                assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
            }
            (Err(error), Some(_)) => panic!("{url}: {error}"),
        }
    }
}

/// Without encryption only this machine is talked to, unless the registration says so; a token never.
#[test]
fn plaintext_stays_on_this_machine() {
    let here = [
        "http://127.0.0.1:1",
        "http://127.8.9.10:1",
        "http://[::1]:1",
        "http://[::ffff:127.0.0.1]:1",
        "http://localhost:1",
    ];
    let elsewhere = [
        "http://10.0.0.1:1",
        "http://[2001:db8::1]:1",
        "http://gateway.example:1",
        "http://localhost.example:1",
        "http://127.1:1",
        "http://0.0.0.0:1",
    ];
    let registered = |url: &str, mode| Machine::new().registered(USER, "a", url, mode);
    for url in here {
        assert_eq!(
            Machine::new().find(Some(url)).unwrap().auth,
            Auth::None,
            "{url}"
        );
        for mode in [None, Some("mtls"), Some("plaintext"), Some("oidc")] {
            assert!(
                registered(url, mode).find(Some("a")).is_ok(),
                "{url} {mode:?}"
            );
        }
    }
    for url in elsewhere {
        let find = |mode| registered(url, mode).find(Some("a"));
        let plaintext = |found| matches!(found, Err(DiscoverError::Plaintext { .. }));
        assert!(plaintext(Machine::new().find(Some(url))), "{url}");
        assert!(
            plaintext(find(None)) && plaintext(find(Some("mtls"))),
            "{url}"
        );
        assert_eq!(find(Some("plaintext")).unwrap().auth, Auth::None, "{url}");
        let token = find(Some("oidc")).unwrap_err();
        assert!(matches!(token, DiscoverError::TokenInClear { .. }), "{url}");
    }
}

fn files(ca: &str, client: &str) -> ClientFiles {
    ClientFiles {
        ca: Path::new(ca).join("ca.crt"),
        crt: Path::new(client).join("tls.crt"),
        key: Path::new(client).join("tls.key"),
    }
}

/// The registration decides how to sign in; what is left over from another way is not used.
#[test]
fn credentials_by_registration() {
    let https = |mode| Machine::new().registered(USER, "a b", "https://gateway.example:1", mode);
    let token = format!("{USER}/gateways/a b/oidc_token.json");
    // Every character of a name that is unusual is `_` in the directory of its certificates.
    let dir = format!("{USER}/gateways/a_b/mtls");
    let mtls = files(&dir, &dir);
    let ca = Path::new(&dir).join("ca.crt");
    let oidc = |mtls, ca| Auth::Oidc {
        token: token.clone().into(),
        mtls,
        ca,
    };
    for (machine, expected) in [
        (https(None), Auth::None),
        (https(None).unreadable(&token), Auth::None),
        (
            https(Some("mtls")).unreadable(&token).certificate(&dir),
            Auth::Mtls(mtls.clone()),
        ),
        (
            https(None).unreadable(ca.to_str().unwrap()),
            Auth::ServerCaOnly { ca: ca.clone() },
        ),
        (https(Some("oidc")), oidc(None, None)),
        (
            https(Some("oidc")).unreadable(ca.to_str().unwrap()),
            oidc(None, Some(ca.clone())),
        ),
        (
            https(Some("oidc")).certificate(&dir),
            oidc(Some(mtls.clone()), Some(ca.clone())),
        ),
    ] {
        assert_eq!(machine.find(Some("a b")).unwrap().auth, expected);
    }
    let unknown = https(Some("cloudflare_jwt")).find(Some("a b")).unwrap_err();
    assert!(
        matches!(unknown, DiscoverError::UnknownMode { .. }),
        "{unknown}"
    );
    for missing in ["ca.crt", "tls.crt", "tls.key"] {
        let mut machine = https(None).certificate(&dir);
        machine.files.remove(&Path::new(&dir).join(missing));
        let error = machine.find(Some("a b")).unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
    }
}

/// A gateway on this machine leaves its user's certificate in its state; it is for this machine only.
#[test]
fn local_certificates_are_for_this_machine() {
    let at = |machine: Machine, ca: &str| {
        let client = format!("{ca}/client");
        machine
            .unreadable(&format!("{ca}/ca.crt"))
            .unreadable(&format!("{client}/tls.crt"))
            .unreadable(&format!("{client}/tls.key"))
    };
    let state = "/h/.local/state/openshell/tls";
    for (machine, dir) in [
        (at(Machine::new(), state), state),
        (
            at(
                Machine::new().var("XDG_STATE_HOME", "/s"),
                "/s/openshell/tls",
            ),
            "/s/openshell/tls",
        ),
        (
            at(Machine::new().var("OPENSHELL_LOCAL_TLS_DIR", "/t"), "/t"),
            "/t",
        ),
    ] {
        let found = machine.find(Some("https://127.0.0.1:17670")).unwrap();
        assert_eq!(found.auth, Auth::Mtls(files(dir, &format!("{dir}/client"))));
        let elsewhere = machine.find(Some("https://gateway.example:17670")).unwrap();
        assert_eq!(elsewhere.auth, Auth::None);
    }
}

/// What is no registration is an error that does not quote it.
#[test]
fn a_broken_registration_is_refused_without_quoting_it() {
    for text in ["", "hunter2", "{}", r#"{"gateway_endpoint":["hunter2"]}"#] {
        let machine = Machine::new().file(&format!("{USER}/gateways/a/metadata.json"), text);
        let error = machine.find(Some("a")).unwrap_err();
        assert!(matches!(error, DiscoverError::Unreadable { .. }), "{text}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
