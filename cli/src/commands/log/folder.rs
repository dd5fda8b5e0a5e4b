//! Which sandbox belongs to this folder, as the program that starts sandboxes wrote it down.
//!
//! Its `state.json` lists what it started: `{"sandboxes":[{"name":…,"repo":…,"created":…},…]}`. It is read
//! and never written, keys that are not needed are passed over, and a file that cannot be read means that
//! nothing is known of this folder.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::environment::Environment;

/// A sandbox is some hundred bytes there; a larger file is something else.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A sandbox and the folder that it was started for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// Nanoseconds since the epoch, `None` when the file does not say.
    created: Option<i64>,
}

#[derive(Deserialize)]
struct State {
    #[serde(default)]
    sandboxes: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    name: String,
    #[serde(default)]
    repo: PathBuf,
    #[serde(default)]
    created: String,
}

/// The sandboxes started for the folder of this process or for one that contains it, the newest first.
///
/// # Errors
/// A sentence when the file is there and cannot be read.
pub(super) fn of_this_process(env: &dyn Environment) -> Result<Vec<Started>, String> {
    let Some((path, text)) = state_text(env)? else {
        return Ok(Vec::new());
    };
    let Ok(here) = std::env::current_dir() else {
        return Ok(Vec::new());
    };
    let started = parse(&text).map_err(|line| {
        let path = crate::context::shown(&path);
        format!("`{path}` is no list of sandboxes (line {line})")
    })?;
    // A folder may have been named by a link, then and now.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let names = [here.clone(), real(&here)];
    Ok(within(&names, started, real))
}

/// Those of `started` whose folder contains one of `here`, the newest first.
fn within(
    here: &[PathBuf],
    started: Vec<Started>,
    real: impl Fn(&Path) -> PathBuf,
) -> Vec<Started> {
    let contains = |folder: &Path| here.iter().any(|here| here.starts_with(folder));
    let mut within: Vec<Started> = started
        .into_iter()
        .filter(|one| contains(&one.folder) || contains(&real(&one.folder)))
        .collect();
    within.sort_by_key(|one| std::cmp::Reverse(one.created));
    within
}

/// The file and its text; `None` when it is not there.
fn state_text(env: &dyn Environment) -> Result<Option<(PathBuf, String)>, String> {
    let absolute = |name| env.path(name).filter(|path: &PathBuf| path.is_absolute());
    let configs = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    let Some(path) = configs.map(|configs| configs.join("boundlane/state.json")) else {
        return Ok(None);
    };
    let unreadable = |why: &dyn std::fmt::Display| {
        format!("`{}` cannot be read: {why}", crate::context::shown(&path))
    };
    let file = match std::fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let mut text = String::new();
    match file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > FILE_BYTES_MAX => Err(unreadable(&"it is longer than 1 MiB")),
        Ok(_) => Ok(Some((path, text))),
        Err(error) => Err(unreadable(&error)),
    }
}

/// What the text lists. Entries without a name or with a relative folder say nothing.
fn parse(text: &str) -> Result<Vec<Started>, usize> {
    let state: State = serde_json::from_str(text).map_err(|error| error.line())?;
    let started = state.sandboxes.into_iter().map(|listed| Started {
        created: created(&listed.created),
        name: listed.name,
        folder: listed.repo,
    });
    Ok(started
        .filter(|one| !one.name.is_empty() && one.folder.is_absolute())
        .collect())
}

fn created(text: &str) -> Option<i64> {
    let at = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    at.timestamp_nanos_opt()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const STATE: &str = r#"{
      "sandboxes": [
        {"name": "old", "agent": "claude", "repo": "/src/app", "policy_revision": "x",
         "created": "2026-08-01T10:00:00.123456789+02:00", "running": false},
        {"name": "new", "repo": "/src/app", "created": "2026-08-01T09:00:00Z", "running": true},
        {"name": "beside", "repo": "/src/app-two", "created": "2026-08-02T00:00:00Z"},
        {"name": "around", "repo": "/src", "created": "2026-07-01T00:00:00Z"},
        {"name": "undated", "repo": "/src/app", "created": ""},
        {"name": "", "repo": "/src/app"},
        {"name": "nowhere", "repo": ""},
        {"name": "relative", "repo": "app"}
      ]}"#;

    fn names(here: &str) -> Vec<String> {
        let within = within(&[here.into()], parse(STATE).unwrap(), Path::to_owned);
        within.into_iter().map(|one| one.name).collect()
    }

    /// The newest by its moment, not by its text; of this folder or one around it, never of one beside it.
    #[test]
    fn a_sandbox_of_another_folder_is_taken() {
        assert_eq!(
            names("/src/app/deep/er"),
            ["new", "old", "around", "undated"]
        );
        assert_eq!(names("/src/app-two"), ["beside", "around"]);
        assert_eq!(names("/src"), ["around"]);
        assert_eq!(names("/elsewhere"), Vec::<String>::new());
    }

    /// A folder that was named by a link is the folder behind it.
    #[test]
    fn a_link_hides_the_folder() {
        let real = |path: &Path| match path.to_str() {
            Some("/src") => PathBuf::from("/home/a/src"),
            _ => path.to_owned(),
        };
        let started = parse(STATE).unwrap();
        let found = within(&["/home/a/src/x".into()], started, real);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "around");
    }

    /// What another version writes is passed over or refused, and nothing of it is repeated.
    #[test]
    fn a_foreign_file_ends_in_a_panic() {
        assert_eq!(parse("{}"), Ok(Vec::new()));
        assert_eq!(parse("{\n\"sandboxes\": 7}"), Err(2));
        assert_eq!(parse(""), Err(1));
    }
}
