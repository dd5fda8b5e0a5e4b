//! The commands, one file each, and which of them a command line means.

use std::path::Path;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::exit::Outcome;
use crate::output::out::Out;

mod archive;
pub(crate) mod completions;
mod config;
mod fsck;
mod ingest;
mod overview;
mod query;
mod version;

/// Does what the command line asks.
pub(crate) fn run(cli: &Cli, ctx: &Context, out: &mut Out) -> Outcome {
    match &cli.command {
        _ if cli.version => version::run(false, out),
        None => overview::run(ctx, out),
        Some(Command::Ingest(args)) => ingest::run(args, ctx, out),
        Some(Command::Query(args)) => query::run(args, ctx, out),
        Some(Command::Archive(args)) => archive::run(args, ctx, out),
        Some(Command::Fsck(args)) => fsck::run(args, ctx, out),
        Some(Command::Config(args)) => config::run(args, ctx, out),
        Some(Command::Completions(args)) => completions::run(args, out),
        Some(Command::Version(args)) => version::run(args.json, out),
        Some(Command::Log(_) | Command::Status(_)) => Ok(crate::exit::Exit::Failed),
    }
}

/// Names of sandboxes, for completions; none when the journal cannot be read.
pub(crate) fn sandbox_names(_state_dir: Option<&Path>) -> Vec<String> {
    Vec::new()
}
