//! The long options of earlier versions had one dash: `log -deny -since 2h`. They still may.

use std::ffi::{OsStr, OsString};

use clap::Command;

/// The arguments as the parser wants them: a single dash before the whole name of a long option
/// becomes two. Short options, also bundled ones, and everything after `--` stay as they are.
pub(crate) fn normalise(
    args: impl IntoIterator<Item = OsString>,
    command: &Command,
) -> Vec<OsString> {
    let names = long_names(command);
    let mut options_ended = false;
    let rewrite = |arg: OsString| {
        options_ended |= arg == "--";
        if options_ended {
            arg
        } else {
            with_two_dashes(&arg, &names).unwrap_or(arg)
        }
    };
    args.into_iter().map(rewrite).collect()
}

fn with_two_dashes(arg: &OsStr, names: &[String]) -> Option<OsString> {
    let name_and_value = arg.to_str()?.strip_prefix('-')?;
    let name = name_and_value.split('=').next()?;
    (name.len() > 1 && names.iter().any(|known| known == name))
        .then(|| OsString::from(format!("--{name_and_value}")))
}

fn long_names(command: &Command) -> Vec<String> {
    let own = command.get_arguments().flat_map(|arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long()
            .into_iter()
            .chain(aliases)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    own.chain(command.get_subcommands().flat_map(long_names))
        .collect()
}
