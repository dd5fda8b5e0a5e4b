//! `gateway.toml`: how the gateway on this machine was started. Keys that are not read are tolerated.

use std::io;
use std::path::{Path, PathBuf};

use boundlane_gateway::Surroundings;
use toml::{Table, Value};

/// Where a gateway that was installed as a snap keeps it.
const SNAP: &str = "/var/snap/openshell/common/gateway.toml";

/// The file, as far as it can be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GatewayFile {
    /// None of these is there.
    Absent(Vec<PathBuf>),
    /// It is there and cannot be read.
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// What it says.
    Read {
        /// Which.
        path: PathBuf,
        /// All of it.
        table: Table,
    },
}

impl GatewayFile {
    /// The first that is there: the one that a variable names, the user's, the snap's. A file that is named
    /// and missing is what the gateway would read, so that no other one counts.
    pub(super) fn find(around: &dyn Surroundings) -> GatewayFile {
        let places = places(around);
        for path in &places {
            match around.read(path) {
                Ok(text) => return GatewayFile::parse(path, &text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return GatewayFile::unreadable(path, error.to_string()),
            }
        }
        GatewayFile::Absent(places)
    }

    fn parse(path: &Path, text: &str) -> GatewayFile {
        match text.parse::<Table>() {
            Ok(table) => GatewayFile::Read {
                path: path.to_owned(),
                table,
            },
            // The parser's message quotes the line, which may hold a secret.
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let line = text.get(..at).unwrap_or_default().lines().count().max(1);
                GatewayFile::unreadable(path, format!("it is no TOML (line {line})"))
            }
        }
    }

    fn unreadable(path: &Path, why: String) -> GatewayFile {
        GatewayFile::Unreadable {
            path: path.to_owned(),
            why,
        }
    }

    /// The value of a key: of the gateway's own table first, else wherever a version keeps it.
    pub(super) fn value(&self, key: &str) -> Option<String> {
        let GatewayFile::Read { table, .. } = self else {
            return None;
        };
        let gateway = table.get("openshell").and_then(|all| all.get("gateway"));
        let own = gateway.and_then(|gateway| gateway.get(key));
        match own.or_else(|| deep(table, key))? {
            Value::String(text) => Some(text.clone()),
            Value::Table(_) | Value::Array(_) => None,
            other => Some(other.to_string()),
        }
    }
}

fn deep<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    table.get(key).or_else(|| {
        table
            .values()
            .filter_map(Value::as_table)
            .find_map(|below| deep(below, key))
    })
}

fn places(around: &dyn Surroundings) -> Vec<PathBuf> {
    let var = |name| around.var(name).filter(|value| !value.trim().is_empty());
    if let Some(named) = var("OPENSHELL_GATEWAY_CONFIG") {
        return vec![PathBuf::from(named)];
    }
    let absolute = |name| {
        var(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    let user = config.map(|config| config.join("openshell/gateway.toml"));
    user.into_iter().chain([PathBuf::from(SNAP)]).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Variables and files of a test.
    #[derive(Default)]
    pub(in crate::commands::doctor) struct Machine {
        pub(in crate::commands::doctor) variables: Vec<(&'static str, &'static str)>,
        pub(in crate::commands::doctor) files:
            Vec<(&'static str, Result<&'static str, io::ErrorKind>)>,
    }

    impl Surroundings for Machine {
        fn var(&self, name: &str) -> Option<String> {
            let found = self.variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }

        fn read(&self, path: &Path) -> io::Result<String> {
            match self
                .files
                .iter()
                .find(|(known, _)| Path::new(known) == path)
            {
                Some((_, Ok(text))) => Ok((*text).to_owned()),
                Some((_, Err(kind))) => Err((*kind).into()),
                None => Err(io::ErrorKind::NotFound.into()),
            }
        }

        fn has(&self, path: &Path) -> bool {
            self.read(path).is_ok()
        }

        fn names(&self, _: &Path) -> Vec<String> {
            Vec::new()
        }
    }

    const FILE: &str = "log_level = \"debug\"\n[openshell.gateway]\nlog_level = \"warn\"\nnew = 1\n\
                        [openshell.sandbox.settings]\nocsf_json_enabled = true\n";

    #[test]
    fn a_later_file_wins_over_an_earlier_one() {
        let mut machine = Machine {
            variables: vec![
                ("OPENSHELL_GATEWAY_CONFIG", "/named"),
                ("XDG_CONFIG_HOME", "/c"),
                ("HOME", "/h"),
            ],
            files: vec![
                ("/named", Ok("a = 1")),
                ("/c/openshell/gateway.toml", Ok("a = 2")),
                ("/h/.config/openshell/gateway.toml", Ok("a = 3")),
                (SNAP, Ok("a = 4")),
            ],
        };
        let mut found = Vec::new();
        while let Some(value) = GatewayFile::find(&machine).value("a") {
            found.push(value);
            match machine.variables.is_empty() {
                true => machine.files.clear(),
                false => drop(machine.variables.remove(0)),
            }
        }
        assert_eq!(found, ["1", "2", "3", "4"]);
        machine.variables = vec![("OPENSHELL_GATEWAY_CONFIG", "/gone")];
        machine.files = vec![(SNAP, Ok("a = 4"))];
        assert_eq!(
            GatewayFile::find(&machine),
            GatewayFile::Absent(vec!["/gone".into()])
        );
    }

    #[test]
    fn an_unknown_key_or_an_unreadable_file_ends_the_examination() {
        let at = |content| {
            GatewayFile::find(&Machine {
                files: vec![(SNAP, content)],
                ..Machine::default()
            })
        };
        let file = at(Ok(FILE));
        assert_eq!(file.value("log_level").as_deref(), Some("warn"));
        assert_eq!(file.value("ocsf_json_enabled").as_deref(), Some("true"));
        assert_eq!(file.value("none"), None);
        assert_eq!(
            at(Ok("a = 1\nb = secret value\n")),
            GatewayFile::unreadable(Path::new(SNAP), "it is no TOML (line 2)".to_owned())
        );
        let denied = at(Err(io::ErrorKind::PermissionDenied));
        assert!(matches!(denied, GatewayFile::Unreadable { .. }));
        assert_eq!(denied.value("a"), None);
    }
}
