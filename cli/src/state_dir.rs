//! Where the data is: the first of flag, environment, configuration, XDG and home that says so.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::exit::{Failure, Outcome};

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    /// The built-in value.
    Default,
    /// `config.toml`.
    File,
    /// A variable of the environment.
    Env(&'static str),
    /// An option of this command line.
    Flag(&'static str),
}

impl std::fmt::Display for From {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            From::Default => f.write_str("default"),
            From::File => f.write_str("file"),
            From::Env(name) => write!(f, "env {name}"),
            From::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A directory and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// The directory. It need not exist.
    pub(crate) path: PathBuf,
    /// Who chose it.
    pub(crate) from: From,
}

/// The state directory: `--state-dir`, `BOUNDLANE_STATE_DIR`, systemd's `STATE_DIRECTORY` (the first
/// of several), `state_dir` of the configuration, `$XDG_STATE_HOME/boundlane`,
/// `$HOME/.local/state/boundlane`. Relative XDG and home directories do not count.
///
/// # Errors
/// 2 when none of them says anything.
pub(crate) fn resolve(
    flag: Option<&Path>,
    configured: Option<&Path>,
    env: &dyn Environment,
) -> Outcome<Located> {
    let at = |path: PathBuf, from| Some(Located { path, from });
    None.or_else(|| at(flag?.to_owned(), From::Flag("--state-dir")))
        .or_else(|| {
            at(
                env.path("BOUNDLANE_STATE_DIR")?,
                From::Env("BOUNDLANE_STATE_DIR"),
            )
        })
        .or_else(|| {
            at(
                first_of_list(&env.path("STATE_DIRECTORY")?)?,
                From::Env("STATE_DIRECTORY"),
            )
        })
        .or_else(|| at(configured?.to_owned(), From::File))
        .or_else(|| {
            let home = env
                .path("XDG_STATE_HOME")
                .filter(|home| home.is_absolute())?;
            at(home.join("boundlane"), From::Env("XDG_STATE_HOME"))
        })
        .or_else(|| {
            let home = env.path("HOME").filter(|home| home.is_absolute())?;
            at(home.join(".local/state/boundlane"), From::Env("HOME"))
        })
        .ok_or_else(|| {
            Failure::usage("there is no directory to keep the record in: `HOME` is not set")
                .advise("name one with `--state-dir DIR` or `BOUNDLANE_STATE_DIR`")
        })
}

/// systemd separates several state directories with colons.
fn first_of_list(list: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = list.as_os_str().as_bytes();
    let first = bytes
        .split(|byte| *byte == b':')
        .find(|part| !part.is_empty())?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(first)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::environment::Fixed;

    /// Each place is asked only when no earlier one answers: they are taken away one by one.
    #[test]
    fn a_later_place_wins_over_an_earlier_one() {
        let mut variables = vec![
            ("BOUNDLANE_STATE_DIR", "/env"),
            ("STATE_DIRECTORY", "/var/lib/one:/var/lib/two"),
            ("XDG_STATE_HOME", "/xdg"),
            ("HOME", "/home/a"),
        ];
        let (flag, file) = (Path::new("/flag"), Path::new("/file"));
        let found = |flag, file, variables: &[(&str, &str)]| {
            let located = resolve(flag, file, &Fixed::new(variables)).unwrap();
            format!("{} ({})", located.path.display(), located.from)
        };
        assert_eq!(
            found(Some(flag), Some(file), &variables),
            "/flag (flag --state-dir)"
        );
        assert_eq!(
            found(None, Some(file), &variables),
            "/env (env BOUNDLANE_STATE_DIR)"
        );
        variables.remove(0);
        assert_eq!(
            found(None, Some(file), &variables),
            "/var/lib/one (env STATE_DIRECTORY)"
        );
        variables.remove(0);
        assert_eq!(found(None, Some(file), &variables), "/file (file)");
        assert_eq!(
            found(None, None, &variables),
            "/xdg/boundlane (env XDG_STATE_HOME)"
        );
        variables.remove(0);
        assert_eq!(
            found(None, None, &variables),
            "/home/a/.local/state/boundlane (env HOME)"
        );
    }

    /// Empty and relative values are as good as none, and then the message names the flag.
    #[test]
    fn no_place_at_all_ends_in_something_else_than_a_usage_error() {
        let env = Fixed::new(&[
            ("BOUNDLANE_STATE_DIR", ""),
            ("STATE_DIRECTORY", ":"),
            ("XDG_STATE_HOME", "relative"),
            ("HOME", ""),
        ]);
        let Err(Failure::Told(told)) = resolve(None, None, &env) else {
            panic!("a directory was found")
        };
        assert_eq!(told.exit, crate::exit::Exit::Usage);
        assert!(told.advice.unwrap().contains("--state-dir"));
    }
}
