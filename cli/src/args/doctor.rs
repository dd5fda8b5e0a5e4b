//! `doctor`.

use clap::Args;

/// What to look at.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads only, and asks the gateway for its version, its sandboxes and their newest
lines. Ends with 3 when something is an error.")]
pub(crate) struct DoctorArgs {
    /// The gateway: a URL, or the name it is registered by.
    #[arg(long, value_name = "URL|NAME")]
    pub(crate) gateway: Option<String>,

    /// The workspace of the sandboxes.
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,

    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
