//! What `forward` knows and the journal does not: the gateway, the sandboxes, since when.
//!
//! Written to `forward.json` in the state directory while following goes on, and read by whoever says how
//! things stand. It says nothing about the record: losing the file loses nothing. Limits: 16 KiB are read;
//! names are cut at 256 characters.

use boundlane_record::Micros;
use serde::{Deserialize, Serialize};

pub(crate) mod file;

/// Characters of a name or an address that are kept.
const NAME_CHARACTERS_MAX: usize = 256;

/// How following stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Forwarder {
    /// The process that follows.
    pub(crate) pid: u32,
    /// When it began, in microseconds.
    pub(crate) since: i64,
    /// When this was written, in microseconds.
    pub(crate) written: i64,
    /// The gateway.
    pub(crate) gateway: GatewayFacts,
    /// Its sandboxes; `None` before they were listed.
    pub(crate) sandboxes: Option<Listed>,
    /// Streams that are attached.
    pub(crate) attached: u64,
    /// Streams that the gateway does not let us read.
    pub(crate) refused: u64,
    /// The last attempt to archive failed.
    pub(crate) archiving_failed: bool,
}

/// The gateway that is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GatewayFacts {
    /// The name it is registered by.
    pub(crate) name: Option<String>,
    /// Its address.
    pub(crate) endpoint: String,
    /// When it last answered, in microseconds.
    pub(crate) answered: Option<i64>,
    /// What is wrong, if anything is.
    pub(crate) trouble: Option<Trouble>,
}

/// Why the gateway cannot be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Trouble {
    /// A word of [`word`].
    pub(crate) why: String,
    /// Whether it answers and does not let us in.
    pub(crate) is_refusal: bool,
    /// Since when, in microseconds.
    pub(crate) since: i64,
}

/// What the gateway listed last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Listed {
    /// Sandboxes that there are.
    pub(crate) all: u64,
    /// Of those, the ones that are selected.
    pub(crate) selected: u64,
}

impl Forwarder {
    /// The gateway answers and lets us in.
    pub(crate) fn is_gateway_up(&self) -> bool {
        self.gateway.answered.is_some() && self.gateway.trouble.is_none()
    }

    /// When it began.
    pub(crate) fn since(&self) -> Micros {
        Micros(self.since)
    }
}

impl GatewayFacts {
    /// Its name and address, for people; not escaped.
    pub(crate) fn words(&self) -> String {
        match &self.name {
            Some(name) => format!("`{name}` at {}", self.endpoint),
            None => self.endpoint.clone(),
        }
    }
}

/// The text without secrets, cut where it is too long for the file.
pub(crate) fn bounded(text: &str) -> String {
    let text = crate::context::without_secrets(text);
    text.chars().take(NAME_CHARACTERS_MAX).collect()
}

/// One word for an error: nothing that the gateway says gets into the file.
pub(crate) const fn word(kind: boundlane_gateway::Kind) -> &'static str {
    use boundlane_gateway::Kind;
    match kind {
        Kind::NotInstalled => "not_installed",
        Kind::Setup => "setup",
        Kind::NotRunning => "not_running",
        Kind::NoAnswer => "no_answer",
        Kind::WrongCertificate => "wrong_certificate",
        Kind::Unauthenticated => "unauthenticated",
        Kind::PermissionDenied => "permission_denied",
        Kind::ExpiredToken => "expired_token",
        Kind::NoToken => "no_token",
        Kind::NoSuchWorkspace => "no_such_workspace",
        Kind::NoSuchSandbox => "no_such_sandbox",
        Kind::NotAGateway => "not_a_gateway",
        Kind::TooMuch => "too_much",
        Kind::RateLimited => "rate_limited",
        Kind::Broke => "broke",
    }
}

/// Whether the gateway is there and does not let us in.
pub(crate) const fn is_refusal(kind: boundlane_gateway::Kind) -> bool {
    use boundlane_gateway::Kind;
    matches!(
        kind,
        Kind::Unauthenticated
            | Kind::PermissionDenied
            | Kind::ExpiredToken
            | Kind::NoToken
            | Kind::NoSuchWorkspace
    )
}
