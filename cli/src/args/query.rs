//! `query`.

use std::time::Duration;

use clap::Args;

use super::filters::FilterArgs;
use super::log::OutputArgs;

/// What to ask.
#[derive(Debug, Args)]
#[command(after_help = "\
boundlane query denied --since 7d        who was denied what
boundlane query \"SELECT host, count(*) FROM decisions GROUP BY host\"")]
#[cfg_attr(
    not(feature = "query"),
    allow(dead_code, reason = "read by the query engine alone")
)]
pub(crate) struct QueryArgs {
    /// SQL, or the name of a question: gaps, drops, sessions, hosts, denied, …
    #[arg(value_name = "SQL|QUESTION")]
    pub(crate) question: Option<String>,

    /// An archive to ask instead of this machine's: a directory or a URL.
    #[arg(long, value_name = "URL")]
    pub(crate) archive: Vec<String>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Exit with 4 when something in the span is missing.
    #[arg(long)]
    pub(crate) require_complete: bool,

    /// Stop after so long: `30s`, `5m`.
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(crate) timeout: Option<Duration>,

    /// Memory for sorts, groups and joins: `512MiB`, `2GiB`.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory_limit: Option<u64>,
}

fn span(text: &str) -> Result<Duration, &'static str> {
    crate::time::span(text)
        .filter(|span| !span.is_zero())
        .ok_or("write `30s`, `5m` or `1h`")
}

/// A size in bytes: `512MiB`, `2g`, `1048576`. Units are powers of 1024, whichever way they are spelled.
fn bytes(text: &str) -> Result<u64, &'static str> {
    const ADVICE: &str = "write `512MiB` or `2GiB`";
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| ADVICE)?;
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(ADVICE),
    };
    number
        .checked_mul(1 << shift)
        .filter(|bytes| *bytes > 0)
        .ok_or(ADVICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_misread() {
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("2g"), Ok(2 << 30));
        assert_eq!(bytes("4096"), Ok(4096));
        for text in [
            "",
            "0",
            "MiB",
            "1.5GiB",
            "-1",
            "99999999999999999999",
            "18446744073709551615g",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_timeout_is_misread() {
        assert_eq!(span("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(span("1m30s"), Ok(Duration::from_secs(90)));
        assert!(span("0s").is_err());
        assert!(span("soon").is_err());
    }
}
