//! The policy in force, and what a decoder goes on from.

use boundlane_ingest::{DecodeOptions, DecodeState, Decoder};

use super::support::{decode_all, decoder, key, rows};

const DENIAL: &str = "NET:OPEN [MED] DENIED /bin/a(1) -> b.example:1";

fn policies(input: &str) -> Vec<(Option<bool>, Option<String>, Option<String>)> {
    let rows = rows(input)
        .into_iter()
        .filter(|row| row.kind.as_deref() == Some("decision"));
    let owned = |text: Option<std::borrow::Cow<'static, str>>| text.map(|text| text.into_owned());
    rows.map(|row| {
        (
            row.policy_known,
            owned(row.policy_version),
            owned(row.policy_hash),
        )
    })
    .collect()
}

/// A sandbox's LOADED with a hash makes the policy known, one without makes it unknown, and no other
/// state, class or speaker touches it.
#[test]
fn only_a_loaded_line_of_the_sandbox_changes_the_policy() {
    let known = |version: Option<&str>, hash: &str| {
        (
            Some(true),
            version.map(str::to_owned),
            Some(hash.to_owned()),
        )
    };
    let unknown = (Some(false), None, None);
    let input = [
        DENIAL,
        "CONFIG:LOADED [INFO] Policy reloaded successfully [policy_hash:ab12]",
        DENIAL,
        "CONFIG:MERGED [INFO] gateway merged [version:v9 hash:sha256:other]",
        "CONFIG:APPROVED [INFO] chunk approved [version:v9 hash:sha256:other]",
        "EVENT [INFO] LOADED [hash:other]",
        DENIAL,
        "CONFIG:LOADED [INFO] Policy reloaded [version:3] [hash:sha256:cd]",
        DENIAL,
        "CONFIG:LOADED [INFO] Loaded sandbox policy",
        DENIAL,
        "CONFIG:LOADED [INFO] Policy reloaded [version:v4 hash:ef]",
        DENIAL,
        "[1.000] [gateway] [OCSF ] [ocsf] CONFIG:LOADED [INFO] x [hash:gateway]",
        "[1.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /bin/a(1) -> b.example:1",
    ]
    .join("\n");
    assert_eq!(
        policies(&input),
        [
            unknown.clone(),
            known(None, "ab12"),
            known(None, "ab12"),
            known(Some("3"), "sha256:cd"),
            unknown,
            known(Some("v4"), "ef"),
            known(Some("v4"), "ef"),
        ]
    );
}

/// A bare LOADED behind a prefixed line may be forged: then nothing is known.
#[test]
fn loaded_line_that_may_be_forged_makes_the_policy_unknown() {
    let prefix = "[1.000] [sandbox] [OCSF ] [ocsf] ";
    let input = format!(
        "{prefix}CONFIG:LOADED [INFO] x [policy_hash:true]\nCONFIG:LOADED [INFO] x [policy_hash:forged]\n{prefix}{DENIAL}\n"
    );
    assert_eq!(policies(&input), [(Some(false), None, None)]);
}

/// A decoder that goes on from a stored state reads the rest as one that never stopped.
#[test]
fn stored_state_goes_on_where_it_stopped() {
    let lines = [
        "[1.000] [sandbox] [OCSF ] [ocsf] CONFIG:LOADED [INFO] x [version:v1 hash:h1]\n",
        "NET:OPEN [MED] DENIED /bin/a(1) -> b.example:1\n",
    ];
    let whole = decode_all(
        &mut decoder(DecodeOptions::default()),
        lines.concat().as_bytes(),
    );
    let mut first = decoder(DecodeOptions::default());
    decode_all(&mut first, lines[0].as_bytes());
    let state = DecodeState::from_json(&first.state().to_json()).unwrap();
    let redactor = std::sync::Arc::new(boundlane_record::redact::Redactor::default());
    let mut second = Decoder::new(DecodeOptions::default(), redactor, key(), state);
    let rest = decode_all(&mut second, lines[1].as_bytes());
    assert_eq!(rest[0], whole[1]);
    assert_eq!(rest[0].1.as_ref().unwrap().continuation, Some(true));
}

/// A hash that is no hash is not carried into every later row.
#[test]
fn overlong_hash_is_no_hash() {
    let input = format!(
        "CONFIG:LOADED [INFO] x [policy_hash:{}]\n{DENIAL}\n",
        "a".repeat(257)
    );
    assert_eq!(policies(&input), [(Some(false), None, None)]);
}
