//! `forward`.

use std::net::SocketAddr;

use clap::Args;

use super::names::sandbox_names;
use crate::commands::forward::metrics::loopback;
use crate::commands::forward::unit::UnitKind;

/// What to follow.
#[derive(Debug, Args)]
pub(crate) struct ForwardArgs {
    /// The gateway: a URL, or the name it is registered by.
    #[arg(long, value_name = "URL|NAME")]
    pub(crate) gateway: Option<String>,

    /// The workspace of the sandboxes.
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,

    /// Sandboxes of every workspace.
    #[arg(long, conflicts_with = "workspace")]
    pub(crate) all_workspaces: bool,

    /// Follow this sandbox; may be given several times.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["selector", "all"], add = sandbox_names())]
    pub(crate) sandbox: Vec<String>,

    /// Follow sandboxes with these labels.
    #[arg(
        long,
        value_name = "K=V,…",
        default_value = "boundlane=1",
        conflicts_with = "all"
    )]
    pub(crate) selector: String,

    /// Follow every sandbox.
    #[arg(long)]
    pub(crate) all: bool,

    /// Read what there is and end, once each sandbox was silent for 3 seconds.
    #[arg(long)]
    pub(crate) once: bool,

    /// Leave the archive to `boundlane archive`.
    #[arg(long)]
    pub(crate) no_archive: bool,

    /// Answer `GET /metrics` and `GET /healthz` at this loopback address.
    #[arg(long, value_name = "ADDR", value_parser = loopback)]
    pub(crate) metrics: Option<SocketAddr>,

    /// Print a service file that runs this command with these options, and follow nothing.
    #[arg(long, value_name = "KIND")]
    pub(crate) print_unit: Option<UnitKind>,

    /// Divide every wait by this.
    #[arg(long, hide = true, default_value_t = 1)]
    pub(crate) pace: u32,
}
