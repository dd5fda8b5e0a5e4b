#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use clap::{CommandFactory, Parser};

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    let words = line.split(' ').map(std::ffi::OsString::from);
    Cli::try_parse_from(argv::normalise(words, &Cli::command()))
}

fn log(line: &str) -> LogArgs {
    match parse(line).unwrap().command {
        Some(Command::Log(args)) => args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definitions_contradict_each_other() {
    Cli::command().debug_assert();
}

/// The flags of earlier versions, with one dash or two, before or after the name.
#[test]
fn an_earlier_flag_is_refused() {
    let args = log("boundlane log -deny -since 2h -raw my-agent");
    assert!(args.filters.deny && args.raw);
    assert_eq!(args.filters.since.as_deref(), Some("2h"));
    assert_eq!(args.name.as_deref(), Some("my-agent"));
    let args = log("boundlane log --sandbox=x -follow");
    assert!(args.follow);
    assert_eq!(args.filters.sandbox.as_deref(), Some("x"));
    assert_eq!(
        log("boundlane log -sandbox=x").filters.sandbox.as_deref(),
        Some("x")
    );
    assert_eq!(
        log("boundlane log -since=2h").filters.since.as_deref(),
        Some("2h")
    );
    assert_eq!(log("boundlane log --binary curl").filters.process, ["curl"]);
}

/// Short options, also bundled ones and ones with a value attached, are not taken for long ones.
#[test]
fn a_short_option_becomes_a_long_one() {
    assert_eq!(
        log("boundlane log -n5 -ojsonl").filters.last,
        Limit::Last(5)
    );
    assert_eq!(log("boundlane log -nall").filters.last, Limit::All);
    assert_eq!(log("boundlane log -- -deny").name.as_deref(), Some("-deny"));
    assert_eq!(
        parse("boundlane -vv log").unwrap().global.verbosity(),
        Verbosity::Debug
    );
    assert_eq!(
        parse("boundlane log -q").unwrap().global.verbosity(),
        Verbosity::Quiet
    );
}

/// No long name can be read as a bundle of short options of the same command: rewriting is safe.
#[test]
fn a_long_name_is_also_a_bundle_of_short_options() {
    fn check(command: &clap::Command, inherited: &[char]) {
        let own = command.get_arguments().filter_map(clap::Arg::get_short);
        let shorts: Vec<char> = own.chain(inherited.iter().copied()).collect();
        for name in command.get_arguments().filter_map(clap::Arg::get_long) {
            assert!(!name.chars().all(|c| shorts.contains(&c)), "{name}");
        }
        command
            .get_subcommands()
            .for_each(|sub| check(sub, &shorts));
    }
    let mut command = Cli::command();
    command.build();
    check(&command, &[]);
}

#[test]
fn contradictory_options_are_taken() {
    for line in [
        "boundlane log --raw -o json",
        "boundlane log --list --deny",
        "boundlane log --list agent-1",
        "boundlane log --list --since 2h",
        "boundlane log -v -q",
        "boundlane log -n -1",
        "boundlane log -n many",
        "boundlane log -o xml",
        "boundlane status --color blue",
        "boundlane completions tcsh",
        "boundlane nonsense",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

/// Every help fits 80 columns.
#[test]
fn help_is_wider_than_a_terminal() {
    let mut command = Cli::command();
    command.build();
    let mut queue = vec![command];
    while let Some(mut command) = queue.pop() {
        for help in [command.render_help(), command.render_long_help()] {
            for line in help.to_string().lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
        queue.extend(command.get_subcommands().cloned());
    }
}
