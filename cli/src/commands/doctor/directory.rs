//! The state directory: whose it is, who may read it, what it lies on, who is at work in it.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use boundlane_store::{Lock, LockName, StateDir};

use super::finding::Finding;
use crate::commands::status::archive::in_words;
use crate::context::{Context, shown};
use crate::exit::Outcome;

const DIRECTORY: &str = "state directory";
const FILE_SYSTEM: &str = "file system";
const FREE: &str = "free space";
const ARCHIVER: &str = "archive lock";

/// Below this the journal soon cannot be written: a commit of the largest items, its log, and the archiver's
/// next file.
const FREE_BYTES_LEAST: u64 = 64 << 20;
/// Below this a journal may not grow to its bound.
const FREE_BYTES_GOOD: u64 = 1 << 30;

/// What is found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) path: PathBuf,
    pub(super) place: Place,
    /// The kind of network file system.
    pub(super) network: Option<String>,
    /// What is left for this user on the disk, in bytes; `None` when it cannot be told.
    pub(super) free: Option<u64>,
    /// Who follows gateways for this directory, and who writes its archive.
    pub(super) follower: Option<u32>,
    pub(super) archiver: Option<u32>,
}

/// What is at the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Absent,
    /// Something that is no directory, or that cannot be looked at.
    Unusable(String),
    There {
        is_ours: bool,
        is_writable: bool,
        /// The directory or files in it that others may read or write.
        open: Vec<String>,
    },
}

impl Facts {
    /// Looks at the directory of this run.
    ///
    /// # Errors
    /// 2 when nothing says where it is.
    pub(super) fn read(ctx: &Context) -> Outcome<Facts> {
        let path = ctx.state_dir()?.path.clone();
        let dir = StateDir::at(&path);
        Ok(Facts {
            place: place(&dir),
            network: network(&path),
            free: free(&path),
            follower: Lock::owner(&dir, LockName::Follow),
            archiver: Lock::owner(&dir, LockName::Archive),
            path,
        })
    }
}

fn place(dir: &StateDir) -> Place {
    let metadata = match std::fs::metadata(dir.path()) {
        Ok(metadata) if metadata.is_dir() => metadata,
        Ok(_) => return Place::Unusable("it is no directory".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Place::Absent,
        Err(error) => return Place::Unusable(error.to_string()),
    };
    let within = [
        dir.path().to_owned(),
        dir.journal_path(),
        dir.digest_key_path(),
    ];
    let is_open = |path: &&PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    };
    Place::There {
        is_ours: metadata.uid() == rustix::process::geteuid().as_raw(),
        is_writable: rustix::fs::access(dir.path(), rustix::fs::Access::WRITE_OK).is_ok(),
        open: within
            .iter()
            .filter(is_open)
            .map(|path| shown(path))
            .collect(),
    }
}

/// Of the directory, or of the first one above it that is there.
fn network(path: &Path) -> Option<String> {
    let mut above = path.ancestors().map(StateDir::at);
    above.find(StateDir::exists)?.network().ok().flatten()
}

