//! `forward.json`: replaced whole, its owner's alone, and believed only while its writer follows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use boundlane_record::Micros;
use boundlane_store::{Lock, LockName, StateDir};

use super::Forwarder;

/// The file's name.
pub(crate) const NAME: &str = "forward.json";
/// The name while it is written. One process follows, so one writes it.
const DRAFT: &str = "forward.json.new";
/// More is not read.
const BYTES_MAX: u64 = 16 * 1024;
/// A file that was not written for so long says nothing: it is written every 15 seconds.
const STALE_MICROS: i64 = 2 * 60 * 1_000_000;

/// What a reader finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nobody follows, and nothing is left of who did.
    Nobody,
    /// Somebody does.
    Running(Forwarder),
    /// Somebody does, and what the file says is not known or not believed.
    Silent {
        /// Who.
        pid: u32,
        /// Why it is not known.
        why: String,
    },
    /// Nobody follows; the file of who did is left. Not believed.
    LeftBehind {
        /// Who did.
        pid: u32,
    },
}

impl Found {
    /// What may be believed.
    pub(crate) fn running(&self) -> Option<&Forwarder> {
        match self {
            Found::Running(forwarder) => Some(forwarder),
            _ => None,
        }
    }

    /// Whether somebody follows.
    pub(crate) fn is_somebody(&self) -> bool {
        matches!(self, Found::Running(_) | Found::Silent { .. })
    }
}

/// Replaces the file. Not synced: after a crash of the machine nobody follows.
///
/// # Errors
/// What the file system says.
pub(crate) fn write(dir: &StateDir, forwarder: &Forwarder) -> io::Result<()> {
    let draft = dir.path().join(DRAFT);
    // What a killed process left could be anybody's to read.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    let mut text = serde_json::to_vec(forwarder)?;
    text.push(b'\n');
    file.write_all(&text)?;
    fs::rename(&draft, dir.path().join(NAME))
}

/// Takes the file away: following ends.
pub(crate) fn remove(dir: &StateDir) {
    for name in [NAME, DRAFT] {
        // It may not be there, and a file that stays is not believed.
        let _ = fs::remove_file(dir.path().join(name));
    }
}

/// Who follows, and what is known of it.
pub(crate) fn read(dir: &StateDir, now: Micros) -> Found {
    let owner = Lock::owner(dir, LockName::Follow);
    judge(owner, parse(dir), now)
}

fn judge(owner: Option<u32>, file: Result<Option<Forwarder>, String>, now: Micros) -> Found {
    let Some(pid) = owner else {
        return match file {
            Ok(Some(forwarder)) => Found::LeftBehind { pid: forwarder.pid },
            _ => Found::Nobody,
        };
    };
    let silent = |why: String| Found::Silent { pid, why };
    match file {
        Ok(None) => silent(format!("it has not written `{NAME}` yet")),
        Err(why) => silent(format!("`{NAME}` is ignored: {why}")),
        Ok(Some(forwarder)) if forwarder.pid != pid => silent(format!(
            "`{NAME}` is ignored: process {} wrote it",
            forwarder.pid
        )),
        Ok(Some(forwarder)) if now.0.saturating_sub(forwarder.written) > STALE_MICROS => {
            let seconds = now.0.saturating_sub(forwarder.written) / 1_000_000;
            silent(format!(
                "`{NAME}` is ignored: it was not written for {seconds} s"
            ))
        }
        Ok(Some(forwarder)) => Found::Running(forwarder),
    }
}

fn parse(dir: &StateDir) -> Result<Option<Forwarder>, String> {
    let mut text = Vec::new();
    let read = File::open(dir.path().join(NAME))
        .and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(_) if text.len() as u64 > BYTES_MAX => {
            return Err(format!("it is longer than {BYTES_MAX} bytes"));
        }
        Ok(_) => {}
    }
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|_| "it is not what `forward` writes".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const NOW: Micros = Micros(1_000_000_000);

    fn forwarder(pid: u32) -> Forwarder {
        Forwarder {
            pid,
            written: NOW.0,
            ..Forwarder::default()
        }
    }

    /// A file is believed only while the process that wrote it holds the lock and goes on writing.
    #[test]
    fn a_file_of_another_process_or_time_is_believed() {
        let of = |pid| Ok(Some(forwarder(pid)));
        assert_eq!(judge(Some(7), of(7), NOW), Found::Running(forwarder(7)));
        assert!(matches!(
            judge(Some(7), of(8), NOW),
            Found::Silent { pid: 7, .. }
        ));
        assert!(matches!(
            judge(Some(7), Ok(None), NOW),
            Found::Silent { .. }
        ));
        let later = Micros(NOW.0 + STALE_MICROS + 1);
        assert!(matches!(judge(Some(7), of(7), later), Found::Silent { .. }));
        assert_eq!(judge(None, of(7), NOW), Found::LeftBehind { pid: 7 });
        assert_eq!(judge(None, Ok(None), NOW), Found::Nobody);
        assert_eq!(judge(None, Err(String::new()), NOW), Found::Nobody);
    }

    #[test]
    fn the_file_is_half_written_or_others_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let dir = StateDir::at(directory.path());
        assert_eq!(parse(&dir), Ok(None));
        fs::write(directory.path().join(DRAFT), "left by a killed process").unwrap();
        write(&dir, &forwarder(7)).unwrap();
        write(&dir, &forwarder(8)).unwrap();
        assert_eq!(parse(&dir), Ok(Some(forwarder(8))));
        let path = directory.path().join(NAME);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        remove(&dir);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    /// Keys of a newer program are passed over, missing ones have no value, and the rest is refused.
    #[test]
    fn a_file_of_any_kind_stops_who_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let dir = StateDir::at(directory.path());
        let parsed = |text: &[u8]| {
            fs::write(directory.path().join(NAME), text).unwrap();
            parse(&dir)
        };
        let newer = parsed(br#"{"pid":7,"written":1000000000,"moon":"full"}"#);
        assert_eq!(newer, Ok(Some(forwarder(7))));
        for bad in [&b""[..], b"{", b"7", b"\xff\xfe", b"{\"pid\":-1}"] {
            assert!(parsed(bad).is_err(), "{bad:?}");
        }
        let long = format!("{{\"pid\":7}}{}", " ".repeat(20_000));
        assert!(parsed(long.as_bytes()).unwrap_err().contains("longer"));
    }
}
