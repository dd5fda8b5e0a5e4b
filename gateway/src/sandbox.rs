//! A sandbox as the gateway lists it.

use std::collections::BTreeMap;

use boundlane_record::Micros;

/// A sandbox. A deleted and recreated one keeps its name and gets another id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Its id, a UUID.
    pub id: String,
    /// Its name, unique in its workspace.
    pub name: String,
    /// Its workspace; empty when the gateway does not say.
    pub workspace: String,
    /// When it was made.
    pub created: Option<Micros>,
    /// When its deletion began.
    pub deleting: Option<Micros>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// `unspecified`, `provisioning`, `ready`, `error`, `deleting`, `unknown`, `stopping`, `stopped`,
    /// `starting` or `completed`; `unknown` also for a word newer than this program.
    pub phase: &'static str,
    /// The version of its policy; 0 when the gateway does not say.
    pub policy_version: u32,
}
