//! `completions`, and the answers to a shell that asks what could come next.

use std::ffi::OsString;

use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

use crate::args::{Cli, CompletionsArgs, Shell};
use crate::exit::{Exit, Failure, Outcome};
use crate::output::out::Out;

/// The variable by which a completion script asks.
const VARIABLE: &str = "BOUNDLANE_COMPLETE";

/// Prints the script that a shell has to read once.
pub(crate) fn run(args: &CompletionsArgs, out: &mut Out) -> Outcome {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    shell
        .write_registration(VARIABLE, "boundlane", "boundlane", "boundlane", out)
        .map_err(Failure::output)?;
    Ok(Exit::Done)
}

/// Answers a completion script; whether there was anything to answer.
pub(crate) fn answered(args: &[OsString]) -> Outcome<bool> {
    if std::env::var_os(VARIABLE).is_none_or(|shell| shell.is_empty()) {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(Cli::command)
        .var(VARIABLE)
        .try_complete(args.iter().cloned(), here.as_deref())
        .map_err(|error| Failure::failed(format_args!("cannot complete: {}", error.kind())))
}
