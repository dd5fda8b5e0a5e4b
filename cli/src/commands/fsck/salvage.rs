//! `fsck --salvage DIR`: what can be read of the journals here, in a new state directory.

use std::path::Path;

use boundlane_store::{OpenError, Rescue, RescueError, Rescued, StateDir, salvage_into};

use crate::commands::recorded::open_failure;
use crate::context::{Context, shown};
use crate::exit::{Exit, Failure, Outcome};
use crate::journal;
use crate::output::out::Out;

/// Copies into `into`; 5 when something could not be read.
pub(super) fn run(into: &Path, as_json: bool, ctx: &Context, out: &mut Out) -> Outcome {
    let source = journal::state_dir(ctx)?;
    let rescue = salvage_into(&source, &StateDir::at(into), &journal::setup(ctx)?)
        .map_err(|error| failure(&error))?;
    print(into, as_json, &rescue, out)?;
    let is_whole = |file: &Rescued| file.salvage.is_whole();
    if rescue.files.iter().all(is_whole) {
        return Ok(Exit::Done);
    }
    out.flush_now()?;
    Err(Failure::new(
        Exit::VerificationFailed,
        "not everything could be read: the new journal says what is missing",
    )
    .advise(format_args!(
        "nothing was changed here; `boundlane log --state-dir {}` reads the copy",
        shown(into)
    )))
}

fn failure(error: &RescueError) -> Failure {
    match error {
        RescueError::NotEmpty(_) => Failure::new(Exit::Usage, error),
        RescueError::Nothing(_) => Failure::new(Exit::Failed, error),
        RescueError::Open(error @ OpenError::InUse { .. }) => Failure::new(Exit::NotReady, error),
        RescueError::Open(error) => open_failure(error),
        RescueError::Read(_) => Failure::new(Exit::Failed, error),
    }
}

fn print(into: &Path, as_json: bool, rescue: &Rescue, out: &mut Out) -> Outcome<()> {
    if as_json {
        let files: Vec<_> = rescue.files.iter().map(document).collect();
        let document = serde_json::json!({
            "into": into,
            "journal": rescue.journal,
            "salvaged": files,
        });
        return out.line(&document.to_string());
    }
    for file in &rescue.files {
        let what = &file.salvage;
        out.line(&format!(
            "`{}`: {} entries read, {}; {} streams are read on, the place of {} is lost",
            shown(&file.from),
            what.entries,
            journal::missing(what),
            what.streams,
            what.checkpoints_lost
        ))?;
    }
    out.line(&format!(
        "journal {} begins in `{}`",
        rescue.journal,
        shown(into)
    ))
}

fn document(file: &Rescued) -> serde_json::Value {
    let what = &file.salvage;
    let missing: Vec<[u64; 2]> = what
        .missing
        .iter()
        .map(|(first, last)| [first.0, last.0])
        .collect();
    serde_json::json!({
        "from": file.from,
        "to": file.to,
        "journal": what.journal,
        "size": what.size.0,
        "root": what.root.map(boundlane_record::tree::Hash::to_hex),
        "pruned": what.pruned.0,
        "entries": what.entries,
        "missing": missing,
        "missing_entries": what.missing_entries,
        "tail": what.tail,
        "contradicted_subtrees": what.contradicted,
        "streams": what.streams,
        "checkpoints_lost": what.checkpoints_lost,
        "whole": what.is_whole(),
    })
}
