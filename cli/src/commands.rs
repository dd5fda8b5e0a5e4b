//! The commands, one file each, and which of them a command line means.

use std::path::Path;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::exit::Outcome;
use crate::output::out::Out;

mod archive;
pub(crate) mod completions;
mod config;
mod doctor;
pub(crate) mod entries;
pub(crate) mod forward;
mod fsck;
pub(crate) mod health;
mod ingest;
mod log;
mod overview;
#[cfg(feature = "query")]
mod query;
#[cfg(not(feature = "query"))]
#[path = "commands/query_absent.rs"]
mod query;
pub(crate) mod recorded;
mod save;
mod status;
mod version;

/// Does what the command line asks.
pub(crate) fn run(cli: &Cli, ctx: &Context, out: &mut Out) -> Outcome {
    match &cli.command {
        _ if cli.version => version::run(false, out),
        None => overview::run(ctx, out),
        Some(Command::Ingest(args)) => ingest::run(args, ctx, out),
        Some(Command::Forward(args)) => forward::run(args, ctx, out),
        Some(Command::Query(args)) => query::run(args, ctx, out),
        Some(Command::Archive(args)) => archive::run(args, ctx, out),
        Some(Command::Fsck(args)) => fsck::run(args, ctx, out),
        Some(Command::Config(args)) => config::run(args, ctx, out),
        Some(Command::Completions(args)) => completions::run(args, out),
        Some(Command::Version(args)) => version::run(args.json, out),
        Some(Command::Log(args)) => log::run(args, ctx, out),
        Some(Command::Save(args)) => save::run(args, ctx, out),
        Some(Command::Status(args)) => status::run(args, ctx, out),
        Some(Command::Doctor(args)) => doctor::run(args, ctx, out),
    }
}

/// Names of sandboxes, for completions; none when the journal cannot be read.
pub(crate) fn sandbox_names(state_dir: Option<&Path>) -> Vec<String> {
    let env = crate::environment::Process;
    let config = crate::config::Config::load(None, &env).unwrap_or_default();
    let located = crate::state_dir::resolve(state_dir, config.state_dir.as_deref(), &env);
    let reader = located.ok().and_then(|located| {
        boundlane_store::Reader::open(&boundlane_store::StateDir::at(located.path))
            .ok()
            .flatten()
    });
    let streams = reader
        .and_then(|reader| reader.streams().ok())
        .unwrap_or_default();
    let mut names: Vec<String> = streams
        .into_iter()
        .filter_map(|state| state.name.sandbox.or(state.name.sandbox_id))
        .collect();
    names.sort();
    names.dedup();
    names
}
