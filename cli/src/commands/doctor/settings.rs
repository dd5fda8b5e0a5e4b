//! Settings of the gateway, as far as this machine's files say them.
//!
//! `ocsf_json_enabled` and `proposal_approval_mode` are kept by the gateway itself, for all sandboxes or
//! for one: unless the file says them, they are not known here, and the command that shows them is told.

use super::finding::Finding;
use super::gateway_file::GatewayFile;
use crate::context::shown;
use crate::text::escape::visible;

const FILE: &str = "gateway.toml";
const JSON: &str = "json export";
const VALIDATION: &str = "policy validation";
const APPROVALS: &str = "approvals";

/// Shows what the gateway keeps.
const SHOW: &str = "`openshell settings get --global --json` shows it";

/// The file, and whose it is.
pub(super) struct Settings {
    pub(super) file: GatewayFile,
    /// Whether the gateway that was found is on this machine; `None` when none was.
    pub(super) is_here: Option<bool>,
}

impl Settings {
    /// Whether the file can be read and is the gateway's.
    pub(super) fn file(&self) -> Finding {
        match &self.file {
            GatewayFile::Read { path, .. } if self.is_here == Some(false) => Finding::note(
                FILE,
                format!(
                    "`{}` is of this machine, and the gateway is on another",
                    shown(path)
                ),
            ),
            GatewayFile::Read { path, .. } => Finding::ok(FILE, format!("read `{}`", shown(path))),
            GatewayFile::Absent(looked) => {
                let looked: Vec<String> = looked
                    .iter()
                    .map(|path| format!("`{}`", shown(path)))
                    .collect();
                Finding::note(FILE, format!("none of {} is there", looked.join(", ")))
            }
            GatewayFile::Unreadable { path, why } => {
                Finding::warning(FILE, format!("`{}` cannot be read: {why}", shown(path)))
                    .fix("let this user read it, or run `boundlane doctor` as who runs the gateway")
            }
        }
    }

    /// `log_level`.
    pub(super) fn log_level(&self) -> Option<String> {
        self.value("log_level")
    }

    /// `ocsf_json_enabled`: would-be denials of audit mode, and what the text cuts off, are there only.
    pub(super) fn json_export(&self) -> Finding {
        let turn_on =
            "`openshell settings set --global --key ocsf_json_enabled --value true` turns it on";
        match self.value("ocsf_json_enabled").as_deref() {
            Some("true") => Finding::ok(JSON, "`ocsf_json_enabled` is on"),
            Some(_) => Finding::warning(
                JSON,
                "`ocsf_json_enabled` is off: what audit mode would have denied is in no log",
            )
            .fix(turn_on),
            None => Finding::note(
                JSON,
                "`ocsf_json_enabled` is kept by the gateway and not known here; while it is off, what audit \
                 mode would have denied is in no log",
            )
            .fix(format!("{SHOW}; {turn_on}")),
        }
    }

    /// `policy_validation_failure_mode`: which policy is in force after a bad one.
    pub(super) fn validation_failures(&self) -> Finding {
        let key = "policy_validation_failure_mode";
        match self.value(key).as_deref() {
            Some("fail_closed") => {
                Finding::ok(VALIDATION, format!("`{key}` is `fail_closed`"))
            }
            Some("retain_last_valid") => Finding::note(
                VALIDATION,
                format!("`{key}` is `retain_last_valid`: after a policy that does not load, the one before decides"),
            )
            .fix("look for `CONFIG` events in `boundlane log`; `fail_closed` denies instead"),
            Some(other) => Finding::warning(
                VALIDATION,
                format!("`{key}` is `{}`, which counts as `fail_closed`", visible(other)),
            )
            .fix("write `fail_closed` or `retain_last_valid`, then restart the gateway"),
            None if self.is_known() => {
                Finding::ok(VALIDATION, format!("`{key}` is not set: `fail_closed`"))
            }
            None => Finding::note(
                VALIDATION,
                format!("`{key}` is not known here; where it is not set, it is `fail_closed`"),
            ),
        }
    }

    /// `proposal_approval_mode`: whether a person approves what a sandbox asks for.
    pub(super) fn approvals(&self) -> Finding {
        let key = "proposal_approval_mode";
        match self.value(key).as_deref() {
            Some("auto") => Finding::warning(
                APPROVALS,
                format!("`{key}` is `auto`: what a sandbox proposes is allowed without a person"),
            )
            .fix(format!("`openshell settings set --global --key {key} --value manual`")),
            Some(other) => Finding::ok(APPROVALS, format!("`{key}` is `{}`", visible(other))),
            None => Finding::note(
                APPROVALS,
                format!("`{key}` is kept by the gateway and not known here; `auto` allows without a person"),
            )
            .fix(SHOW),
        }
    }

    fn value(&self, key: &str) -> Option<String> {
        match self.is_here {
            Some(false) => None,
            _ => self.file.value(key),
        }
    }

    /// Whether a key that is absent is known to be absent: there is a gateway here, and its file was read.
    fn is_known(&self) -> bool {
        self.is_here == Some(true) && matches!(self.file, GatewayFile::Read { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::super::gateway_file::tests::Machine;
    use super::*;

    fn settings(text: &'static str, is_here: Option<bool>) -> Settings {
        let machine = Machine {
            variables: vec![("OPENSHELL_GATEWAY_CONFIG", "/g.toml")],
            files: vec![("/g.toml", Ok(text))],
        };
        Settings {
            file: GatewayFile::find(&machine),
            is_here,
        }
    }

    fn levels(text: &'static str, is_here: Option<bool>) -> [Level; 4] {
        let settings = settings(text, is_here);
        [
            settings.file(),
            settings.json_export(),
            settings.validation_failures(),
            settings.approvals(),
        ]
        .map(|finding| finding.level)
    }

    #[test]
    fn a_setting_that_hides_decisions_is_well() {
        use Level::{Note, Ok, Warning};
        let good = "[openshell.gateway]\npolicy_validation_failure_mode = \"fail_closed\"\n\
                    ocsf_json_enabled = true\nproposal_approval_mode = \"manual\"\n";
        assert_eq!(levels(good, Some(true)), [Ok, Ok, Ok, Ok]);
        let bad = "[openshell.gateway]\npolicy_validation_failure_mode = \"open\"\n\
                   ocsf_json_enabled = false\nproposal_approval_mode = \"auto\"\n";
        assert_eq!(levels(bad, Some(true)), [Ok, Warning, Warning, Warning]);
        let retained =
            "[openshell.gateway]\npolicy_validation_failure_mode = \"retain_last_valid\"\n";
        assert_eq!(levels(retained, None), [Ok, Note, Note, Note]);
        assert_eq!(levels("", Some(true)), [Ok, Note, Ok, Note]);
    }

    /// This machine's file says nothing about a gateway elsewhere, and a file that is not there nothing at all.
    #[test]
    fn what_cannot_be_known_is_well() {
        let bad = "proposal_approval_mode = \"manual\"\n";
        assert_eq!(levels(bad, Some(false)), [Level::Note; 4]);
        let none = Settings {
            file: GatewayFile::Absent(vec!["/x".into()]),
            is_here: Some(true),
        };
        assert_eq!(none.file().what, "none of `/x` is there");
        assert_eq!(none.validation_failures().level, Level::Note);
        let unreadable = Settings {
            file: GatewayFile::Unreadable {
                path: "/x".into(),
                why: "no".to_owned(),
            },
            is_here: None,
        };
        assert_eq!(unreadable.file().level, Level::Warning);
    }
}
