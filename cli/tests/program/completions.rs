//! Completions: the scripts, and the answers to them.

use crate::recorded::Home;
use crate::run::{ended, program, run};

#[test]
fn a_shell_gets_no_script() {
    let home = tempfile::tempdir().unwrap();
    for (shell, mark) in [
        ("bash", "complete -"),
        ("zsh", "#compdef"),
        ("fish", "complete "),
    ] {
        let script = run(home.path(), &["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (0, ""));
        assert!(script.stdout.contains(mark), "{shell}: {}", script.stdout);
        assert!(script.stdout.contains("BOUNDLANE_COMPLETE"), "{shell}");
    }
}

fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let mut command = program(home.path());
    command
        .env("BOUNDLANE_COMPLETE", "fish")
        .arg("--")
        .args(words);
    let answer = ended(&mut command, home.path());
    assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
    answer
        .stdout
        .lines()
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect()
}

/// Names of sandboxes are offered where one belongs, and those that a shell would act on are not.
#[test]
fn a_hostile_name_is_offered() {
    let home = Home::new();
    home.record("agent-1", &[]);
    home.record("$(touch owned)", &[]);
    home.record("a b", &[]);
    let names = |words: &[&str]| {
        let offered = offered(&home, words);
        offered
            .into_iter()
            .filter(|word| !word.starts_with('-'))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&["boundlane", "log", "--sandbox", ""]), ["agent-1"]);
    assert_eq!(names(&["boundlane", "log", "a"]), ["agent-1"]);
    assert_eq!(names(&["boundlane", "stat"]), ["status"]);
    let elsewhere = &["boundlane", "log", "--state-dir", "/none", "--sandbox", ""];
    assert_eq!(names(elsewhere), [] as [&str; 0]);
}
