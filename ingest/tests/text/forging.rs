//! Newlines in text that a sandbox chose: what they start looks like a record and is not.

use super::support::{row, rows};

const PREFIXED: &str = "[1791068681.547] [sandbox] [OCSF ] [ocsf] ";

/// A denial whose executable has a newline in its name: the denial is counted, and what follows the
/// newline is never a plain record.
#[test]
fn denial_with_a_newline_in_its_name_is_still_a_denial() {
    let forged = format!(
        "{PREFIXED}NET:OPEN [MED] DENIED /tmp/x\nOCSF NET:OPEN [INFO] ALLOWED curl(1) -> ok.example:443 (9) -> evil.example:443 [policy:- engine:opa]\n"
    );
    let rows = rows(&forged);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].outcome.as_deref(), Some("denied"));
    assert_eq!(rows[0].flags.as_deref(), Some("bad_body"));
    assert_eq!(rows[0].message.as_deref(), Some("/tmp/x"));
    assert_eq!(rows[1].continuation, Some(true));
    assert!(rows[1].raw.as_deref().unwrap().contains("evil.example"));
}

/// The forged record of a CLI line with a level that is not padded is kept and never counted as allowed.
#[test]
fn forged_prefix_that_the_cli_never_prints_is_no_decision() {
    let forged = format!(
        "{PREFIXED}PROC:LAUNCH [INFO] x\n[123.000] [sandbox] [INFO] [ocsf] NET:OPEN [INFO] ALLOWED a(1) -> b.example:443\n"
    );
    let rows = rows(&forged);
    assert_eq!(rows[1].kind.as_deref(), Some("unparsed"));
    assert_eq!(rows[1].cause.as_deref(), Some("unknown_form"));
    assert!(rows[1].raw.as_deref().unwrap().contains("ALLOWED"));
}

/// Behind a prefixed record, a bare line that looks like tracing may be the rest of that record: it is
/// kept. In a file of bare lines it is tracing.
#[test]
fn tracing_without_a_time_behind_a_record_is_kept() {
    let rows = rows(&format!(
        "{PREFIXED}NET:CLOSE [INFO]\nINFO a::b: -> evil.example:443\n"
    ));
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].cause.as_deref(), Some("unknown_form"));
    assert_eq!(rows[1].continuation, Some(true));
    assert_eq!(
        super::support::rows("NET:CLOSE [INFO]\nINFO a::b: text\n").len(),
        1
    );
}

/// A JSON object behind a line of text can be forged as any other line can.
#[test]
fn json_behind_a_prefixed_line_is_not_trusted_as_framed() {
    let json = r#"{"class_uid":4001,"action_id":1,"time":1}"#;
    let mixed = rows(&format!("{PREFIXED}NET:CLOSE [INFO]\n{json}\n"));
    assert_eq!(mixed[1].continuation, Some(true));
    assert_eq!(mixed[1].trust.as_deref(), Some("text"));
    let alone = row(json);
    assert_eq!(
        (alone.continuation, alone.trust.as_deref()),
        (None, Some("framed"))
    );
}

/// A name that makes the destination readable in two ways: the denial is counted, nothing is guessed,
/// and a forged reason cannot turn it into a reset.
#[test]
fn ambiguous_denial_is_counted_and_not_guessed() {
    let name = "/tmp/x(1) -> good.example:443 [reason:L7 tunnel closed before inspection because policy changed";
    let row = row(&format!(
        "NET:OPEN [MED] DENIED {name}(77) -> evil.example:443 [policy:- engine:opa] [reason:not allowed]"
    ));
    assert_eq!(row.outcome.as_deref(), Some("denied"));
    assert_eq!(row.flags.as_deref(), Some("ambiguous"));
    assert_eq!(
        (row.host.as_deref(), row.process.as_deref(), row.disposition),
        (None, None, None)
    );
}

/// A client may call its method as an action is called; the place in front of the URL tells.
#[test]
fn method_called_like_an_action_is_no_action() {
    let with = row("HTTP:DENIED [INFO] ALLOWED DENIED http://h.example/x");
    assert_eq!(
        (with.outcome.as_deref(), with.method.as_deref()),
        (Some("allowed"), Some("DENIED"))
    );
    let without = row("HTTP:ALLOWED [INFO] ALLOWED http://h.example/x");
    assert_eq!(
        (without.kind.as_deref(), without.action),
        (Some("event"), None)
    );
    let unknown = row("HTTP:UNKNOWN [INFO] UNKNOWN ");
    assert_eq!(
        (unknown.kind.as_deref(), unknown.method.as_deref()),
        (Some("event"), Some("UNKNOWN"))
    );
    let both = row("HTTP:UNKNOWN [INFO] UNKNOWN UNKNOWN  [reason:x]");
    assert_eq!(
        (both.outcome.as_deref(), both.method.as_deref()),
        (Some("other"), Some("UNKNOWN"))
    );
}

/// A name with many places to split takes no more time than a longer one, and is not guessed.
#[test]
fn name_of_a_thousand_arrows_is_ambiguous() {
    let name = "(1) -> a.example:1 [policy:p engine:e] ".repeat(1000);
    let row = row(&format!("NET:OPEN [MED] DENIED /x{name}(2) -> b.example:2"));
    assert_eq!(row.outcome.as_deref(), Some("denied"));
    assert!(row.flags.is_some() && row.host.is_none());
}
