//! `log` over a journal.

use boundlane_record::{Micros, Row};

use crate::recorded::{AT, Home, allowed, denied, gap};
use crate::run::{done, ended, program, run};

fn home() -> Home {
    let home = Home::new();
    home.record(
        "agent-1",
        &[
            allowed(0, "/usr/bin/curl", "api.github.com"),
            denied(1, "/usr/bin/curl", "httpbin.org"),
            gap(),
            denied(3, "/opt/my app/node", "例え.jp"),
        ],
    );
    home
}

const KNOWN: &str = "known up to 2026-04-01T04:04:32.690000Z\n";

/// The table: local times with their zone, base names, aligned by width, the gap in its place.
#[test]
fn the_table_is_another_one() {
    let expected = "\
time (+02:00)            action   process  destination         rule
2026-04-01 06:04:32.690  allowed  curl     api.github.com:443  github_api
2026-04-01 06:04:33.690  denied   curl     httpbin.org:443     -
2026-04-01 06:04:32.690  gap: at most 12 lines never reached us (lagged), from 2026-04-01T04:04:32.690000Z to 2026-04-01T04:04:34.690000Z
2026-04-01 06:04:35.690  denied   node     例え.jp:443         -
";
    let notes = format!(
        "3 records of `agent-1`; incomplete: 1 gap (lagged; at most 12 lines never reached us); \
         1 stream as imported; {KNOWN}"
    );
    let home = home();
    assert_eq!(
        run(home.path(), &["log", "agent-1"]),
        done(expected, &notes)
    );
    let newest = format!("sandbox `agent-1`\n{notes}");
    assert_eq!(run(home.path(), &["log"]), done(expected, &newest));
    assert_eq!(
        run(home.path(), &["log", "-sandbox", "agent-1", "-q"]),
        done(expected, "")
    );
}

#[test]
fn denials_are_shown_with_something_else() {
    let expected = "\
time (UTC)               process  destination      reason
2026-04-01 04:04:33.690  curl     httpbin.org:443  no matching policy
2026-04-01 04:04:32.690  gap: at most 12 lines never reached us (lagged), from 2026-04-01T04:04:32.690000Z to 2026-04-01T04:04:34.690000Z
2026-04-01 04:04:35.690  node     例え.jp:443      no matching policy
";
    let home = home();
    let log = run(home.path(), &["log", "agent-1", "-deny", "--utc"]);
    assert_eq!((log.code, log.stdout.as_str()), (0, expected));
    assert!(
        log.stderr
            .ends_with("network decisions only: a refused file write is in no log\n")
    );
    assert!(log.stderr.starts_with("2 denials of `agent-1`; incomplete"));
}

/// Filters first, then the count; the gap stays whatever the filter; an older row is mentioned.
#[test]
fn a_filter_hides_a_gap_or_comes_after_the_count() {
    let home = home();
    let args = [
        "log",
        "agent-1",
        "--columns",
        "seq,kind,host",
        "--no-header",
        "--host",
    ];
    let rows = |more: &[&str]| run(home.path(), &[&args, more].concat());
    assert_eq!(
        rows(&["HTTPBIN.*"]).stdout,
        "3  decision  httpbin.org\n4  gap       -\n"
    );
    assert_eq!(rows(&["*.org", "--deny", "-n", "1"]).stdout, "4  gap  -\n");
    let last = rows(&["*", "-n", "2"]);
    assert_eq!(last.stdout, "4  gap       -\n5  decision  例え.jp\n");
    assert!(
        last.stderr
            .contains("there are older rows that match; `-n all` shows them\n")
    );
    assert!(!rows(&["*", "-n", "4"]).stderr.contains("older"));
    let process = run(
        home.path(),
        &[
            "log",
            "agent-1",
            "--binary",
            "node",
            "-o",
            "csv",
            "--columns",
            "host",
        ],
    );
    assert_eq!(process.stdout, "host\r\n\"\"\r\n例え.jp\r\n");
}

#[test]
fn a_form_is_not_what_its_readers_expect() {
    let home = home();
    let log = |args: &[&str]| run(home.path(), &[&["log", "agent-1", "-q"], args].concat()).stdout;
    let lines = log(&["-o", "jsonl", "--columns", "seq,time,outcome,host"]);
    assert_eq!(
        lines.lines().next().unwrap(),
        "{\"seq\":2,\"time\":\"2026-04-01T04:04:32.690000Z\",\"outcome\":\"allowed\",\"host\":\"api.github.com\"}"
    );
    assert_eq!(
        lines.lines().nth(2).unwrap(),
        "{\"seq\":4,\"time\":null,\"outcome\":null,\"host\":null}"
    );
    let document: serde_json::Value = serde_json::from_str(&log(&["-o", "json"])).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 4);
    assert_eq!(document["rows"][2]["cause"], "lagged");
    assert_eq!(document["coverage"]["verdict"], "incomplete");
    assert_eq!(
        log(&["--raw"]).lines().collect::<Vec<_>>(),
        [
            "DENIED /usr/bin/curl -> api.github.com:443",
            "DENIED /usr/bin/curl -> httpbin.org:443",
            "# boundlane gap: at most 12 lines never reached us (lagged), from \
             2026-04-01T04:04:32.690000Z to 2026-04-01T04:04:34.690000Z",
            "DENIED /opt/my app/node -> 例え.jp:443",
        ]
    );
}

