//! A damaged journal: its bytes are kept aside as they are, what can be read of it is salvaged into a whole
//! file of the same journal among the older ones, and a new journal begins that says what is missing.
//!
//! A crash in the middle leaves either the damaged journal in its place, to be judged again, or the two new
//! files ready to be put into theirs, see [`layout::resume`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use boundlane_record::{Micros, TreeSize};
use rusqlite::ErrorCode;

use super::succession::{self, Began, Predecessor, Why};
use super::{Setup, layout};
use crate::db::{self, beside};
use crate::error::OpenError;
use crate::salvage::{self, Fault, Hints, Image, Salvage, wal};
use crate::schema;
use crate::state_dir::{StateDir, StateDirError, hex, random_bytes};

/// A new journal begins by itself at most once in so long: what damages journals again and again is for a
/// person to find.
const AGAIN_AFTER_MICROS: i64 = 24 * 3600 * 1_000_000;

/// A damaged journal that was followed by a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// What did not fit.
    pub why: String,
    /// Where the damaged file lies now, its `-wal` beside it.
    pub damaged: PathBuf,
    /// Where what could be read of it lies; `None` when that is nothing.
    pub readable: Option<PathBuf>,
    /// What that is.
    pub salvage: Salvage,
}

/// Whether the error says that the file does not hold what it must, and not that the system refused.
pub(super) fn is_damage(error: &OpenError) -> bool {
    match error {
        OpenError::Damaged { .. } => true,
        OpenError::Sqlite { source, .. } => !is_refusal(source),
        _ => false,
    }
}

fn is_refusal(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(code, _) = error else {
        return false;
    };
    match code.code {
        ErrorCode::SystemIoFailure => code.extended_code != rusqlite::ffi::SQLITE_IOERR_SHORT_READ,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => false,
        _ => true,
    }
}

/// Looks at the files before SQLite does, which passes over commits that do not fit. Nobody else may have
/// the journal open.
pub(super) fn inspect(dir: &StateDir, setup: &Setup) -> Result<(), OpenError> {
    let path = dir.journal_path();
    let io = |error| OpenError::Dir(StateDirError::io(&path)(error));
    let why = match lost_commits(&path, setup.now).map_err(io)? {
        None => cut(&path).map_err(io)?,
        lost => lost,
    };
    match why {
        None => Ok(()),
        Some(why) => Err(OpenError::Damaged {
            path: path.clone(),
            why: why.into(),
        }),
    }
}

fn lost_commits(path: &Path, now: Micros) -> io::Result<Option<&'static str>> {
    let shm = beside(path, "-shm");
    let page_bytes = Image::page_bytes_of(path)?;
    wal::lost(
        &beside(path, "-wal"),
        &shm,
        page_bytes,
        is_of_this_boot(&shm, now),
    )
}

/// A `-shm` from before the last boot may be behind the disk. Where nothing tells, it is not believed.
fn is_of_this_boot(shm: &Path, now: Micros) -> bool {
    let uptime = std::fs::read_to_string("/proc/uptime").ok();
    let seconds = uptime
        .as_deref()
        .and_then(|text| text.split('.').next()?.parse::<i64>().ok());
    let changed = std::fs::metadata(shm).and_then(|file| file.modified()).ok();
    let changed = changed.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
    match (seconds, changed) {
        (Some(seconds), Some(changed)) => {
            let boot = now.0.saturating_sub(seconds.saturating_mul(1_000_000));
            i64::try_from(changed.as_micros()).is_ok_and(|changed| changed > boot)
        }
        _ => false,
    }
}

/// A file that is shorter than its header says. While a `-wal` holds commits, the header is not the last word.
fn cut(path: &Path) -> io::Result<Option<&'static str>> {
    let has_wal = std::fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0);
    let stated = schema::stated_bytes(path)?;
    let is_cut =
        stated.is_some_and(|stated| std::fs::metadata(path).is_ok_and(|file| file.len() < stated));
    Ok((is_cut && !has_wal).then_some("it is shorter than it was"))
}

