//! Forced formats, times, old forms.

use boundlane_ingest::{DateYmd, DecodeOptions, Decoded, Format, Ignored};
use boundlane_record::Micros;

use super::support::{attributes, decode_all, decoder, row};

const CLI: &str = "[1775014132.118] [sandbox] [OCSF ] [ocsf] NET:CLOSE [INFO]";
const FILE: &str = "2026-04-01T04:04:32.190Z OCSF NET:CLOSE [INFO]";
const BARE: &str = "NET:CLOSE [INFO]";
const JSON: &str = r#"{"class_uid":4001}"#;
const KEY_VALUE: &str = "action=deny dst_host=a.example dst_port=443 binary=/bin/x";
const TRACING: &str = "[1775014132.118] [sandbox] [INFO ] [a::b] text";

/// A forced format takes its own form; others are unparsed, and blank lines and tracing stay ignored.
#[test]
fn other_forms_than_the_forced_one_are_unparsed() {
    let table = [
        (Format::Auto, [true, true, true, true, true]),
        (Format::CliText, [true, false, false, false, false]),
        (Format::Shorthand, [false, true, true, false, false]),
        (Format::Ocsf, [false, false, false, true, false]),
        (Format::KeyValue, [false, false, false, false, true]),
    ];
    for (format, taken) in table {
        let options = DecodeOptions {
            format,
            ..DecodeOptions::default()
        };
        for (line, taken) in [CLI, FILE, BARE, JSON, KEY_VALUE].into_iter().zip(taken) {
            let row = decode_all(&mut decoder(options), line.as_bytes())
                .remove(0)
                .1
                .unwrap();
            let cause = (!taken).then_some("other_format");
            assert_eq!(row.cause.as_deref(), cause, "{format:?} {line}");
        }
        let ignored = decode_all(&mut decoder(options), format!("{TRACING}\n \n").as_bytes());
        assert_eq!(ignored[0].0, Decoded::Ignored(Ignored::Tracing));
        assert_eq!(ignored[1].0, Decoded::Ignored(Ignored::Blank));
        assert_eq!(Format::from_word(format.word()), Some(format));
    }
}

/// A time of day becomes a time only with the day that was given.
#[test]
fn time_of_day_has_no_time_without_its_date() {
    let line = b"14:00:00.250 I SSH:OPEN ALLOWED 10.42.0.1:48201 [auth:NSSH1]";
    let bare = decode_all(&mut decoder(DecodeOptions::default()), line)
        .remove(0)
        .1
        .unwrap();
    assert_eq!((bare.time, bare.time_from), (None, None));
    let date = DateYmd::new(2026, 3, 20);
    let options = DecodeOptions {
        date,
        ..DecodeOptions::default()
    };
    let dated = decode_all(&mut decoder(options), line).remove(0).1.unwrap();
    assert_eq!(dated.time, Some(Micros(1_774_015_200_250_000)));
    assert_eq!(dated.time_from.as_deref(), Some("date_assumed"));
}

#[test]
fn time_that_cannot_be_kept_is_a_named_value() {
    let row = row("[999999999999.000] [sandbox] [OCSF ] [ocsf] NET:CLOSE [INFO]");
    assert_eq!((row.time, row.time_from.as_deref()), (None, None));
    assert_eq!(attributes(&row)["time"], "999999999999.000");
}

/// The fields of older gateways, quoted in files and bare in the CLI's text, behind every prefix.
#[test]
fn key_value_decisions_are_read_behind_every_prefix() {
    let file = row(
        r#"2026-03-30T10:00:00.000Z INFO openshell_sandbox::proxy: CONNECT action=deny binary="/opt/my app/x" binary_pid=42 dst_host=evil.example dst_port=443 engine=opa policy=- reason="no \"rule\" = here""#,
    );
    assert_eq!(
        (file.outcome.as_deref(), file.message.as_deref()),
        (Some("denied"), Some("CONNECT"))
    );
    assert_eq!(
        (file.process.as_deref(), file.pid),
        (Some("/opt/my app/x"), Some(42))
    );
    assert_eq!(
        (file.host.as_deref(), file.port),
        (Some("evil.example"), Some(443))
    );
    assert_eq!(
        (file.rule.as_deref(), file.engine.as_deref()),
        (None, Some("opa"))
    );
    let cli = row(
        "[1775014132.118] [sandbox] [INFO ] [a::b] L7_REQUEST dst_host=h.example l7_action=POST l7_decision=audit l7_target=/x?q=1",
    );
    assert_eq!(
        (cli.outcome.as_deref(), cli.action.as_deref()),
        (Some("would_deny"), Some("Allowed"))
    );
    assert_eq!(
        (cli.method.as_deref(), cli.path.as_deref()),
        (Some("POST"), Some("/x"))
    );
    let console = row(
        "\u{1b}[2m2026-08-18T12:46:59.157274Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \u{1b}[2ma::b\u{1b}[0m\u{1b}[2m:\u{1b}[0m CONNECT \u{1b}[3maction\u{1b}[0m\u{1b}[2m=\u{1b}[0mallow \u{1b}[3mdst_host\u{1b}[0m\u{1b}[2m=\u{1b}[0ma.example",
    );
    assert_eq!(
        (console.outcome.as_deref(), console.host.as_deref()),
        (Some("allowed"), Some("a.example"))
    );
    assert_eq!(console.time, Some(Micros(1_787_057_219_157_274)));
    assert!(console.raw.as_deref().unwrap().starts_with('\u{1b}'));
}

/// A key that comes twice was written by somebody else too: nothing of it is believed, and a denial holds.
#[test]
fn key_that_comes_twice_is_not_believed() {
    let row =
        row("CONNECT action=deny binary=/x dst_host=ok.example action=allow dst_host=evil.example");
    assert_eq!(
        (row.outcome.as_deref(), row.host.as_deref()),
        (Some("denied"), None)
    );
    assert_eq!(row.flags.as_deref(), Some("ambiguous"));
}

/// Newer gateways may put fields behind an event; the event is read without them.
#[test]
fn fields_behind_an_event_are_named_values() {
    let row = row(
        "[1.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /bin/a(1) -> b.example:1 [policy:p engine:opa] [reason:no] policy_generation=4 severity=MED",
    );
    assert_eq!(
        (row.reason.as_deref(), row.flags.as_deref()),
        (Some("no"), None)
    );
    assert_eq!(attributes(&row)["policy_generation"], "4");
}

/// An OCSF line whose head cannot be read says so; a severity that is new is kept as printed.
#[test]
fn headless_line_is_unparsed_and_a_new_severity_is_not() {
    let row = row("OCSF something else");
    assert_eq!(
        (row.kind.as_deref(), row.cause.as_deref()),
        (Some("unparsed"), Some("bad_head"))
    );
    let new = super::support::row("OCSF NET:OPEN [NOTICE] DENIED a.example:1");
    assert_eq!(
        (new.outcome.as_deref(), new.severity.as_deref()),
        (Some("denied"), Some("NOTICE"))
    );
}

/// Audit mode shows in the message of engine l7-mcp.
#[test]
fn audited_request_would_have_been_denied() {
    let row = row(
        "HTTP:POST [INFO] ALLOWED POST http://h.example:8766/mcp [policy:p engine:l7-mcp] [msg:JSONRPC_L7_REQUEST decision=audit tools=x]",
    );
    assert_eq!(row.outcome.as_deref(), Some("would_deny"));
}
