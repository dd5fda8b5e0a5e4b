//! `ingest`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::names::sandbox_names;

/// What to read.
#[derive(Debug, Args)]
pub(crate) struct IngestArgs {
    /// The files to read; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true, value_hint = clap::ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The sandbox that the lines are about.
    #[arg(long, value_name = "NAME", add = sandbox_names())]
    pub(crate) sandbox: Option<String>,

    /// The form of the lines.
    #[arg(
        long,
        value_name = "FORM",
        default_value = "auto",
        hide_default_value = true
    )]
    pub(crate) format: InputFormat,

    /// The day of lines that only have a time of day.
    #[arg(long, value_name = "DAY")]
    pub(crate) date: Option<String>,

    /// Take standard input as new, without looking for lines that are recorded.
    #[arg(long)]
    pub(crate) no_align: bool,

    /// Leave the archive to `boundlane archive`.
    #[arg(long)]
    pub(crate) no_archive: bool,

    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The form of lines that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Recognised from the lines themselves.
    Auto,
    /// What `openshell logs` prints.
    Cli,
    /// The log file of a sandbox.
    Shorthand,
    /// OCSF events, one JSON object a line.
    Ocsf,
    /// The older `key=value` lines.
    Keyvalue,
}
