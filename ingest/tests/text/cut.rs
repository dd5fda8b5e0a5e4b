//! Lines that are too long, not UTF-8, or hold NULs.

use boundlane_ingest::{DecodeOptions, Decoded, LINE_BYTES_MAX};

use super::support::{attributes, decode_all, decoder, key, row, rows};

const ENTRY_BYTES_MAX: usize = 512 * 1024;

fn entry_len(row: &boundlane_record::Row<'_>) -> usize {
    let mut bytes = Vec::new();
    boundlane_record::canonical::encode(row, &mut bytes);
    bytes.len()
}

/// A sandbox that asks for a 5 MB path does not blind the log: its own line is kept by its head, with
/// everything that is counted, and the lines around it are seen.
#[test]
fn five_megabyte_path_is_one_record_among_others() {
    let path = "/segment".repeat(5 << 17);
    let long =
        format!("HTTP:GET [MED] DENIED GET http://evil.example:443{path} [policy:- engine:l7]");
    let input = format!("NET:CLOSE [INFO]\n{long}\nNET:CLOSE [INFO]\n");
    let rows = rows(&input);
    assert_eq!(rows.len(), 3);
    let cut = &rows[1];
    assert_eq!(cut.outcome.as_deref(), Some("denied"));
    assert_eq!(cut.host.as_deref(), Some("evil.example"));
    assert_eq!(
        (cut.truncated, cut.original_bytes),
        (Some(true), i64::try_from(long.len()).ok())
    );
    let digest = boundlane_record::tree::Hash(key().digest(long.as_bytes())).to_hex();
    assert_eq!(cut.digest.as_deref(), Some(digest.as_str()));
    assert!(entry_len(cut) <= ENTRY_BYTES_MAX);
    assert_eq!(rows[2].truncated, None);
}

/// A cut inside a reason or a command leaves what stands before it right.
#[test]
fn cut_group_keeps_what_stands_before_it() {
    let filler = "word ".repeat(LINE_BYTES_MAX / 4);
    let net = row(&format!(
        "NET:OPEN [MED] DENIED /bin/sh(7) -> evil.example:443 [policy:p engine:opa] [reason:{filler}]"
    ));
    assert_eq!(net.process.as_deref(), Some("/bin/sh"));
    assert_eq!(
        (net.rule.as_deref(), net.engine.as_deref()),
        (Some("p"), Some("opa"))
    );
    assert!(net.reason.as_deref().unwrap().starts_with("word word"));
    assert!(!net.raw.as_deref().unwrap().ends_with(']'));
    let proc = row(&format!("PROC:LAUNCH [INFO] sh(7) [cmd:{filler}]"));
    assert_eq!((proc.kind.as_deref(), proc.pid), (Some("event"), Some(7)));
    assert!(
        attributes(&proc)["cmd"]
            .as_str()
            .unwrap()
            .starts_with("word word")
    );
    assert!(entry_len(&proc) <= ENTRY_BYTES_MAX);
}

#[test]
fn cut_json_line_is_kept_as_oversize() {
    let line = format!(
        r#"{{"action_id":2,"class_uid":4001,"message":"{}"}}"#,
        "m ".repeat(200_000)
    );
    let row = row(&line);
    assert_eq!(
        (row.kind.as_deref(), row.cause.as_deref()),
        (Some("unparsed"), Some("oversize"))
    );
    assert_eq!(row.truncated, Some(true));
}

/// A line of controls grows six times when it is written: the entry still keeps its limit.
#[test]
fn entry_of_controls_keeps_its_limit() {
    let name = "\u{1}".repeat(200_000);
    let line = format!("NET:OPEN [MED] DENIED /{name}(1) -> a.example:1");
    let row = row(&line);
    assert_eq!(row.outcome.as_deref(), Some("denied"));
    assert_eq!(row.flags.as_deref(), Some("cut_field"));
    assert_eq!(row.original_bytes, i64::try_from(line.len()).ok());
    assert!(row.digest.is_some() && row.truncated.is_none());
    let len = entry_len(&row);
    assert!(len <= ENTRY_BYTES_MAX && len > ENTRY_BYTES_MAX / 2, "{len}");
}

/// Bytes that are not UTF-8 are spelled so that they can be had back, and the rest is read.
#[test]
fn bytes_that_are_not_utf8_do_not_hide_the_record() {
    let input = b"NET:OPEN [MED] DENIED /tmp/\xc3(\\x(7) -> evil.example:443\nNET:CLOSE [INFO]\n";
    let outcomes = decode_all(&mut decoder(DecodeOptions::default()), input);
    let row = outcomes[0].1.as_ref().unwrap();
    assert_eq!(row.escaped, Some(true));
    assert_eq!(row.process.as_deref(), Some(r"/tmp/\xc3(\\x"));
    assert_eq!(
        (row.host.as_deref(), row.outcome.as_deref()),
        (Some("evil.example"), Some("denied"))
    );
    assert_eq!(outcomes[1].1.as_ref().unwrap().escaped, None);
}

#[test]
fn nul_in_a_line_is_kept_and_the_next_line_is_read() {
    let rows = rows("CONFIG:LOADED [INFO] a\0b\nNET:CLOSE [INFO]\n");
    assert_eq!(rows[0].message.as_deref(), Some("a\0b"));
    assert_eq!(rows[0].raw.as_deref(), Some("CONFIG:LOADED [INFO] a\0b"));
    assert_eq!(rows.len(), 2);
}

#[test]
fn last_line_without_newline_is_flagged() {
    let rows = rows("NET:CLOSE [INFO]\r\nNET:CLOSE [INFO]");
    assert_eq!(rows[0].flags, None);
    assert_eq!(rows[1].flags.as_deref(), Some("unterminated"));
}

/// The same line in the same millisecond is two records.
#[test]
fn identical_lines_are_two_records() {
    let line = "[1791068681.547] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /bin/a(1) -> b.example:1\n";
    let outcomes = decode_all(
        &mut decoder(DecodeOptions::default()),
        line.repeat(3).as_bytes(),
    );
    assert!(
        outcomes
            .iter()
            .all(|(decoded, _)| matches!(decoded, Decoded::Record { .. }))
    );
    assert_eq!(outcomes.len(), 3);
}
