//! `save`.

use clap::Args;

use super::names::sandbox_names;

/// What to make durable.
#[derive(Debug, Args)]
#[command(after_help = "\
0  durable: the sandbox can be deleted; what is missing is stated
1  not durable
3  the gateway cannot be reached
4  incomplete, and that was required; or gone without an end")]
pub(crate) struct SaveArgs {
    /// The sandbox, by name.
    #[arg(value_name = "SANDBOX", add = sandbox_names())]
    pub(crate) sandbox: String,

    /// How long to wait until everything is recorded.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    pub(crate) wait: String,

    /// Exit with 4 when something is missing.
    #[arg(long)]
    pub(crate) require_complete: bool,

    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,

    /// The gateway: a URL, or the name it is registered by.
    #[arg(long, value_name = "URL|NAME")]
    pub(crate) gateway: Option<String>,

    /// The workspace of the sandbox.
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,

    /// Divide every wait by this.
    #[arg(long, hide = true, default_value_t = 1)]
    pub(crate) pace: u32,
}