/// `--require-complete` ends with 4 after printing what there is.
#[test]
fn an_incomplete_answer_ends_well() {
    let home = home();
    let log = run(home.path(), &["log", "agent-1", "--require-complete", "-q"]);
    assert_eq!(log.code, 4);
    assert_eq!(log.stdout.lines().count(), 5);
    assert!(
        log.stderr
            .starts_with("boundlane: the answer is not complete: incomplete: 1 gap")
    );
    let empty = Home::new();
    assert_eq!(run(empty.path(), &["log", "--require-complete"]).code, 4);
}

/// Text that a sandbox chose acts on no terminal, breaks no row and forges none.
#[test]
fn hostile_text_acts_on_the_terminal() {
    let home = Home::new();
    let mut row = denied(
        0,
        "/bin/x\n2026 allowed \u{1b}[2J",
        "evil\u{202e}gro.\u{9b}31m\t\u{7f}",
    );
    row.reason = Some("=cmd()|\u{1b}]52;c;x\u{7}\r\nforged".into());
    home.record("a\u{1b}[31m", &[row]);
    let table = run(home.path(), &["log"]);
    assert_eq!(table.stdout.lines().count(), 2, "{}", table.stdout);
    for text in [
        &table.stdout,
        &table.stderr,
        &run(home.path(), &["log", "--list"]).stdout,
    ] {
        let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(acts), "{text:?}");
    }
    assert!(
        table
            .stdout
            .contains("evil\\u{202e}gro.\\x9b31m\\t\\x7f:443"),
        "{}",
        table.stdout
    );
    assert!(table.stderr.contains("of `a\\x1b[31m`"));
    let json = run(home.path(), &["log", "-o", "jsonl", "--columns", "reason"]).stdout;
    assert_eq!(
        json,
        "{\"reason\":\"=cmd()|\\u001b]52;c;x\\u0007\\r\\nforged\"}\n"
    );
    let csv = run(home.path(), &["log", "-o", "csv", "--columns", "reason"]).stdout;
    assert!(csv.starts_with("reason\r\n\"'=cmd()|"), "{csv:?}");
    let raw = run(
        home.path(),
        &["log", "-o", "csv", "--csv-raw", "--columns", "reason"],
    )
    .stdout;
    assert!(raw.starts_with("reason\r\n\"=cmd()|"), "{raw:?}");
}

/// Every empty answer says why.
#[test]
fn an_empty_answer_says_nothing() {
    let home = home();
    let none = run(home.path(), &["log", "agent-2"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.starts_with(
        "nothing is recorded for `agent-2`, did you mean `agent-1`? recorded are `agent-1`\n"
    ));
    home.record("quiet", &[allowed(0, "/bin/a", "h")]);
    let quiet = run(home.path(), &["log", "quiet", "--deny"]);
    assert_eq!(quiet.stdout, "");
    assert_eq!(
        quiet.stderr,
        format!(
            "0 denials of `quiet`; as imported; {KNOWN}\
             nothing matches in what was imported\n\
             network decisions only: a refused file write is in no log\n"
        )
    );
}

#[test]
fn a_sandbox_is_not_listed() {
    let home = home();
    let later = Row {
        observed: Some(Micros(AT)),
        ..allowed(9, "/bin/a", "h")
    };
    home.record("agent-2", &[later]);
    let columns = ["log", "--list", "--utc"];
    assert_eq!(
        run(home.path(), &columns),
        done(
            "\
sandbox  sandbox_id  records  denied  losses  first (UTC)              last (UTC)               sources
agent-2  -           1        0       0       2026-04-01 04:04:41.690  2026-04-01 04:04:41.690  import
agent-1  -           3        2       1       2026-04-01 04:04:32.690  2026-04-01 04:04:35.690  import
",
            ""
        )
    );
    let empty = Home::new();
    assert_eq!(
        run(empty.path(), &["log", "--list"]),
        done("", "nothing is recorded yet\n")
    );
    assert!(!empty.path().join(".local").exists());
}

/// Without a name the newest recorded sandbox of this folder or one around it is shown, as the program that
/// started it wrote it down; that file is left as it is.
#[test]
fn a_sandbox_of_another_folder_is_shown() {
    let home = Home::new();
    for name in ["bl-app-1", "bl-app-2", "bl-other"] {
        home.record(name, &[allowed(0, "/bin/a", name)]);
    }
    let deep = home.path().join("src/app/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let config = home.path().join(".config/boundlane");
    std::fs::create_dir_all(&config).unwrap();
    let listed = |name: &str, folder: &str, created: &str| {
        let folder = home.path().join(folder);
        serde_json::json!({"name": name, "repo": folder, "created": created, "running": false})
    };
    let state = serde_json::json!({"sandboxes": [
        listed("bl-app-1", "src/app", "2026-08-01T10:00:00Z"),
        listed("bl-app-2", "src/app", "2026-08-02T10:00:00+02:00"),
        listed("bl-app-3", "src/app", "2026-08-03T10:00:00Z"),
        listed("bl-other", "src/else", "2026-08-04T10:00:00Z"),
    ]});
    let path = config.join("state.json");
    std::fs::write(&path, state.to_string()).unwrap();
    let told = |folder: &std::path::Path| {
        let log = ended(
            program(home.path()).arg("log").current_dir(folder),
            home.path(),
        );
        assert_eq!(log.code, 0, "{}", log.stderr);
        log.stderr.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        told(&deep),
        "sandbox `bl-app-2`, the newest of `~/src/app` that is recorded; nothing is recorded for `bl-app-3`"
    );
    let newest = "sandbox `bl-app-1`, the newest of 3 (`boundlane log --list` names them)";
    assert_eq!(told(home.path()), newest);
    std::fs::write(&path, "{").unwrap();
    assert_eq!(
        told(&deep),
        format!("{newest}; `~/.config/boundlane/state.json` is no list of sandboxes (line 1)")
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
}
