//! The crates of the workspace depend on each other only along the arrows of the architecture.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Who may depend on whom, in layer order. `tests` and `benches` may use everything; nothing uses them.
const ARROWS: &[(&str, &[&str])] = &[
    ("boundlane-record", &[]),
    ("boundlane-powercut", &[]),
    ("boundlane-ingest", &["boundlane-record"]),
    (
        "boundlane-gateway",
        &["boundlane-record", "boundlane-ingest"],
    ),
    ("boundlane-store", &["boundlane-record"]),
    ("boundlane-archive", &["boundlane-record"]),
    (
        "boundlane-query",
        &["boundlane-record", "boundlane-archive"],
    ),
    (
        "boundlane",
        &[
            "boundlane-record",
            "boundlane-ingest",
            "boundlane-gateway",
            "boundlane-store",
            "boundlane-archive",
            "boundlane-query",
        ],
    ),
];

const USE_EVERYTHING: &[&str] = &["boundlane-tests", "boundlane-benches"];

/// Crates that must not be reached from a crate, however indirectly: the heavy ones stay at the edges.
const NEVER: &[(&str, &[&str])] = &[
    (
        "boundlane-record",
        &["tokio", "rusqlite", "arrow", "chrono", "datafusion"],
    ),
    (
        "boundlane-ingest",
        &["tokio", "rusqlite", "arrow", "datafusion"],
    ),
    (
        "boundlane-store",
        &["tokio", "arrow", "reqwest", "hyper", "datafusion"],
    ),
    ("boundlane-archive", &["rusqlite", "datafusion"]),
    ("boundlane-query", &["rusqlite"]),
];

struct Metadata(serde_json::Value);

impl Metadata {
    fn read() -> Metadata {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked", "--offline"])
            .args(["--filter-platform", &host()])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Metadata(serde_json::from_slice(&output.stdout).unwrap())
    }

    fn packages(&self) -> &Vec<serde_json::Value> {
        self.0["packages"].as_array().unwrap()
    }

    /// The normal and build dependencies of each member on other members.
    fn arrows(&self) -> BTreeMap<String, BTreeSet<String>> {
        let ours = |package: &&serde_json::Value| package["source"].is_null();
        let arrow = |dependency: &serde_json::Value| {
            let local = dependency["path"].is_string() && dependency["kind"] != "dev";
            local.then(|| dependency["name"].as_str().unwrap().to_owned())
        };
        let arrows = |package: &serde_json::Value| {
            package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(arrow)
                .collect()
        };
        self.packages()
            .iter()
            .filter(ours)
            .map(|package| {
                (
                    package["name"].as_str().unwrap().to_owned(),
                    arrows(package),
                )
            })
            .collect()
    }

    /// Everything that `name` is built with, by name.
    fn reached_from(&self, name: &str) -> BTreeSet<String> {
        let nodes = self.0["resolve"]["nodes"].as_array().unwrap();
        let names: BTreeMap<&str, &str> = self
            .packages()
            .iter()
            .map(|package| {
                (
                    package["id"].as_str().unwrap(),
                    package["name"].as_str().unwrap(),
                )
            })
            .collect();
        let edges: BTreeMap<&str, Vec<&str>> = nodes
            .iter()
            .map(|node| (node["id"].as_str().unwrap(), normal_edges(node)))
            .collect();
        let start = names.iter().find(|(_, known)| **known == name).unwrap().0;
        let mut seen = BTreeSet::from([*start]);
        let mut queue = vec![*start];
        while let Some(id) = queue.pop() {
            queue.extend(edges[id].iter().filter(|next| seen.insert(**next)));
        }
        seen.into_iter().map(|id| names[id].to_owned()).collect()
    }
}

/// The triple that this test was built for, so that crates of other platforms need not be fetched.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_owned()
}

fn normal_edges(node: &serde_json::Value) -> Vec<&str> {
    let normal = |edge: &&serde_json::Value| {
        edge["dep_kinds"]
            .as_array()
            .unwrap()
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    let edges = node["deps"].as_array().unwrap().iter().filter(normal);
    edges.map(|edge| edge["pkg"].as_str().unwrap()).collect()
}

/// A new arrow between crates fails here until the architecture says that it may be.
#[test]
fn a_new_arrow_between_crates_is_refused() {
    let mut found = Metadata::read().arrows();
    for name in USE_EVERYTHING {
        found.remove(*name).unwrap();
    }
    for (name, targets) in &found {
        for target in USE_EVERYTHING {
            assert!(!targets.contains(*target), "`{name}` depends on `{target}`");
        }
    }
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for (name, targets) in &found {
        let allowed = allowed.get(name.as_str());
        let allowed = allowed.unwrap_or_else(|| panic!("`{name}` has no place in the layers"));
        for target in targets {
            assert!(
                allowed.contains(&target.as_str()),
                "new arrow `{name}` -> `{target}`"
            );
        }
    }
    assert_eq!(
        found.len(),
        ARROWS.len(),
        "a crate is gone from the workspace"
    );
}

/// Light crates stay light: none of them reaches a crate that its layer must not see.
#[test]
fn a_heavy_crate_below_its_layer_is_refused() {
    let metadata = Metadata::read();
    for (name, never) in NEVER {
        let reached = metadata.reached_from(name);
        for heavy in *never {
            assert!(!reached.contains(*heavy), "`{name}` reaches `{heavy}`");
        }
    }
}
