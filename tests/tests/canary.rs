//! A secret placed in every part of every kind of line is found in no file, output, error or log.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::path::Path;

use boundlane_archive::{Root, list};
use boundlane_record::Seq;
use boundlane_store::{Found, Reader, Select, StateDir};
use boundlane_tests::Home;

/// No word, path or pattern of the program holds this.
const CANARY: &str = "qZ7xCanary4Kd9Wm2Vt6Rp8";

/// Texts that hold the canary in a shape that is recognised anywhere.
fn secrets() -> Vec<String> {
    let long = format!("{CANARY}{CANARY}");
    vec![
        format!("https://h.example/x?token={CANARY}"),
        format!("https://h.example/x?page=1&u={CANARY}"),
        format!("https://user:{CANARY}@h.example/x"),
        format!("https://{CANARY}@h.example/x"),
        format!("https://h.example/x#{CANARY}"),
        format!("Authorization: Bearer {CANARY}"),
        format!("Proxy-Authorization: Basic {CANARY}"),
        format!("Cookie: sid={CANARY}"),
        format!("curl -u user:{CANARY} h.example"),
        format!("api_key={CANARY}"),
        format!("--password {CANARY}"),
        format!("--access-key={CANARY}"),
        format!("client_secret: {CANARY}"),
        format!("%74oken={CANARY}"),
        format!("TOKEN%3D{CANARY}"),
        format!(r"token\u{{3d}}{CANARY}"),
        format!("ghp_{}", &long[..36]),
        format!("glpat-{}", &long[..20]),
        format!("sk-ant-api03-{long}"),
        format!("npm_{}", &long[..36]),
        format!("hf_{}", &long[..34]),
        format!("sk_live_{}", &long[..24]),
        format!("https://h.example/t/{CANARY}/pkg"),
        format!(
            "https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{}",
            &long[..24]
        ),
        format!("-----BEGIN PRIVATE KEY-----{CANARY}-----END PRIVATE KEY-----"),
    ]
}

/// Lines of every form and class, with `secret` wherever a sandbox can put text.
fn lines(secret: &str) -> Vec<String> {
    let json_secret = serde_json::to_string(secret).unwrap();
    let shorthand = [
        format!(
            "NET:OPEN [MED] DENIED /usr/bin/{secret}(7) -> h.example:443 [policy:- engine:opa] [reason:{secret}]"
        ),
        format!(
            "NET:OPEN [MED] DENIED /usr/bin/curl(7) -> {secret}:443 [policy:{secret} engine:{secret}]"
        ),
        format!("NET:OPEN [INFO] [msg:{secret}]"),
        format!(
            "HTTP:GET [MED] DENIED GET http://h.example/{secret} [policy:p engine:l7] [reason:FORWARD denied GET {secret}]"
        ),
        format!(
            "HTTP:GET [INFO] ALLOWED curl(7) -> GET {secret} [policy:p engine:l7] [attempt:2 note:{secret}]"
        ),
        format!("API:INFERENCE [INFO] Success {secret} via {secret} 12ms [{secret}]"),
        format!("SSH:OPEN [INFO] ALLOWED 10.0.0.1:22 [auth:{secret}]"),
        format!("PROC:LAUNCH [INFO] {secret}(9) [cmd:{secret}]"),
        format!("FINDING:CREATE [MED] \"{secret}\" [type:{secret} confidence:high]"),
        format!("LIFECYCLE:START [INFO] {secret} success"),
        format!("CONFIG:LOADED [INFO] {secret} [policy_hash:{secret}]"),
        format!("EVENT [INFO] {secret} [a:{secret}]"),
        format!("AUDIT:NEW [CRIT] {secret}"),
        format!("NET:OPEN broken {secret}"),
    ];
    let mut all = Vec::new();
    for body in shorthand {
        all.push(format!("[1791291600.001] [sandbox] [OCSF ] [ocsf] {body}"));
        all.push(format!("2026-04-01T04:04:32.190Z OCSF {body}"));
        all.push(body);
    }
    all.push(format!(
        "[1791291600.001] [sandbox] [INFO ] [openshell_sandbox] tracing {secret}"
    ));
    all.push(format!(
        "action=deny dst_host=h.example dst_port=443 binary=/bin/x deny_reason=\"{secret}\""
    ));
    all.push(format!("l7_decision=deny dst_host=h.example l7_action=GET l7_target={secret} l7_deny_reason=\"{secret}\""));
    all.push(format!("nothing that is known {secret}"));
    all.push(format!(
        r#"{{"class_uid":4001,"class_name":"Network Activity","category_uid":4,"activity_id":1,"activity_name":"Open","type_uid":400101,"time":1791291600001,"severity_id":3,"severity":"Medium","action_id":2,"action":"Denied","message":{json_secret},"status_detail":{json_secret},"metadata":{{"version":"1.8.0","product":{{"name":"OpenShell Sandbox Supervisor","vendor_name":"OpenShell"}}}},"dst_endpoint":{{"domain":{json_secret},"port":443}},"actor":{{"process":{{"name":{json_secret},"pid":7,"cmd_line":{json_secret}}}}},"unmapped":{{"x":{json_secret},"list":[{json_secret}]}}}}"#
    ));
    all.push(format!(r#"{{"broken": {json_secret}"#));
    all
}

/// The canary, also where only its case or a part of it is left.
fn holds_canary(bytes: &[u8]) -> bool {
    let needle = &CANARY.as_bytes()[..12];
    bytes
        .windows(needle.len())
        .any(|window| window.eq_ignore_ascii_case(needle))
}

fn every_file(directory: &Path, check: &mut dyn FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => every_file(&path, check),
            false => check(&path, &std::fs::read(&path).unwrap()),
        }
    }
}

