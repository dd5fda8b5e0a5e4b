//! `boundlane` alone: one screen.

use crate::context::{Context, shown};
use crate::exit::{Exit, Failure, Outcome};
use crate::output::out::Out;
use crate::text::colour::Tone;

/// Commands by who uses them.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "At the laptop",
        &[
            ("log", "what a sandbox reached, what was blocked and why"),
            ("save", "a durable copy, before a sandbox is deleted"),
            ("ingest", "read log lines into the record"),
        ],
    ),
    (
        "Operating it",
        &[
            ("forward", "follow a gateway: every decision, as it is made"),
            (
                "status",
                "whether the record is whole: books, streams, losses",
            ),
            (
                "doctor",
                "what hides decisions on this machine, each with its fix",
            ),
            ("archive", "write what is not archived yet to Parquet files"),
            ("fsck", "check every law of the record, offline"),
            ("config", "each setting, its value and where it comes from"),
        ],
    ),
    (
        "Auditing it",
        &[
            ("query", "questions over everything, the archive included"),
            ("log --list", "the sandboxes that were recorded, and when"),
        ],
    ),
];

/// Says what the program is, what it can do, where the data is, and how to begin.
pub(crate) fn run(ctx: &Context, out: &mut Out) -> Outcome {
    let palette = ctx.stdout_palette;
    let name = palette.painted(Tone::Strong, "boundlane");
    out.line(&format!(
        "{name}: the record of what AI agents were allowed and denied\n"
    ))?;
    for (who, commands) in GROUPS {
        out.line(&palette.painted(Tone::Strong, who))?;
        for (command, does) in *commands {
            out.line(&format!("  {command:<12} {does}"))?;
        }
        out.text("\n")?;
    }
    out.line(&where_it_is(ctx))?;
    out.text("\n")?;
    out.line("Example:")?;
    out.line("  openshell logs my-agent | boundlane ingest --sandbox my-agent")?;
    out.line("  boundlane log my-agent --deny\n")?;
    out.line("`boundlane help COMMAND` says more; `completions SHELL` helps to type.")?;
    Ok(Exit::Done)
}

fn where_it_is(ctx: &Context) -> String {
    match ctx.state_dir() {
        Ok(located) if located.path.join("journal.sqlite").exists() => {
            format!("The record is in {}", shown(&located.path))
        }
        Ok(located) => {
            format!(
                "The record will be in {} (nothing is recorded yet)",
                shown(&located.path)
            )
        }
        Err(Failure::Told(told)) => format!("No record: {}", told.what),
        Err(_) => "No record".to_owned(),
    }
}
