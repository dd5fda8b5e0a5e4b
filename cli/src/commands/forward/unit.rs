//! Service files for this machine: the packaged ones with this machine's paths in them.

mod escape;
mod launchd;
mod systemd;

use std::path::Path;

use clap::ValueEnum;

/// Which service manager, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitKind {
    /// systemd, while this user is logged in.
    SystemdUser,
    /// systemd, as a user of its own from boot on.
    SystemdSystem,
    /// launchd, while this user is logged in.
    Launchd,
}

/// The file's text. `exe` and `state_dir` are absolute; without `state_dir` the usual place is taken.
/// `extra_args` are given to `forward` as they are.
pub(crate) fn unit(
    kind: UnitKind,
    exe: &Path,
    state_dir: Option<&Path>,
    extra_args: &[String],
) -> String {
    match kind {
        UnitKind::SystemdUser => systemd::user(exe, state_dir, extra_args),
        UnitKind::SystemdSystem => systemd::system(exe, state_dir, extra_args),
        UnitKind::Launchd => launchd::agent(exe, state_dir, extra_args),
    }
}

/// What the service runs, behind its program.
fn arguments(state_dir: Option<&Path>, extra_args: &[String]) -> Vec<String> {
    let mut arguments = vec!["forward".to_owned()];
    if let Some(dir) = state_dir {
        arguments.extend(["--state-dir".to_owned(), dir.to_string_lossy().into_owned()]);
    }
    arguments.extend_from_slice(extra_args);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packaged(kind: UnitKind, exe: &str) -> String {
        unit(kind, Path::new(exe), None, &["--all".to_owned()])
    }

    /// What is packaged is what this program prints for the usual paths.
    #[test]
    fn a_packaged_file_is_another_one() {
        let exe = "/usr/bin/boundlane";
        assert_eq!(
            packaged(UnitKind::SystemdUser, exe),
            include_str!("../../../../packaging/systemd/user/boundlane.service")
        );
        assert_eq!(
            packaged(UnitKind::SystemdSystem, exe),
            include_str!("../../../../packaging/systemd/system/boundlane.service")
        );
        assert_eq!(
            packaged(UnitKind::Launchd, "/usr/local/bin/boundlane"),
            include_str!("../../../../packaging/launchd/io.github.boundlane.plist")
        );
    }

    /// Paths and words that a service manager would read as something else come out as they went in.
    #[test]
    fn a_path_is_read_as_something_else() {
        let exe = Path::new("/opt/my tools/100%/bound&lane");
        let state = Path::new("/srv/it's & <that>");
        let words = ["--sandbox", "$HOME", "a;b", ";", ""].map(str::to_owned);
        let user = unit(UnitKind::SystemdUser, exe, Some(state), &words);
        let start = r#"ExecStart="/opt/my tools/100%%/bound&lane" forward --state-dir "/srv/it's & <that>" --sandbox $$HOME "a;b" ";" """#;
        assert!(user.lines().any(|line| line == start), "{user}");
        let system = unit(UnitKind::SystemdSystem, exe, Some(state), &words);
        assert!(system.lines().any(|line| line == start), "{system}");
        assert!(
            system.contains("\nReadWritePaths=\"/srv/it's & <that>\"\n"),
            "{system}"
        );
        assert!(!system.contains("StateDirectory"), "{system}");
        let agent = unit(UnitKind::Launchd, exe, Some(state), &words);
        for word in [
            "/opt/my tools/100%/bound&amp;lane",
            "/srv/it&apos;s &amp; &lt;that&gt;",
            "$HOME",
            "",
        ] {
            let line = format!("    <string>{word}</string>");
            assert!(agent.lines().any(|found| found == line), "{word}\n{agent}");
        }
    }
}
