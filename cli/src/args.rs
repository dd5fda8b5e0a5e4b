//! The command line. `boundlane help` and the completions are made from these definitions.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::context::Verbosity;
use crate::text::colour::ColourChoice;

pub(crate) mod argv;
mod doctor;
mod filters;
mod forward;
mod ingest;
mod log;
mod names;
mod query;
mod save;

pub(crate) use doctor::DoctorArgs;
pub(crate) use filters::{FilterArgs, Format, Limit};
pub(crate) use forward::ForwardArgs;
pub(crate) use ingest::{IngestArgs, InputFormat};
pub(crate) use log::{LogArgs, OutputArgs};
pub(crate) use query::QueryArgs;
pub(crate) use save::SaveArgs;

/// Help is wrapped here: it has to fit a terminal of 80 columns.
const HELP_COLUMNS: usize = 80;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "boundlane",
    about = "The record of what AI agents were allowed and denied",
    disable_version_flag = true,
    term_width = HELP_COLUMNS,
    max_term_width = HELP_COLUMNS,
    subcommand_required = false,
    after_help = "`boundlane` alone shows what there is and where the data lies."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Print the version.
    #[arg(short = 'V', long)]
    pub(crate) version: bool,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Where the record is kept [env: BOUNDLANE_STATE_DIR].
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath, help_heading = "Everywhere")]
    pub(crate) state_dir: Option<PathBuf>,

    /// The configuration to read instead of the usual one.
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Everywhere")]
    pub(crate) config: Option<PathBuf>,

    /// When to use colour.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        help_heading = "Everywhere"
    )]
    pub(crate) color: ColourChoice,

    /// Say more on standard error; twice for much more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet", help_heading = "Everywhere")]
    verbose: u8,

    /// Say only what went wrong.
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    quiet: bool,
}

impl GlobalArgs {
    /// How much is said on standard error.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Verbose,
            (false, _) => Verbosity::Debug,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read log lines into the record, to the end of the input.
    Ingest(IngestArgs),
    /// Follow a gateway: every decision of its sandboxes, as it is made.
    Forward(ForwardArgs),
    /// Show what a sandbox reached and what was blocked.
    Log(LogArgs),
    /// Make a durable copy of what a sandbox said, before it is deleted.
    Save(SaveArgs),
    /// Show whether the record is whole: its books, streams and losses.
    Status(StatusArgs),
    /// Look for what hides decisions on this machine, and say how to mend it.
    Doctor(DoctorArgs),
    /// Ask questions over everything, the archive included.
    Query(QueryArgs),
    /// Write what is not archived yet to Parquet files.
    Archive(ArchiveArgs),
    /// Check every law of the record, offline.
    Fsck(FsckArgs),
    /// Show each setting, its value and where it comes from.
    Config(ConfigArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the version.
    Version(VersionArgs),
}

/// `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with 1 unless the word is `healthy`.
    #[arg(long)]
    pub(crate) check: bool,
}

/// `archive`.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fsck`.
#[derive(Debug, Args)]
pub(crate) struct FsckArgs {
    /// Copy what can be read of the journals into this directory, which must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) salvage: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
bash:  source <(boundlane completions bash)
zsh:   source <(boundlane completions zsh)
fish:  boundlane completions fish | source")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

/// `version`.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A shell with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[cfg(test)]
mod tests;
