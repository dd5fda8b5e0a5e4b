//! Each rule of finding a gateway, over a machine that exists in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{Discover, DiscoverError, Surroundings, discover};
use crate::{Auth, ClientFiles, Found, Names, Target};

const USER: &str = "/h/.config/openshell";
const SYSTEM: &str = "/etc/openshell";

/// Variables and files; a file without a text is there and cannot be read.
#[derive(Default, Clone)]
struct Machine {
    vars: BTreeMap<String, String>,
    files: BTreeMap<PathBuf, Option<String>>,
}

impl Machine {
    fn new() -> Machine {
        Machine::default().var("HOME", "/h")
    }

    fn var(mut self, name: &str, value: &str) -> Machine {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(mut self, path: &str, text: &str) -> Machine {
        self.files.insert(path.into(), Some(text.to_owned()));
        self
    }

    fn unreadable(mut self, path: &str) -> Machine {
        self.files.insert(path.into(), None);
        self
    }

    fn registered(self, root: &str, name: &str, endpoint: &str, mode: Option<&str>) -> Machine {
        let mode = mode.map_or(String::new(), |mode| format!(r#","auth_mode":"{mode}""#));
        let text = format!(
            r#"{{"name":"{name}","gateway_endpoint":"{endpoint}","is_remote":false,"newer":[1]{mode}}}"#
        );
        self.file(&format!("{root}/gateways/{name}/metadata.json"), &text)
    }

    fn certificate(self, dir: &str) -> Machine {
        ["ca.crt", "tls.crt", "tls.key"]
            .iter()
            .fold(self, |machine, name| {
                machine.unreadable(&format!("{dir}/{name}"))
            })
    }

    fn find(&self, gateway: Option<&str>) -> Result<Target, DiscoverError> {
        let wanted = Discover {
            gateway,
            ..Discover::default()
        };
        discover(&wanted, self)
    }

    fn endpoint(&self, gateway: Option<&str>) -> String {
        self.find(gateway).unwrap().endpoint
    }
}

impl Surroundings for Machine {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        match self.files.get(path) {
            Some(Some(text)) => Ok(text.clone()),
            Some(None) => Err(io::ErrorKind::PermissionDenied.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn has(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    fn names(&self, dir: &Path) -> Vec<String> {
        let below = |path: &PathBuf| {
            let first = path.strip_prefix(dir).ok()?.components().next()?;
            Some(first.as_os_str().to_str()?.to_owned())
        };
        let mut names: Vec<String> = self.files.keys().filter_map(below).collect();
        names.dedup();
        names
    }
}

/// A machine on which everything names a gateway, each another.
fn crowded() -> Machine {
    ["flag", "named", "active"]
        .iter()
        .fold(Machine::new(), |machine, name| {
            machine.registered(
                USER,
                name,
                &format!("http://localhost:{}", name.len()),
                None,
            )
        })
        .registered(SYSTEM, "system", "http://localhost:7", None)
        .var("OPENSHELL_GATEWAY_ENDPOINT", "http://localhost:99")
        .var("OPENSHELL_GATEWAY", "named")
        .file(&format!("{USER}/active_gateway"), "active\n")
        .file(&format!("{SYSTEM}/active_gateway"), " system ")
}

/// The caller, then variables, then the user's file, then the system's.
#[test]
fn what_names_a_gateway_in_order() {
    let found = |machine: &Machine, gateway| {
        let target = machine.find(gateway).unwrap();
        (
            target.name.unwrap_or_default(),
            target.endpoint,
            target.found,
        )
    };
    let at = |name: &str, port, found| (name.to_owned(), format!("http://localhost:{port}"), found);
    let mut machine = crowded();
    assert_eq!(found(&machine, Some(" flag ")), at("flag", 4, Found::Flag));
    let url = Some("http://localhost:98");
    assert_eq!(found(&machine, url), at("named", 98, Found::Flag));
    assert_eq!(found(&machine, None), at("named", 99, Found::Variable));
    assert_eq!(found(&machine, Some(" ")), at("named", 99, Found::Variable));
    machine = machine.var("OPENSHELL_GATEWAY_ENDPOINT", " ");
    assert_eq!(found(&machine, None), at("named", 5, Found::Variable));
    machine = machine.var("OPENSHELL_GATEWAY", "\t");
    assert_eq!(found(&machine, None), at("active", 6, Found::ActiveFile));
    machine = machine.file(&format!("{USER}/active_gateway"), "\n");
    assert_eq!(found(&machine, None), at("system", 7, Found::SystemFile));
    machine.files.clear();
    let error = machine.find(None).unwrap_err();
    assert!(matches!(error, DiscoverError::NotInstalled { ref looked } if looked.len() == 2));
}

/// A file of the user that is there and cannot be read hides the system's, and the error says so.
#[test]
fn an_unreadable_user_file_shadows_the_system_one() {
    let active = crowded()
        .var("OPENSHELL_GATEWAY_ENDPOINT", "")
        .var("OPENSHELL_GATEWAY", "")
        .unreadable(&format!("{USER}/active_gateway"));
    let both = Machine::new()
        .registered(SYSTEM, "a", "http://localhost:1", None)
        .unreadable(&format!("{USER}/gateways/a/metadata.json"));
    for (machine, gateway) in [(active, None), (both.clone(), Some("a"))] {
        let error = machine.find(gateway).unwrap_err();
        assert!(matches!(error, DiscoverError::Unreadable { .. }), "{error}");
    }
    let neither = Machine::new().registered(SYSTEM, "a", "http://localhost:1", None);
    assert_eq!(neither.endpoint(Some("a")), "http://localhost:1");
    // An address is looked up among the registrations that can be read.
    let known = both.registered(SYSTEM, "b", "http://LOCALHOST:2/", None);
    let target = known.find(Some("http://localhost:2")).unwrap();
    assert_eq!(target.name.as_deref(), Some("b"));
}

/// A name is one part of a path, wherever it comes from.
#[test]
fn a_name_that_leaves_the_directory_is_refused() {
    for name in ["..", ".", "../x", "/etc", "a/b", "a\\b", "a\u{0}b", "a\nb"] {
        let by_variable = Machine::new().var("OPENSHELL_GATEWAY", name);
        let by_file = Machine::new().file(&format!("{USER}/active_gateway"), name);
        let with_url = by_variable
            .clone()
            .var("OPENSHELL_GATEWAY_ENDPOINT", "http://localhost:1");
        for (machine, gateway) in [
            (Machine::new(), Some(name)),
            (by_variable, None),
            (by_file, None),
            (with_url, None),
        ] {
            let error = machine.find(gateway).unwrap_err();
            assert!(matches!(error, DiscoverError::BadName { .. }), "{name:?}");
        }
    }
    let error = Machine::new().find(Some("127.0.0.1:17670")).unwrap_err();
    assert!(
        error.to_string().contains("begins with `http://`"),
        "{error}"
    );
}

/// Directories follow the variables, but not to a relative place.
#[test]
fn directories_follow_their_variables() {
    let at = |root: &str| Machine::new().registered(root, "a", "http://localhost:1", None);
    for (machine, is_found) in [
        (at("/x/openshell").var("XDG_CONFIG_HOME", "/x"), true),
        (at(USER).var("XDG_CONFIG_HOME", " "), true),
        (at(USER).var("XDG_CONFIG_HOME", "x"), true),
        (at("/s").var("OPENSHELL_SYSTEM_GATEWAY_DIR", "/s"), true),
        (at(SYSTEM).var("OPENSHELL_SYSTEM_GATEWAY_DIR", ""), true),
        (at(SYSTEM).var("OPENSHELL_SYSTEM_GATEWAY_DIR", "s"), true),
        (at(SYSTEM).var("OPENSHELL_SYSTEM_GATEWAY_DIR", "/s"), false),
        (at(SYSTEM).var("HOME", ""), true),
        (at(USER).var("HOME", ""), false),
    ] {
        let found = machine.find(Some("a"));
        assert_eq!(found.is_ok(), is_found, "{:?} {found:?}", machine.vars);
    }
}

/// A renamed product is found by its names.
#[test]
fn names_are_configuration() {
    let names = Names {
        package: "ryno.v1".to_owned(),
        service: "Ryno".to_owned(),
        env_prefix: "RYNO".to_owned(),
        dir: "ryno".to_owned(),
    };
    let machine = Machine::new()
        .var("OPENSHELL_GATEWAY", "a")
        .var("RYNO_GATEWAY", "b")
        .var("RYNO_WORKSPACE", "w")
        .registered("/h/.config/ryno", "b", "http://localhost:2", None);
    let wanted = Discover {
        names: names.clone(),
        ..Discover::default()
    };
    let target = discover(&wanted, &machine).unwrap();
    assert_eq!(target.endpoint, "http://localhost:2");
    assert_eq!((target.workspace.as_str(), target.names), ("w", names));
}

/// The workspace and the switch that skips verification.
#[test]
fn workspace_and_insecure() {
    let machine = |name: &str, value: &str| {
        Machine::new()
            .var("OPENSHELL_GATEWAY_ENDPOINT", "https://localhost:1")
            .var(name, value)
    };
    for (value, flag, expected) in [
        ("", None, "default"),
        (" team ", None, "team"),
        ("team", Some(" mine "), "mine"),
        ("team", Some(""), "team"),
    ] {
        let wanted = Discover {
            workspace: flag,
            ..Discover::default()
        };
        let target = discover(&wanted, &machine("OPENSHELL_WORKSPACE", value)).unwrap();
        assert_eq!(target.workspace, expected);
    }
    for (value, skips) in [
        ("1", true),
        ("yes", true),
        ("0", false),
        ("false", false),
        (" ", false),
    ] {
        let target = machine("OPENSHELL_GATEWAY_INSECURE", value).find(None);
        assert_eq!(target.unwrap().skip_verification, skips, "{value:?}");
    }
}

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
