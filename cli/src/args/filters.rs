//! Which rows, and in which form: the same options wherever rows are printed.

use clap::{Args, ValueEnum};

use super::names::sandbox_names;

/// Which rows. The same option twice means either, different options mean both.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only this sandbox, by name or id.
    #[arg(long = "sandbox", value_name = "NAME", add = sandbox_names())]
    pub(crate) sandbox: Option<String>,

    /// Only what was denied.
    #[arg(long)]
    pub(crate) deny: bool,

    /// Only hosts that match: `*.github.com`.
    #[arg(long, value_name = "GLOB")]
    pub(crate) host: Vec<String>,

    /// Only processes whose path or base name matches.
    #[arg(long, alias = "binary", value_name = "GLOB")]
    pub(crate) process: Vec<String>,

    /// Only rules that match.
    #[arg(long, value_name = "GLOB")]
    pub(crate) rule: Vec<String>,

    /// From this time on: `2h`, `today`, `2026-08-21 14:00`, RFC 3339.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,

    /// Up to, and not including, this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,

    /// The last N rows that match; all of them unless said otherwise.
    #[arg(
        short = 'n',
        value_name = "N",
        default_value = "all",
        hide_default_value = true
    )]
    pub(crate) last: Limit,
}

/// How many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Limit {
    /// All of them.
    #[default]
    All,
    /// The last so many.
    Last(usize),
}

impl std::str::FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Limit, Self::Err> {
        match text {
            "all" => Ok(Limit::All),
            number => number
                .parse()
                .map(Limit::Last)
                .map_err(|_| "write a number or `all`"),
        }
    }
}

/// The form in which rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for people.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// RFC 4180.
    Csv,
}
