//! `config`, and what is wrong with configurations.

use std::fs;
use std::path::Path;

use crate::run::{ended, failed, program, run};

fn configured(home: &Path, text: &str) {
    let directory = home.join(".config/boundlane");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), text).unwrap();
}

#[test]
fn a_setting_is_shown_with_another_value_or_origin() {
    let home = tempfile::tempdir().unwrap();
    configured(
        home.path(),
        "redact = ['CANARY-[0-9]+', 'CANARY-x']\nquery_seconds_max = 5\nqueued_entries_max = 9000\n",
    );
    let mut command = program(home.path());
    let shown = ended(
        command
            .env("STATE_DIRECTORY", "/var/lib/b:/x")
            .arg("config"),
        home.path(),
    );
    assert_eq!(shown.code, 0);
    assert_eq!(
        shown.stdout,
        "\
setting                  value                       from
state_dir                /var/lib/b                  env STATE_DIRECTORY
archive_dir              /var/lib/b/archive          default
redact                   built-in shapes and 2 more  file
query_memory_mib_max     1024                        default
query_seconds_max        5                           file
queued_entries_max       9000                        file
queued_stored_bytes_max  1073741824                  default
kept_age_seconds_max     604800                      default
kept_stored_bytes_max    1073741824                  default
"
    );
    assert_eq!(shown.stderr, "file: ~/.config/boundlane/config.toml\n");
}

#[test]
fn the_document_says_less_than_the_table() {
    let home = tempfile::tempdir().unwrap();
    let shown = run(home.path(), &["config", "--json", "--state-dir", "/s"]);
    let document: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(document["settings"]["state_dir"]["value"], "/s");
    assert_eq!(
        document["settings"]["state_dir"]["from"],
        "flag --state-dir"
    );
    assert_eq!(document["settings"]["query_seconds_max"]["value"], 600);
    assert_eq!(document["file"]["found"], false);
}

/// What is wrong is named with its file; a pattern is never repeated, whatever is wrong with it.
#[test]
fn a_broken_configuration_is_used_or_repeated() {
    let home = tempfile::tempdir().unwrap();
    for (text, message) in [
        (
            "state-dir = '/s'",
            "unknown key `state-dir`, did you mean `state_dir`?",
        ),
        (
            "redact = 'CANARY'",
            "`redact` has to be a list of texts: `redact = ['…']`",
        ),
        (
            "state_dir = 'relative'",
            "`state_dir` has to be an absolute path in quotes",
        ),
    ] {
        configured(home.path(), text);
        let expected = format!("boundlane: `~/.config/boundlane/config.toml`: {message}\n");
        assert_eq!(
            run(home.path(), &["status"]),
            failed(2, &expected),
            "{text}"
        );
    }
    configured(home.path(), "a = 1\nredact = ['CANARY\n");
    let broken = run(home.path(), &["status", "-vv"]);
    assert_eq!(broken.code, 2);
    assert!(
        broken.stderr.contains("line 2 is not TOML"),
        "{}",
        broken.stderr
    );
    assert!(!broken.stderr.contains("CANARY"));
    assert_eq!(
        run(home.path(), &["status", "--config", "/none/here.toml"]),
        failed(
            2,
            "boundlane: cannot read `/none/here.toml`: No such file or directory (os error 2)\n  \
             name a file that this user may read with `--config`, or move this one away\n"
        )
    );
}
