//! Salvage by hand: what can be read of the journals of a directory, copied into another one. The first is
//! not written to, whatever state it is in.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::succession::{self, Began, Predecessor, Why};
use super::{Setup, damage, layout};
use crate::error::{OpenError, ReadError};
use crate::files::create_private;
use crate::lock::Gate;
use crate::reader::Reader;
use crate::salvage::Salvage;
use crate::schema;
use crate::state_dir::{StateDir, StateDirError};

/// What was copied into the new directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescue {
    /// The id of the journal that begins there.
    pub journal: String,
    /// Each file that was read, the older journals first.
    pub files: Vec<Rescued>,
}

/// One journal file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescued {
    /// Where it lies.
    pub from: PathBuf,
    /// Where what could be read of it is now; `None` when that is nothing.
    pub to: Option<PathBuf>,
    /// What that is.
    pub salvage: Salvage,
}

/// Why nothing could be copied.
#[derive(Debug, thiserror::Error)]
pub enum RescueError {
    /// The new directory holds something.
    #[error("`{}` is not empty; name a directory that is, or none yet", .0.display())]
    NotEmpty(PathBuf),
    /// There is no journal to copy.
    #[error("no journal is in `{}`", .0.display())]
    Nothing(PathBuf),
    /// A directory or a file cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What was copied cannot be read back.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<StateDirError> for RescueError {
    fn from(error: StateDirError) -> RescueError {
        RescueError::Open(error.into())
    }
}

/// Copies everything that can be read of the journals in `source` into `target`, which is made: each as an
/// older journal of the same id and numbers, and a new journal that names what is missing of the newest.
///
/// # Errors
/// [`RescueError`]. Files that were copied before stay in `target`.
pub fn salvage_into(
    source: &StateDir,
    target: &StateDir,
    setup: &Setup,
) -> Result<Rescue, RescueError> {
    let newest = source.journal_path();
    let older = older(source);
    if !newest.exists() && older.is_empty() {
        return Err(RescueError::Nothing(source.path().to_owned()));
    }
    if let Err(error @ OpenError::NewerSchema(_)) = schema::check_file(&newest) {
        return Err(error.into());
    }
    let _still = enter(source)?;
    make_empty(target)?;
    let _alone = enter(target)?;
    take_key(source, target).map_err(StateDirError::io(target.path()))?;
    let mut files = Vec::new();
    for from in older {
        files.push(copy_older(target, setup, from)?);
    }
    let at = |error| StateDirError::io(target.path())(error);
    if newest.exists() {
        let (_, salvage) = damage::build(target, setup, &newest)?;
        let to = layout::place_salvaged(target).map_err(at)?;
        files.push(Rescued {
            from: newest,
            to,
            salvage,
        });
    } else {
        follow(target, setup, files.last())?;
    }
    layout::install(target).map_err(at)?;
    let reader = Reader::open(target)?.ok_or(ReadError::Damaged("the new journal is gone"))?;
    Ok(Rescue {
        journal: reader.head()?.journal,
        files,
    })
}

/// Journals that were set aside; copies from before a migration hold nothing of their own.
fn older(source: &StateDir) -> Vec<PathBuf> {
    let files = fs::read_dir(source.journals_dir()).into_iter().flatten();
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.ends_with(".sqlite"))
    });
    paths.sort();
    paths
}

/// Nobody may write meanwhile.
fn enter(dir: &StateDir) -> Result<Gate, RescueError> {
    let gate = Gate::enter(dir).map_err(StateDirError::io(dir.path()))?;
    if gate.is_alone() {
        return Ok(gate);
    }
    let why = "what is copied must not change meanwhile";
    Err(OpenError::InUse { why: why.into() }.into())
}

fn make_empty(target: &StateDir) -> Result<(), RescueError> {
    target.create()?;
    let mut inside = fs::read_dir(target.path()).map_err(StateDirError::io(target.path()))?;
    match inside.next() {
        None => Ok(()),
        Some(_) => Err(RescueError::NotEmpty(target.path().to_owned())),
    }
}

/// Marks and fingerprints compare under the same key only.
fn take_key(source: &StateDir, target: &StateDir) -> io::Result<()> {
    let Ok(Some(key)) = source.read_digest_key() else {
        return Ok(());
    };
    let mut file = create_private(&target.digest_key_path())?;
    file.write_all(&key)?;
    file.sync_all()
}

fn copy_older(target: &StateDir, setup: &Setup, from: PathBuf) -> Result<Rescued, RescueError> {
    let at = |error| StateDirError::io(target.path())(error);
    let key = target.digest_key()?;
    let file = layout::begin_salvaging(target).map_err(at)?;
    let named = named(&from);
    let salvage = damage::copy(&from, &file, setup, &key, (&named, None))?;
    let to = match salvage.entries {
        0 => layout::discard_built(target).map(|()| None),
        _ => layout::place_salvaged(target),
    };
    Ok(Rescued {
        from,
        to: to.map_err(at)?,
        salvage,
    })
}

/// The id in the name of an older journal, as far as it has one.
fn named(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let id = stem.map(|stem| stem.rsplit('-').next().unwrap_or(stem));
    id.unwrap_or("unknown").to_owned()
}

/// A new journal where only older ones are.
fn follow(target: &StateDir, setup: &Setup, newest: Option<&Rescued>) -> Result<(), RescueError> {
    let predecessor = newest.map(|Rescued { from, salvage, .. }| Predecessor {
        journal: salvage.journal.clone().unwrap_or_else(|| named(from)),
        size: salvage.size,
        root: salvage.root,
    });
    let began = Began {
        why: Why::Salvaged,
        predecessor,
    };
    succession::build(target, setup, &target.digest_key()?, &began)?;
    Ok(())
}
