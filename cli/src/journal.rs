//! The journal and the archive of this run's state directory, opened as commands need them.

use std::path::Path;

use boundlane_archive::{Root, list};
use boundlane_record::redact;
use boundlane_store::{
    AppendError, Journal, KnownHead, Opened, Salvage, Salvaged, Setup, StateDir,
};

use crate::commands::recorded::open_failure;
use crate::context::{Context, wall_clock};
use crate::exit::{Failure, Outcome};

/// The state directory of this run.
pub(crate) fn state_dir(ctx: &Context) -> Outcome<StateDir> {
    Ok(StateDir::at(&ctx.state_dir()?.path))
}

/// The local archive of this run.
pub(crate) fn archive_root(ctx: &Context) -> Outcome<Root> {
    Ok(Root::at(ctx.archive_root()?.path))
}

/// What a writer says about itself and this machine.
pub(crate) fn setup(ctx: &Context) -> Outcome<Setup> {
    Ok(Setup {
        program: concat!("boundlane ", env!("CARGO_PKG_VERSION")).to_owned(),
        machine_label: machine_label(),
        machine_id: machine_id(Path::new("/etc/machine-id")),
        redaction: redact::VERSION,
        now: wall_clock(),
        known_heads: known_heads(&archive_root(ctx)?),
    })
}

/// Opens the journal for writing, and says when it is another one than before.
pub(crate) fn open_for_writing(ctx: &Context) -> Outcome<(Journal, Opened)> {
    let (dir, setup) = (state_dir(ctx)?, setup(ctx)?);
    let (mut journal, opened) =
        Journal::open(&dir, &setup).map_err(|error| open_failure(&error))?;
    tell(ctx, &opened);
    match journal.set_limits(&ctx.config.limits()) {
        // The old ones stay in force until there is room to write the new ones.
        Ok(()) | Err(AppendError::Full | AppendError::Busy) => {}
        Err(error) => return Err(Failure::failed(error)),
    }
    Ok((journal, opened))
}

fn tell(ctx: &Context, opened: &Opened) {
    if let Some(salvaged) = &opened.salvaged {
        tell_salvaged(ctx, salvaged);
    } else if let Some(path) = &opened.set_aside {
        ctx.warn(&format!(
            "the journal in this directory was not this machine's own history; it is kept at `{}` and a new one begins",
            crate::context::shown(path)
        ));
    }
    if opened.key_replaced {
        ctx.warn(
            "`digest.key` is another than before: files that were read already will be read as new",
        );
    }
    if opened.losses_numbered > 0 {
        ctx.note(&format!(
            "{} losses that a crash left open were numbered",
            opened.losses_numbered
        ));
    }
}

/// What was damaged, what is missing, and what was kept where.
fn tell_salvaged(ctx: &Context, salvaged: &Salvaged) {
    let what = &salvaged.salvage;
    let mut text = format!(
        "the journal was damaged ({}): {} of its entries were read, {}; a new journal begins",
        salvaged.why,
        what.entries,
        missing(what)
    );
    if what.checkpoints_lost > 0 || what.streams_unknown {
        text.push_str(&format!(
            "; {} streams are read on, the place of {} is lost",
            what.streams,
            match what.streams_unknown {
                true => "others".to_owned(),
                false => what.checkpoints_lost.to_string(),
            }
        ));
    }
    ctx.warn(&text);
    let shown = |path: &Path| crate::context::shown(path).to_string();
    let readable = salvaged.readable.as_deref().map(shown);
    ctx.warn(&format!(
        "the damaged file is kept at `{}`{}",
        shown(&salvaged.damaged),
        readable.map_or_else(String::new, |path| format!(
            ", its readable entries at `{path}`, where `log` and `query` find them"
        ))
    ));
}

/// The numbers that are missing, in words.
pub(crate) fn missing(what: &Salvage) -> String {
    const SHOWN_MAX: usize = 3;
    let ranges = what.missing.iter().take(SHOWN_MAX);
    let mut ranges: Vec<String> = ranges
        .map(|(first, last)| format!("{first} to {last}"))
        .collect();
    if what.missing.len() > SHOWN_MAX {
        ranges.push("more".to_owned());
    }
    let numbers = match what.missing_entries {
        0 => "none of its numbers is missing".to_owned(),
        n => format!("{n} are missing ({})", ranges.join(", ")),
    };
    match what.tail {
        Some(why) => format!("{numbers}, and what came last may be: {why}"),
        None => numbers,
    }
}

/// The newest head of each journal in the archive: what the journal must have on its tree.
fn known_heads(root: &Root) -> Vec<KnownHead> {
    let listing = list(root);
    let newest = |holding: &boundlane_archive::Holding| {
        let head = listing.head_of(&holding.journal)?;
        Some(KnownHead {
            journal: holding.journal.to_string(),
            size: head.size,
            root: head.root,
        })
    };
    listing.holdings().iter().filter_map(newest).collect()
}

fn machine_id(path: &Path) -> Option<String> {
    let id = std::fs::read_to_string(path).ok()?;
    let id = id.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

fn machine_label() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}
