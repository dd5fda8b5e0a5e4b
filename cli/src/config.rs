//! `config.toml`: the few settings, each with a default, none of them secret but the patterns.
//!
//! The file is read once and held to the table below: an unknown key is an error with the nearest
//! name, a value of the wrong type is named by its key. No message repeats a value: a `redact`
//! pattern may spell the secret that it is for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use boundlane_store::Limits;
use toml::{Table, Value};

use crate::environment::Environment;
use crate::exit::{Failure, Outcome};

pub(crate) mod nearest;

/// The largest configuration that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Memory that `query` may take unless something else is said, in MiB.
pub(crate) const QUERY_MEMORY_MIB_MAX: u64 = 1024;
/// Seconds that `query` may take unless something else is said.
pub(crate) const QUERY_SECONDS_MAX: u64 = 600;

/// The keys, in the order in which `boundlane config` shows them.
pub(crate) const KEYS: &[&str] = &[
    "state_dir",
    "archive_dir",
    "redact",
    "query_memory_mib_max",
    "query_seconds_max",
    "queued_entries_max",
    "queued_stored_bytes_max",
    "kept_age_seconds_max",
    "kept_stored_bytes_max",
];

/// What the file says; `None` where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// Where the file was looked for, `None` when there is no home.
    pub(crate) path: Option<PathBuf>,
    /// Whether it was there.
    pub(crate) found: bool,
    /// Where the record is kept.
    pub(crate) state_dir: Option<PathBuf>,
    /// Where the local archive is, if not in the state directory.
    pub(crate) archive_dir: Option<PathBuf>,
    /// Regular expressions whose matches are taken out besides the built-in shapes.
    pub(crate) redact: Option<Vec<String>>,
    /// Memory for `query`, in MiB.
    pub(crate) query_memory_mib_max: Option<u64>,
    /// Time for `query`, in seconds.
    pub(crate) query_seconds_max: Option<u64>,
    /// Bounds of the journal that the file names.
    pub(crate) bounds: BTreeMap<&'static str, u64>,
}

impl Config {
    /// Reads `--config FILE`, or `$XDG_CONFIG_HOME/boundlane/config.toml`, or
    /// `$HOME/.config/boundlane/config.toml`. Without a file there are defaults; a file that was
    /// named has to be there.
    ///
    /// # Errors
    /// 2 when the file is named and missing, cannot be read, or says something that is not understood.
    pub(crate) fn load(flag: Option<&Path>, env: &dyn Environment) -> Outcome<Config> {
        let Some(path) = flag.map(Path::to_owned).or_else(|| usual_path(env)) else {
            return Ok(Config::default());
        };
        match read_bounded(&path) {
            Err(error) if flag.is_none() && is_absent(&error) => Ok(Config {
                path: Some(path),
                ..Config::default()
            }),
            _ => read(&path),
        }
    }
}

fn read(path: &Path) -> Outcome<Config> {
    let shown = path.display();
    let text = read_bounded(path).map_err(|error| {
        Failure::usage(format_args!("cannot read `{shown}`: {error}"))
            .advise("name a file that this user may read with `--config`, or move this one away")
    })?;
    let config =
        parse(&text).map_err(|problem| Failure::usage(format_args!("`{shown}`: {problem}")))?;
    Ok(Config {
        path: Some(path.to_owned()),
        found: true,
        ..config
    })
}

impl Config {
    /// What the same file says now. One that is not there says nothing.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub(crate) fn read_again(&self) -> Outcome<Config> {
        match &self.path {
            Some(path) if self.found || path.exists() => read(path),
            path => Ok(Config {
                path: path.clone(),
                ..Config::default()
            }),
        }
    }

    /// The bounds of the journal.
    pub(crate) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let of = |name, usual| self.bounds.get(name).copied().unwrap_or(usual);
        Limits {
            queued_entries_max: of("queued_entries_max", usual.queued_entries_max),
            queued_stored_bytes_max: of("queued_stored_bytes_max", usual.queued_stored_bytes_max),
            kept_age_seconds_max: of("kept_age_seconds_max", usual.kept_age_seconds_max),
            kept_stored_bytes_max: of("kept_stored_bytes_max", usual.kept_stored_bytes_max),
        }
    }
}

