//! The command line of `boundlane`: what the other crates do, put together for people.
//!
//! One run is: [`args`](crate::args) reads the command line, [`context`](crate::context) resolves the
//! surroundings once (state directory, configuration, colour, clock, zone), one file of
//! [`commands`](crate::commands) does the work and writes through one [`Out`](crate::output::out::Out),
//! [`exit`](crate::exit) says how it ended. Results go to standard output, everything else to standard
//! error; text that came from a sandbox is escaped on its way to a terminal, never before.
//!
//! Limits: a table looks ahead 200 rows to find its widths; a configuration has at most 1 MiB; a bar
//! appears after a second. Everything else streams.
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the tour above is for readers of the source"
)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

mod archiving;
mod args;
mod commands;
mod config;
mod context;
mod diagnostics;
mod environment;
mod exit;
mod follow;
mod forwarder;
mod interrupt;
mod journal;
mod output;
mod progress;
mod pruning;
mod state_dir;
mod text;
pub mod time;

use args::{Cli, argv};
use context::Context;
use exit::{Exit, Failure, Outcome};
use output::out::Out;

/// Runs one command line, the program's name first, and returns the code to end with.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    diagnostics::keep_panics_to_themselves();
    let args: Vec<OsString> = args.into_iter().collect();
    let ended = std::panic::catch_unwind(move || attempt(args));
    let exit = match ended {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => diagnostics::report(&failure),
        Err(_) => Exit::Failed,
    };
    ExitCode::from(exit.code())
}

fn attempt(args: Vec<OsString>) -> Outcome {
    if commands::completions::answered(&args)? {
        return Ok(Exit::Done);
    }
    let mut out = Out::stdout()?;
    let cli = match Cli::try_parse_from(argv::normalise(args, &Cli::command())) {
        Ok(cli) => cli,
        Err(error) => return misread(&error, &mut out),
    };
    let interrupt = interrupt::Interrupt::listen()
        .map_err(|error| Failure::failed(format_args!("cannot listen for Ctrl-C: {error}")))?;
    let ctx = Context::new(
        &cli.global,
        &environment::Process,
        interrupt,
        out.is_terminal(),
    )?;
    diagnostics::log_to_stderr(ctx.verbosity, ctx.stderr_palette.on);
    let exit = commands::run(&cli, &ctx, &mut out)?;
    out.flush_now()?;
    Ok(exit)
}

/// Help that was asked for is a result; everything else that the parser says is a usage error.
fn misread(error: &clap::Error, out: &mut Out) -> Outcome {
    let text = error.render().to_string();
    if !error.use_stderr() {
        out.text(&text)?;
        out.flush_now()?;
        return Ok(Exit::Done);
    }
    let text = text.trim_end();
    Err(Failure::usage(text.strip_prefix("error: ").unwrap_or(text)))
}
