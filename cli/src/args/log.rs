//! `log`.

use clap::Args;

use super::filters::{FilterArgs, Format};
use super::names::sandbox_names;

/// Options that choose among the rows of one sandbox say nothing about a list of all.
const LISTS_ALL: [&str; 13] = [
    "name",
    "sandbox",
    "deny",
    "host",
    "process",
    "rule",
    "since",
    "until",
    "last",
    "raw",
    "follow",
    "columns",
    "require_complete",
];

/// What to show.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a name: the newest sandbox of this folder or one around it, else the one
that was seen last. Losses are rows of their own and no filter hides them.

boundlane log --deny --since 2h          what was blocked in the last two hours
boundlane log my-agent --host '*.github.com' -o jsonl")]
pub(crate) struct LogArgs {
    /// The sandbox, by name or id.
    #[arg(value_name = "SANDBOX", add = sandbox_names())]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// List the sandboxes instead.
    #[arg(long, conflicts_with_all = LISTS_ALL)]
    pub(crate) list: bool,

    /// Go on with rows as they are recorded.
    #[arg(short, long)]
    pub(crate) follow: bool,

    /// Print the lines as they were received.
    #[arg(long, conflicts_with_all = ["format", "columns"])]
    pub(crate) raw: bool,

    /// Print each denial, also when it repeats within a minute.
    #[arg(long)]
    pub(crate) no_fold: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Exit with 4 when something in the span is missing.
    #[arg(long)]
    pub(crate) require_complete: bool,
}

/// In which form.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArgs {
    /// The form of the rows.
    #[arg(
        short = 'o',
        value_name = "FORM",
        default_value = "table",
        hide_default_value = true,
        id = "format"
    )]
    pub(crate) format: Format,

    /// The columns to print, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,

    /// Leave the header out.
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Show and read times in UTC.
    #[arg(long)]
    pub(crate) utc: bool,

    /// Leave CSV cells that begin a formula as they are.
    #[arg(long)]
    pub(crate) csv_raw: bool,
}
