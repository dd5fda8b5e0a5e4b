//! The README's tour: each command in it, run in order, prints what the README says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use boundlane_tests::{Home, repository};

/// A command of the tour and the standard output it is said to have.
struct Step {
    command: String,
    output: String,
}

fn steps() -> Vec<Step> {
    let readme = std::fs::read_to_string(repository("README.md")).unwrap();
    let mut steps: Vec<Step> = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    steps.push(Step {
                        command: command.to_owned(),
                        output: String::new(),
                    });
                }
                None => {
                    let output = &mut steps.last_mut().unwrap().output;
                    output.push_str(line);
                    output.push('\n');
                }
            }
        }
    }
    steps
}

/// A command line as a shell would split it; double quotes only.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in command.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// The text without what differs from run to run: ids, the moment of reading, sizes on this disk.
fn steady(text: &str) -> String {
    let keeps = |word: &str| !word.starts_with("import/");
    let line = |line: &str| {
        if let Some(word) = ["directory", "disk", "archive    "]
            .iter()
            .find(|word| line.starts_with(**word))
        {
            return format!("{word} …");
        }
        let words: Vec<&str> = line.split_whitespace().filter(|word| keeps(word)).collect();
        // How many blocks there are depends on how commits fell together.
        let is_blocks = |at: usize| {
            words
                .get(at + 1)
                .is_some_and(|next| next.starts_with("block"))
        };
        let steady = |(at, word): (usize, &&str)| match is_blocks(at) {
            true => "…".to_owned(),
            false => steady_word(word).to_owned(),
        };
        words
            .iter()
            .enumerate()
            .map(steady)
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn steady_word(word: &str) -> &str {
    let bare = word.trim_end_matches([',', ':']);
    let is_hex = bare.len() >= 32 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Moments of reading have six digits after the point; those of the sample have three.
    let is_read = bare.len() >= 15 && bare.as_bytes()[bare.len() - 7] == b'.' && bare.contains(':');
    let is_today = bare.len() == 10 && bare.starts_with("20") && bare != "2026-10-06";
    if is_hex || is_read || is_today {
        "…"
    } else {
        word
    }
}

#[test]
fn the_tour_prints_something_else_than_the_readme_says() {
    let home = Home::new();
    let steps = steps();
    assert!(steps.len() >= 6, "the tour was not found");
    for step in steps {
        let words = words(&step.command);
        assert_eq!(words[0], "boundlane");
        let mut command = home.command(&words[1..]);
        let ran = command.current_dir(repository(".")).output().unwrap();
        assert!(
            ran.status.success(),
            "{}: {}",
            step.command,
            String::from_utf8_lossy(&ran.stderr)
        );
        let printed = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(steady(&printed), steady(&step.output), "{}", step.command);
    }
}
