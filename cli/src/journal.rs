//! The journal and the archive of this run's state directory, opened as commands need them.

use std::path::Path;

use boundlane_archive::{Root, list};
use boundlane_record::redact;
use boundlane_store::{AppendError, Journal, KnownHead, Opened, Setup, StateDir};

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

/// Opens the journal for writing, and says when it is another one than before.
pub(crate) fn open_for_writing(ctx: &Context) -> Outcome<(Journal, Opened)> {
    let dir = state_dir(ctx)?;
    let setup = Setup {
        program: concat!("boundlane ", env!("CARGO_PKG_VERSION")).to_owned(),
        machine_label: machine_label(),
        machine_id: machine_id(Path::new("/etc/machine-id")),
        redaction: redact::VERSION,
        now: wall_clock(),
        known_heads: known_heads(&archive_root(ctx)?),
    };
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
    if let Some(path) = &opened.set_aside {
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
