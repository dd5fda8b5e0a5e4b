//! What was asked, decoded, whichever generation asked it.

use serde::{Deserialize, Serialize};

use super::buffers::Follow;
use super::filter::Filter;

/// Whose sandboxes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Those of one workspace.
    Workspace(String),
    /// All that the caller may see.
    All,
}

impl Scope {
    /// The scope of a request that names a workspace, or none.
    pub fn named(workspace: &str) -> Scope {
        match workspace {
            "" => Scope::default(),
            name => Scope::Workspace(name.to_owned()),
        }
    }

    /// Whether a sandbox of `workspace` is in it.
    pub fn has(&self, workspace: &str) -> bool {
        match self {
            Scope::Workspace(name) => name == workspace,
            Scope::All => true,
        }
    }
}

impl Default for Scope {
    fn default() -> Scope {
        Scope::Workspace("default".into())
    }
}

/// Which sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// By its name: 0.1.x.
    Named(String, Scope),
    /// By its UUID: up to 0.0.116.
    WithId(String),
}

/// A listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The longest page; 0 leaves it to the gateway.
    pub page_size: i64,
    /// Where the page starts.
    pub page: Page,
    /// `k=v`, separated by commas.
    pub selector: String,
    /// Whose.
    pub scope: Scope,
}

/// Where a page starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Page {
    /// Behind the token's sandbox; empty for the first.
    Token(String),
    /// After so many.
    Offset(u32),
}

/// A watch, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the wire's names")]
pub struct Asked {
    pub sandbox: Which,
    pub follow_status: bool,
    pub follow_logs: bool,
    pub follow_events: bool,
    pub log_tail_lines: u32,
    pub event_tail: u32,
    pub stop_on_terminal: bool,
    pub since_ms: Option<i64>,
    pub sources: Vec<String>,
    pub min_level: String,
    pub resume_after_cursor: String,
}

impl Asked {
    /// The buses it reads.
    pub(super) fn follow(&self) -> Follow {
        Follow {
            logs: self.follow_logs,
            events: self.follow_events,
        }
    }

    /// How many lines of the tail: 0 means 200.
    pub(super) fn tail_lines(&self) -> usize {
        match self.log_tail_lines {
            0 => 200,
            n => n as usize,
        }
    }

    /// What it lets through.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            sources: self.sources.clone(),
            min_level: self.min_level.clone(),
            since_ms: self.since_ms,
        }
    }
}

/// The last lines, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the wire's names")]
pub struct LogsAsked {
    pub sandbox: Which,
    pub lines: u32,
    pub since_ms: Option<i64>,
    pub sources: Vec<String>,
    pub min_level: String,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the calls of the interface")]
pub enum Call {
    Health,
    ListSandboxes(Listing),
    ListWorkspaces,
    GetSandbox(String, Scope),
    GetSandboxLogs(LogsAsked),
    WatchSandbox(Asked),
    PushSandboxLogs,
}