/// Replaces the journal in `dir`, alone there.
pub(super) fn replace(
    dir: &StateDir,
    setup: &Setup,
    why: &str,
) -> Result<(Began, Salvaged), OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    let path = dir.journal_path();
    let (began, salvage) = build(dir, setup, &path)?;
    if is_too_soon(dir, setup.now).map_err(db::at(&path))? {
        layout::discard_built(dir).map_err(io)?;
        return Err(OpenError::Damaged {
            path,
            why: format!(
                "{why}, and a journal was followed by a new one less than a day ago: see what damages it; \
                 `boundlane fsck --salvage DIR` copies what can be read"
            ),
        });
    }
    let id = salvage.journal.as_deref().unwrap_or("unknown");
    let damaged = layout::keep_damaged(dir, id).map_err(io)?;
    let readable = layout::place_salvaged(dir).map_err(io)?;
    layout::install(dir).map_err(io)?;
    let salvaged = Salvaged {
        why: why.to_owned(),
        damaged,
        readable,
        salvage,
    };
    Ok((began, salvaged))
}

/// Builds in `dir` the whole file of what can be read at `source`, and the journal that follows it.
pub(super) fn build(
    dir: &StateDir,
    setup: &Setup,
    source: &Path,
) -> Result<(Began, Salvage), OpenError> {
    let io = |error| OpenError::Dir(StateDirError::io(dir.path())(error));
    let key = dir.digest_key()?;
    let tail = lost_commits(source, setup.now).map_err(io)?;
    let otherwise = otherwise(dir, setup).map_err(io)?;
    let target = layout::begin_salvaging(dir).map_err(io)?;
    let salvage = copy(source, &target, setup, &key, (&otherwise, tail))?;
    let has_any = salvage.entries > 0 || salvage.journal.is_some();
    if !has_any {
        layout::discard_built(dir).map_err(io)?;
    }
    let began = Began {
        why: Why::Salvaged,
        predecessor: predecessor(&salvage, &otherwise, setup),
    };
    let from = has_any.then_some(target.as_path());
    succession::build_after(dir, setup, &key, &began, Some((&salvage, from)))?;
    Ok((began, salvage))
}

/// Copies what can be read at `source`, which is not written, into the empty file `target`.
pub(super) fn copy(
    source: &Path,
    target: &Path,
    setup: &Setup,
    key: &[u8; 32],
    (otherwise, tail): (&str, Option<&'static str>),
) -> Result<Salvage, OpenError> {
    let hints = Hints {
        program: &setup.program,
        otherwise,
        key_hash: succession::key_hash(key),
        tail,
    };
    salvage::copy(source, target, &hints).map_err(|fault| match fault {
        Fault::Io(error) => StateDirError::io(source)(error).into(),
        Fault::Sqlite(error) => db::at(target)(error),
        Fault::Read(error) => OpenError::Damaged {
            path: target.to_owned(),
            why: error.to_string(),
        },
    })
}

/// What a journal is called that does not say it any more: as the archive's newest one that has no file, so
/// that no entry is there under two names.
pub(super) fn otherwise(dir: &StateDir, setup: &Setup) -> io::Result<String> {
    let known = setup.known_heads.last().filter(|head| {
        let file = format!("{}.sqlite", head.journal);
        !dir.journals_dir().join(file).exists()
    });
    match known {
        Some(head) => Ok(head.journal.clone()),
        None => Ok(hex(&random_bytes::<16>()?)),
    }
}

/// The journal before, and the greatest size known of it.
fn predecessor(salvage: &Salvage, otherwise: &str, setup: &Setup) -> Option<Predecessor> {
    let journal = salvage.journal.as_deref().unwrap_or(otherwise);
    let known = setup
        .known_heads
        .iter()
        .filter(|known| known.journal == journal && known.size > salvage.size)
        .max_by_key(|known| known.size);
    match known {
        Some(known) => Some(Predecessor {
            journal: known.journal.clone(),
            size: known.size,
            root: Some(known.root),
        }),
        None if salvage.size == TreeSize(0) => None,
        None => Some(Predecessor {
            journal: journal.to_owned(),
            size: salvage.size,
            root: salvage.root,
        }),
    }
}

/// Whether the damaged journal itself began after another one less than a day ago.
fn is_too_soon(dir: &StateDir, now: Micros) -> rusqlite::Result<bool> {
    let is_recent = |moment: i64| (0..AGAIN_AFTER_MICROS).contains(&(now.0 - moment));
    if layout::damaged_moments(dir).into_iter().any(is_recent) {
        return Ok(true);
    }
    let path = layout::salvaged_path(dir);
    if !path.exists() {
        return Ok(false);
    }
    let db = db::open_immutable(&path)?;
    let (why, created): (String, i64) =
        db.query_row("SELECT why, created FROM journal", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let by_itself = [Why::Fork, Why::Salvaged, Why::Restored, Why::StateLost];
    Ok(by_itself.iter().any(|begun| begun.word() == why) && is_recent(created))
}
