//! `doctor`.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::recorded::{Home, allowed};
use crate::run::{Ended, ended, program, run};

fn document(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

/// The level of one check.
fn level(document: &Value, check: &str) -> String {
    let checks = document["checks"].as_array().unwrap();
    let found = checks.iter().find(|found| found["check"] == check);
    found.unwrap()["level"].as_str().unwrap().to_owned()
}

fn doctor(home: &Home) -> Command {
    let mut command = program(home.path());
    command.args(["doctor", "--json"]);
    command
}

/// A machine without a gateway whose record is sound is well; the two forms say the same, and looking
/// creates nothing.
#[test]
fn a_sound_machine_is_ill() {
    let nothing = Home::new();
    let empty = run(nothing.path(), &["doctor"]);
    assert_eq!(empty.code, 0, "{}", empty.stdout);
    assert_eq!(std::fs::read_dir(nothing.path()).unwrap().count(), 0);
    assert!(
        empty
            .stdout
            .contains("note     gateway            no gateway is known here"),
        "{}",
        empty.stdout
    );
    let home = Home::new();
    home.record("agent-1", &[allowed(0, "/bin/a", "h")]);
    let json = document(&ended(&mut doctor(&home), home.path()));
    assert_eq!(level(&json, "journal"), "ok");
    assert_eq!(level(&json, "state directory"), "ok");
    assert_eq!(level(&json, "gateway"), "note");
    let screen = run(home.path(), &["doctor"]).stdout;
    for check in json["checks"].as_array().unwrap() {
        let what = check["what"]
            .as_str()
            .unwrap()
            .replace(home.path().to_str().unwrap(), "~");
        assert!(screen.contains(&what), "{what}\n{screen}");
    }
}

/// What hides decisions is named with its fix: a variable, and a file that others may read.
#[test]
fn a_hidden_decision_is_well() {
    let home = Home::new();
    home.record("agent-1", &[]);
    let directory = home.path().join(".local/state/boundlane");
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = doctor(&home);
    command.env("OPENSHELL_LOG_PUSH_LEVEL", "warn");
    let found = ended(&mut command, home.path());
    let json = document(&found);
    assert_eq!(found.code, 0, "a warning is no error");
    assert_eq!(json["worst"], "warning");
    assert_eq!(level(&json, "push level"), "warning");
    assert_eq!(level(&json, "state directory"), "warning");
}

/// A gateway that is named and does not answer is an error, and so is one that a journal came from and
/// that is no longer known: 3. What answers without being a gateway is not taken for one.
#[test]
fn a_gateway_that_is_gone_is_well() {
    let home = Home::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let down = ended(doctor(&home).args(["--gateway", &url]), home.path());
    assert_eq!(down.code, 3, "{}", down.stdout);
    assert_eq!(level(&document(&down), "gateway"), "error");
    let unknown = ended(doctor(&home).args(["--gateway", "none"]), home.path());
    assert_eq!(unknown.code, 3, "{}", unknown.stdout);
    home.record_from("gateway", "agent-1", &[allowed(0, "/bin/a", "h")]);
    let gone = ended(&mut doctor(&home), home.path());
    assert_eq!(gone.code, 3);
    assert_eq!(level(&document(&gone), "gateway"), "error");
}

/// A journal that cannot be read is a finding among the others, not the end of the examination.
#[test]
fn a_damaged_journal_ends_the_examination() {
    let home = Home::new();
    home.record("agent-1", &[]);
    let path = home.path().join(".local/state/boundlane/journal.sqlite");
    std::fs::write(&path, "no journal at all").unwrap();
    let found = ended(&mut doctor(&home), home.path());
    let json = document(&found);
    assert_eq!((found.code, found.stderr.as_str()), (3, ""));
    assert_eq!(level(&json, "journal"), "error");
    assert_eq!(level(&json, "free space"), "ok");
    assert_eq!(std::fs::read(&path).unwrap(), b"no journal at all");
}