fn usual_path(env: &dyn Environment) -> Option<PathBuf> {
    let home = |name| env.path(name).filter(|home: &PathBuf| home.is_absolute());
    let configs = home("XDG_CONFIG_HOME").or_else(|| Some(home("HOME")?.join(".config")))?;
    Some(configs.join("boundlane/config.toml"))
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn read_bounded(path: &Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = std::fs::File::open(path)?;
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

/// What the text of a configuration says.
fn parse(text: &str) -> Result<Config, String> {
    let table: Table = text
        .parse()
        .map_err(|error| describe_syntax(text, &error))?;
    let mut config = Config::default();
    for (key, value) in &table {
        match key.as_str() {
            "state_dir" => config.state_dir = Some(directory(key, value)?),
            "archive_dir" => config.archive_dir = Some(directory(key, value)?),
            "redact" => config.redact = Some(texts(key, value)?),
            "query_memory_mib_max" => config.query_memory_mib_max = Some(positive(key, value)?),
            "query_seconds_max" => config.query_seconds_max = Some(positive(key, value)?),
            other => {
                let bounds = Limits::default().all();
                let known = bounds.into_iter().find(|(name, ..)| *name == other);
                let (name, ..) = known.ok_or_else(|| describe_unknown(other))?;
                config.bounds.insert(name, positive(key, value)?);
            }
        }
    }
    let faults = config.limits().check();
    faults.map_err(|fault| fault.to_string())?;
    Ok(config)
}

/// The parser's message and the line, without the line's text.
fn describe_syntax(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| {
        1 + text
            .bytes()
            .take(span.start)
            .filter(|byte| *byte == b'\n')
            .count()
    });
    let what = error.message().lines().next().unwrap_or_default();
    // The first part says what is wrong; what may follow a backtick is text of the file.
    let what = what
        .split('`')
        .next()
        .unwrap_or_default()
        .trim_end_matches([' ', ',', ':']);
    format!("line {line} is not TOML: {what}")
}

fn describe_unknown(key: &str) -> String {
    let key = crate::text::escape::visible(key);
    match nearest::nearest(&key, KEYS) {
        Some(known) => format!("unknown key `{key}`, did you mean `{known}`?"),
        None => format!("unknown key `{key}`, known are {}", quoted(KEYS)),
    }
}

fn quoted(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn directory(key: &str, value: &Value) -> Result<PathBuf, String> {
    let path = value
        .as_str()
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    path.filter(|path| path.is_absolute())
        .ok_or_else(|| format!("`{key}` has to be an absolute path in quotes"))
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, String> {
    value
        .as_array()
        .and_then(|items| {
            items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect()
        })
        .ok_or_else(|| format!("`{key}` has to be a list of texts: `{key} = ['…']`"))
}

fn positive(key: &str, value: &Value) -> Result<u64, String> {
    value
        .as_integer()
        .and_then(|n| u64::try_from(n).ok())
        .filter(|n| *n > 0)
        .ok_or_else(|| format!("`{key}` has to be a whole number above 0"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::environment::Fixed;

    #[test]
    fn a_setting_is_not_read() {
        let config = parse(
            "state_dir = '/s'\narchive_dir = \"/a\"\nredact = ['x-[0-9]+', 'y']\n\
             query_memory_mib_max = 64\nquery_seconds_max = 5\n",
        )
        .unwrap();
        assert_eq!(config.state_dir.unwrap(), Path::new("/s"));
        assert_eq!(config.archive_dir.unwrap(), Path::new("/a"));
        assert_eq!(config.redact.unwrap(), ["x-[0-9]+", "y"]);
        assert_eq!(
            (config.query_memory_mib_max, config.query_seconds_max),
            (Some(64), Some(5))
        );
    }

    /// Every known key is accepted, so that the list shown to people is the list that works.
    #[test]
    fn a_key_that_is_listed_is_unknown() {
        for key in KEYS {
            let problem = parse(&format!("{key} = 1.5")).unwrap_err();
            assert!(
                problem.starts_with(&format!("`{key}` has to be")),
                "{problem}"
            );
        }
    }

    #[test]
    fn an_unknown_key_is_ignored_or_gets_no_help() {
        assert_eq!(
            parse("redacts = []").unwrap_err(),
            "unknown key `redacts`, did you mean `redact`?"
        );
        assert_eq!(
            parse("colour = 1").unwrap_err(),
            "unknown key `colour`, known are `state_dir`, `archive_dir`, `redact`, \
             `query_memory_mib_max`, `query_seconds_max`, `queued_entries_max`, \
             `queued_stored_bytes_max`, `kept_age_seconds_max`, `kept_stored_bytes_max`"
        );
    }

    /// A pattern can be the secret itself: neither a syntax error nor a wrong type repeats it.
    #[test]
    fn a_message_repeats_a_secret_pattern() {
        for text in [
            "redact = ['CANARY-1234",
            "redact = 'CANARY-1234'",
            "redact = [1, 'CANARY-1234']",
            "redact = [CANARY-1234]",
            "redact = ['a'] CANARY-1234",
            "redact = \"\\q CANARY-1234\"",
            "state_dir = 'CANARY-1234'",
            "redact = []\nredact = ['CANARY-1234']",
            "redact = ['x'] = 'CANARY-1234'",
        ] {
            let problem = parse(text).unwrap_err();
            assert!(!problem.contains("CANARY"), "{text}: {problem}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error_or_a_named_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let env = Fixed::new(&[("HOME", home.path().to_str().unwrap())]);
        let config = Config::load(None, &env).unwrap();
        assert_eq!(
            config.path.unwrap(),
            home.path().join(".config/boundlane/config.toml")
        );
        assert!(!config.found);
        assert!(Config::load(Some(&home.path().join("none.toml")), &env).is_err());
        assert_eq!(
            Config::load(None, &Fixed::new(&[])).unwrap(),
            Config::default()
        );
    }
}
