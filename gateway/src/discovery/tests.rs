//! Each rule of finding a gateway, over a machine that exists in memory.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sign_in;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{Discover, DiscoverError, Surroundings, discover};
use crate::{Found, Names, Target};

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
        ("False", false),
        (" ", false),
    ] {
        let target = machine("OPENSHELL_GATEWAY_INSECURE", value).find(None);
        assert_eq!(target.unwrap().skip_verification, skips, "{value:?}");
    }
}
