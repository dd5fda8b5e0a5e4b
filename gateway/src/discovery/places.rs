//! Where the gateway's own client keeps things.

use std::io;
use std::path::{Path, PathBuf};

use super::error::DiscoverError;
use super::surroundings::Surroundings;
use crate::{Found, Names};

pub(super) struct Places<'a> {
    names: &'a Names,
    around: &'a dyn Surroundings,
    /// The user's, `None` without a home.
    config: Option<PathBuf>,
    system: PathBuf,
}

impl<'a> Places<'a> {
    pub(super) fn new(names: &'a Names, around: &'a dyn Surroundings) -> Places<'a> {
        let mut places = Places {
            config: xdg(around, "XDG_CONFIG_HOME", ".config").map(|dir| dir.join(&names.dir)),
            system: Path::new("/etc").join(&names.dir),
            names,
            around,
        };
        if let Some(dir) = places.directory("SYSTEM_GATEWAY_DIR") {
            places.system = dir;
        }
        places
    }

    /// A variable of the product, `None` when it is blank.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        not_blank(self.around, &self.variable_name(name))
    }

    pub(super) fn variable_name(&self, name: &str) -> String {
        format!("{}_{name}", self.names.env_prefix)
    }

    /// A variable that names a directory, `None` when it is relative.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        let dir = PathBuf::from(self.variable(name)?);
        dir.is_absolute().then_some(dir)
    }

    pub(super) fn active_files(&self) -> impl Iterator<Item = (Found, PathBuf)> + use<> {
        let user = self.config.as_ref().map(|dir| (Found::ActiveFile, dir));
        let both = user.into_iter().chain([(Found::SystemFile, &self.system)]);
        let files: Vec<_> = both
            .map(|(found, dir)| (found, dir.join("active_gateway")))
            .collect();
        files.into_iter()
    }

    /// Registrations, the user's first.
    pub(super) fn gateway_dirs(&self) -> impl Iterator<Item = PathBuf> {
        let both = self.config.iter().chain([&self.system]);
        both.map(|dir| dir.join("gateways"))
    }

    pub(super) fn metadata_files(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        self.gateway_dirs()
            .map(move |dir| dir.join(name).join("metadata.json"))
    }

    /// The names of all registrations, the user's first.
    pub(super) fn registered(&self) -> Vec<String> {
        self.gateway_dirs()
            .flat_map(|dir| self.around.names(&dir))
            .collect()
    }

    /// Credentials lie in the user's directory only.
    pub(super) fn token_file(&self, name: &str) -> Option<PathBuf> {
        Some(self.user_dir(name)?.join("oidc_token.json"))
    }

    pub(super) fn mtls_dir(&self, name: &str) -> Option<PathBuf> {
        let plain = |c: char| match c {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | '-' => c,
            _ => '_',
        };
        let mapped: String = name.chars().map(plain).collect();
        Some(self.user_dir(&mapped)?.join("mtls"))
    }

    fn user_dir(&self, name: &str) -> Option<PathBuf> {
        Some(self.config.as_ref()?.join("gateways").join(name))
    }

    /// The certificates that a gateway on this machine made for itself and its user.
    pub(super) fn local_tls_dir(&self) -> Option<PathBuf> {
        self.directory("LOCAL_TLS_DIR").or_else(|| {
            let state = xdg(self.around, "XDG_STATE_HOME", ".local/state")?;
            Some(state.join(&self.names.dir).join("tls"))
        })
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.around.has(path)
    }

    /// The text of a file, `None` when it is not there. One that is there and cannot be read is an error:
    /// it hides what would be asked next.
    pub(super) fn read(&self, path: &Path) -> Result<Option<String>, DiscoverError> {
        match self.around.read(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DiscoverError::Unreadable {
                path: path.to_owned(),
                why: error.to_string(),
            }),
        }
    }
}

/// A base directory of the user; a relative one is ignored, as the XDG specification asks.
fn xdg(around: &dyn Surroundings, variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name| {
        let dir = PathBuf::from(not_blank(around, name)?);
        dir.is_absolute().then_some(dir)
    };
    absolute(variable).or_else(|| Some(absolute("HOME")?.join(below_home)))
}

fn not_blank(around: &dyn Surroundings, name: &str) -> Option<String> {
    let value = around.var(name)?;
    super::given(Some(&value)).map(str::to_owned)
}