/// As [`network`].
fn free(path: &Path) -> Option<u64> {
    let disk = path
        .ancestors()
        .find_map(|path| rustix::fs::statvfs(path).ok())?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Everything about the directory but who follows.
pub(super) fn checks(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![directory(facts), file_system(facts)];
    findings.extend(facts.free.map(|free| free_space(facts, free)));
    findings.extend(
        facts
            .archiver
            .map(|pid| Finding::ok(ARCHIVER, format!("process {pid} is writing the archive"))),
    );
    findings
}

fn directory(facts: &Facts) -> Finding {
    let path = shown(&facts.path);
    match &facts.place {
        Place::Absent => Finding::note(
            DIRECTORY,
            format!("`{path}` is not there yet: nothing is recorded"),
        ),
        Place::Unusable(why) => {
            Finding::error(DIRECTORY, format!("`{path}` cannot be used: {why}"))
                .fix("move away what is there, or name another place with `--state-dir`")
        }
        Place::There {
            is_writable: false, ..
        } => Finding::error(
            DIRECTORY,
            format!("this user may not write to `{path}`: nothing can be recorded"),
        )
        .fix("run as its owner, or name another place with `--state-dir`"),
        Place::There { open, .. } if !open.is_empty() => Finding::warning(
            DIRECTORY,
            format!("other users may read or write `{}`", open.join("`, `")),
        )
        .fix(format!("`chmod -R go= '{path}'`")),
        Place::There { is_ours: false, .. } => Finding::warning(
            DIRECTORY,
            format!("`{path}` is another user's: what this user writes there its owner cannot"),
        )
        .fix("run as its owner"),
        Place::There { .. } => Finding::ok(DIRECTORY, format!("`{path}`, this user's alone")),
    }
}

fn file_system(facts: &Facts) -> Finding {
    match &facts.network {
        Some(kind) => Finding::error(
            FILE_SYSTEM,
            format!(
                "the state directory is on a network file system ({kind}), whose locks do not hold"
            ),
        )
        .fix("choose a local directory with `--state-dir`"),
        None => Finding::ok(FILE_SYSTEM, "no network file system that is known"),
    }
}

fn free_space(facts: &Facts, free: u64) -> Finding {
    let what = format!("{} free at `{}`", in_words(free), shown(&facts.path));
    let fix = "free some space, or name another place with `--state-dir`";
    match free {
        ..FREE_BYTES_LEAST => Finding::error(FREE, what).fix(fix),
        FREE_BYTES_LEAST..FREE_BYTES_GOOD => Finding::warning(FREE, what).fix(fix),
        _ => Finding::ok(FREE, what),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::finding::Level;
    use super::*;

    fn facts() -> Facts {
        Facts {
            path: "/s".into(),
            place: Place::There {
                is_ours: true,
                is_writable: true,
                open: Vec::new(),
            },
            network: None,
            free: Some(FREE_BYTES_GOOD),
            follower: None,
            archiver: None,
        }
    }

    fn worst(facts: &Facts) -> Level {
        let levels = checks(facts).into_iter().map(|finding| finding.level);
        levels.max().unwrap()
    }

    fn at(place: Place) -> Level {
        worst(&Facts { place, ..facts() })
    }

    #[test]
    fn a_directory_that_cannot_keep_a_record_is_well() {
        assert_eq!(worst(&facts()), Level::Ok);
        assert_eq!(at(Place::Absent), Level::Note);
        assert_eq!(at(Place::Unusable("x".to_owned())), Level::Error);
        let there = |is_ours, is_writable, open: &[&str]| Place::There {
            is_ours,
            is_writable,
            open: open.iter().map(|path| (*path).to_owned()).collect(),
        };
        assert_eq!(at(there(true, false, &[])), Level::Error);
        assert_eq!(at(there(false, true, &[])), Level::Warning);
        assert_eq!(at(there(true, true, &["/s/digest.key"])), Level::Warning);
        let with_free = |free| worst(&Facts { free, ..facts() });
        assert_eq!(with_free(None), Level::Ok);
        assert_eq!(with_free(Some(FREE_BYTES_GOOD - 1)), Level::Warning);
        assert_eq!(with_free(Some(FREE_BYTES_LEAST - 1)), Level::Error);
        let network = Some("nfs".to_owned());
        assert_eq!(worst(&Facts { network, ..facts() }), Level::Error);
    }

    /// Looking creates nothing, and sees who else may look.
    #[test]
    fn looking_creates_the_directory() {
        let parent = tempfile::tempdir().unwrap();
        let dir = StateDir::at(parent.path().join("state"));
        assert_eq!(place(&dir), Place::Absent);
        assert!(free(dir.path()).is_some());
        assert!(!dir.exists());
        std::fs::write(dir.path(), "x").unwrap();
        assert!(matches!(place(&dir), Place::Unusable(_)));
        std::fs::remove_file(dir.path()).unwrap();
        dir.create().unwrap();
        std::fs::write(dir.digest_key_path(), "x").unwrap();
        let shared = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(dir.digest_key_path(), shared).unwrap();
        let key = shown(&dir.digest_key_path());
        assert!(matches!(place(&dir), Place::There { is_ours: true, open, .. } if open == [key]));
    }
}
