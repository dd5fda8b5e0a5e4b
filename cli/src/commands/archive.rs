//! `archive`: takes what is not archived yet into Parquet files.

use boundlane_store::{Journal, Prune};

use crate::archiving::{self, Report};
use crate::args::ArchiveArgs;
use crate::commands::recorded::open_journal;
use crate::context::{Context, shown};
use crate::exit::{Exit, Outcome};
use crate::journal;
use crate::output::out::Out;
use crate::pruning;

/// Archives the whole prefix, or says that there is nothing to do.
pub(crate) fn run(args: &ArchiveArgs, ctx: &Context, out: &mut Out) -> Outcome {
    // A directory where nothing was recorded is not created by archiving nothing.
    let report = match open_journal(ctx)? {
        None => None,
        Some(reader) => {
            drop(reader);
            let (mut journal, _) = journal::open_for_writing(ctx)?;
            let lock = archiving::wait_for_lock(ctx)?;
            let report = archiving::archive_prefix(ctx, &mut journal, &lock)?;
            prune(ctx, &mut journal);
            Some(report)
        }
    };
    if args.json {
        out.line(&json(report.as_ref()).to_string())?;
    } else {
        describe(report.as_ref(), out)?;
    }
    Ok(Exit::Done)
}

/// What is archived is archived, whatever comes of pruning.
fn prune(ctx: &Context, journal: &mut Journal) {
    let terms = pruning::terms(pruning::query_micros_max(&ctx.config));
    match pruning::prune_all(journal, &terms) {
        Ok(Prune::ClockStepped) => ctx.warn(
            "the clock was set by more than a day: nothing is pruned until the machine starts again",
        ),
        Ok(_) => {}
        Err(error) => ctx.warn(&format!("old entries stay in the journal: {error}")),
    }
}

fn describe(report: Option<&Report>, out: &mut Out) -> Outcome<()> {
    let Some(report) = report else {
        return out.line("nothing is recorded here yet, so there is nothing to archive");
    };
    if report.entries == 0 {
        return out.line(&format!(
            "everything is archived already, through entry {}",
            report.through
        ));
    }
    out.line(&format!(
        "archived {} entries, through entry {}",
        report.entries, report.through
    ))?;
    for file in &report.files {
        out.line(&format!("  {} ({} bytes)", shown(&file.path), file.bytes))?;
    }
    Ok(())
}

fn json(report: Option<&Report>) -> serde_json::Value {
    let Some(report) = report else {
        return serde_json::json!({"entries": 0, "through": 0, "files": []});
    };
    let files = report.files.iter().map(|file| {
        serde_json::json!({
            "path": file.path.to_string_lossy(),
            "first": file.name.first.0,
            "last": file.name.last.0,
            "bytes": file.bytes,
            "root": file.head.root.to_hex(),
        })
    });
    serde_json::json!({
        "entries": report.entries,
        "through": report.through.0,
        "files": files.collect::<Vec<_>>(),
    })
}
