//! What is printed when nobody knows what to type.

use crate::run::{done, ended, program, run};

/// The program alone says what it is, what it can do, where the data is and how to begin.
#[test]
fn the_first_screen_is_another_one() {
    let home = tempfile::tempdir().unwrap();
    let screen = "\
boundlane: the record of what AI agents were allowed and denied

At the laptop
  log          what a sandbox reached, what was blocked and why
  save         a durable copy, before a sandbox is deleted
  ingest       read log lines into the record

Operating it
  forward      follow a gateway: every decision, as it is made
  status       whether the record is whole: books, streams, losses
  doctor       what hides decisions on this machine, each with its fix
  archive      write what is not archived yet to Parquet files
  fsck         check every law of the record, offline
  config       each setting, its value and where it comes from

Auditing it
  query        questions over everything, the archive included
  log --list   the sandboxes that were recorded, and when

The record will be in ~/.local/state/boundlane (nothing is recorded yet)

Example:
  openshell logs my-agent | boundlane ingest --sandbox my-agent
  boundlane log my-agent --deny

`boundlane help COMMAND` says more; `completions SHELL` helps to type.
";
    assert_eq!(run(home.path(), &[]), done(screen, ""));
    assert!(
        !home.path().join(".local").exists(),
        "looking creates nothing"
    );
}

/// Without a home the first screen still comes, and says what is missing.
#[test]
fn no_home_means_no_screen() {
    let home = tempfile::tempdir().unwrap();
    let screen = ended(program(home.path()).env_remove("HOME"), home.path());
    assert_eq!((screen.code, screen.stderr.as_str()), (0, ""));
    assert!(
        screen
            .stdout
            .contains("No record: there is no directory to keep the record in")
    );
}

/// Help is a result: standard output, 0, within 80 columns, whichever way it is asked for.
#[test]
fn help_goes_elsewhere_or_is_too_wide() {
    let home = tempfile::tempdir().unwrap();
    let commands = [
        "ingest",
        "log",
        "status",
        "doctor",
        "query",
        "archive",
        "fsck",
        "config",
        "completions",
        "version",
    ];
    for command in commands {
        for args in [[command, "--help"], [command, "-h"], ["help", command]] {
            let help = run(home.path(), &args);
            assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{args:?}");
            assert!(
                help.stdout.contains(&format!("Usage: boundlane {command}")),
                "{args:?}"
            );
            let wide = help.stdout.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{args:?}");
        }
    }
}

#[test]
fn the_version_is_not_said() {
    let home = tempfile::tempdir().unwrap();
    let version = format!(
        "boundlane {} (entries of version 1)\n",
        env!("CARGO_PKG_VERSION")
    );
    for args in [["version"], ["-V"], ["--version"]] {
        assert_eq!(run(home.path(), &args), done(&version, ""));
    }
    let json = run(home.path(), &["version", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["schema"], 1);
}