fn check_decoded(state: &Path) {
    let reader = Reader::open(&StateDir::at(state)).unwrap().unwrap();
    let leaked = reader.each_entry(Select::all(), |found| match found {
        Found::Entry(_, entry) if !holds_canary(entry) => ControlFlow::Continue(()),
        Found::Entry(_, entry) => ControlFlow::Break(String::from_utf8_lossy(entry).into_owned()),
        other => panic!("{other:?}"),
    });
    assert_eq!(leaked.unwrap(), None, "in the journal");
    let listing = list(&Root::at(state.join("archive")));
    assert!(!listing.files.is_empty());
    for file in &listing.files {
        let open = file.open().unwrap();
        let mut entries = open.entries(Seq::FIRST);
        while let Some(entry) = entries.next() {
            let (seq, entry) = entry.unwrap();
            assert!(!holds_canary(entry), "entry {seq} in the archive");
        }
    }
}

/// One run over all lines with all secrets; then every command and every form of output.
#[test]
fn a_secret_in_any_part_of_any_line_is_found_somewhere() {
    let home = Home::new();
    let text: String = secrets()
        .iter()
        .flat_map(|secret| lines(secret))
        .map(|line| line + "\n")
        .collect();
    assert!(holds_canary(text.as_bytes()));
    let log = home.file("agent.log", &text);
    let log = log.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["-vv", "ingest", log, "--sandbox", "canary"],
        &["-vv", "ingest", log, "--sandbox", "canary", "--json"],
        &["-vv", "log", "canary"],
        &["-vv", "log", "canary", "--raw"],
        &["-vv", "log", "canary", "--deny"],
        &["-vv", "log", "canary", "-o", "jsonl"],
        &["-vv", "log", "canary", "-o", "csv"],
        &["-vv", "log", "--list"],
        &["-vv", "query", "-o", "json"],
        &["-vv", "query", "denied"],
        &["-vv", "query", "SELECT * FROM entries", "-o", "csv"],
        &["-vv", "status", "--json"],
        &["-vv", "fsck"],
        &["-vv", "config"],
    ];
    for command in commands {
        let ran = home.run(*command).ok();
        assert!(!holds_canary(&ran.0.stdout), "{command:?} prints it");
        assert!(
            !holds_canary(&ran.0.stderr),
            "{command:?} says it on standard error"
        );
    }
    every_file(&home.state(), &mut |path, bytes| {
        assert!(!holds_canary(bytes), "in {}", path.display());
    });
    check_decoded(&home.state());
    let unparsed = home
        .run([
            "query",
            "SELECT count(*) AS n FROM entries WHERE kind <> 'session'",
            "-o",
            "jsonl",
        ])
        .ok();
    assert!(
        unparsed.json_lines()[0]["n"].as_u64().unwrap() > 1000,
        "the lines were recorded"
    );
}

/// The program's own failures do not repeat what they were given.
#[test]
fn an_error_message_holds_what_a_line_or_a_setting_said() {
    let home = Home::new();
    let config = home.file("config.toml", format!("redact = [\"({CANARY}\"]\n"));
    let log = home.file("agent.log", "OCSF NET:OPEN [INFO] ALLOWED\n");
    let arguments = [
        "--config",
        config.to_str().unwrap(),
        "-vv",
        "ingest",
        log.to_str().unwrap(),
        "--sandbox",
        "x",
    ];
    let ran = home.run(arguments).ended_with(2);
    assert!(!holds_canary(&ran.0.stderr), "{}", ran.stderr());
    assert!(ran.stderr().contains("redact"), "{}", ran.stderr());
    assert!(!home.state().exists(), "nothing was written");
}
