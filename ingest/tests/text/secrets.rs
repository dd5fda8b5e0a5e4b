//! Canaries in every field: none is in the entry, whatever spelling hides it.

use boundlane_ingest::DecodeOptions;
use boundlane_record::EntryBatch;

use super::support::{OBSERVED, decoder, key, row, stream};

/// Two shapes that are known wherever they stand.
const CANARIES: [&str; 2] = [
    "ghp_Canary0123456789abcdefghijABCDEFGHIJ",
    "Bearer canary0123456789abcdefABCDEF",
];

fn entry(line: &str) -> String {
    let mut framer = boundlane_ingest::Framer::new(key(), 0);
    let mut chunk = line.as_bytes();
    assert!(framer.next(&mut chunk).is_none());
    let framed = framer.finish().unwrap();
    let mut batch = EntryBatch::new();
    decoder(DecodeOptions::default()).line(&framed, &stream(), OBSERVED, &mut batch);
    String::from_utf8(batch.bytes().to_vec()).unwrap()
}

fn assert_clean(line: &str) {
    let entry = entry(line);
    let lower = entry.to_lowercase();
    for part in ["canary0123456789", "hunter2"] {
        assert!(!lower.contains(part), "{part} of {line} is in {entry}");
    }
    assert!(entry.contains("[redacted]"), "{entry}");
    assert!(entry.contains("\"redactions\":"), "{entry}");
}

/// A canary in any field of text is in no column and not in the raw line.
#[test]
fn canary_in_any_field_of_text_is_cut_everywhere() {
    let templates = [
        "NET:OPEN [MED] DENIED /bin/@(7) -> a.example:443 [policy:- engine:opa] [reason:x]",
        "NET:OPEN [MED] DENIED /bin/x(7) -> a.example:443 [policy:@ engine:opa] [reason:x]",
        "NET:OPEN [MED] DENIED /bin/x(7) -> a.example:443 [policy:- engine:opa] [reason:a @ b]",
        "NET:OPEN [INFO] [msg:relay @]",
        "NET:OPEN [MED] DENIED no @ grammar",
        "HTTP:GET [INFO] ALLOWED GET http://h.example/a/@/b [policy:p engine:l7]",
        "PROC:LAUNCH [INFO] sh(1) [cmd:curl -H @ x]",
        "FINDING:CREATE [MED] \"title @\" [type:x]",
        "CONFIG:OTHER [MED] text @ text",
        "LIFECYCLE:START [INFO] @ success",
        "EVENT [INFO] text @ [a:b]",
        "AUDIT:NEW [CRIT] @",
        "OCSF no head @",
        "no form @",
        "CONNECT action=deny dst_host=a.example reason=\"@ x\"",
        r#"{"class_uid":4001,"action_id":2,"message":"@"}"#,
        r#"{"class_uid":0,"unmapped":{"k":"@"}}"#,
        r#"{"class_uid":0,"unmapped":{"@":"v"}}"#,
        r#"{"class_uid":0,"broken":"@"#,
    ];
    for template in templates {
        for canary in CANARIES {
            assert_clean(&template.replace('@', canary));
        }
    }
}

/// An escape in a value hides a secret from who reads the line as printed; it is cut as it reads.
#[test]
fn canary_behind_an_escape_is_cut_in_the_line_too() {
    for line in [
        r"HTTP:GET [INFO] ALLOWED GET http://h.example/x [policy:p engine:l7] [auth:Bearer\u{20}canary0123456789abcdefABCDEF k:v]",
        r#"FINDING:CREATE [MED] "Bearer\u{20}canary0123456789abcdefABCDEF" [type:x]"#,
        r"API:INFERENCE [INFO] Success Bearer\u{20}canary0123456789abcdefABCDEF via p 7ms [op]",
        r#"{"class_uid":0,"message":"Bearer\u0020canary0123456789abcdefABCDEF"}"#,
        r#"{"class_uid":0,"unmapped":{"password":"hunter2hunter2\u0021"}}"#,
        r#"{"class_uid":0,"unmapped":{"deep":{"password":"hunter2hunter2"}}}"#,
    ] {
        assert_clean(line);
    }
}

#[test]
fn query_userinfo_and_fragment_are_cut_from_url_and_raw() {
    let url = "http://user:hunter2@h.example:8080/a?q=hunter2#hunter2";
    let line = format!("HTTP:GET [INFO] ALLOWED GET {url} [policy:p engine:l7]");
    assert_clean(&line);
    let row = row(&line);
    assert_eq!(
        (row.host.as_deref(), row.port),
        (Some("h.example"), Some(8080))
    );
    assert_eq!(row.path.as_deref(), Some("/a"));
}

/// A secret that the limit would cut in half is left out of the head.
#[test]
fn canary_across_the_line_limit_is_not_left_in_half() {
    let limit = boundlane_ingest::LINE_BYTES_MAX;
    for back in [1, 8, 20, 39] {
        let front = "EVENT [INFO] ".to_owned();
        let filler = "x ".repeat((limit - front.len() - back) / 2 + 1);
        let filler = &filler[..limit - front.len() - back];
        let line = format!("{front}{filler}{} tail", CANARIES[0]);
        let entry = entry(&line);
        assert!(!entry.contains("ghp_"), "{back}");
    }
}
