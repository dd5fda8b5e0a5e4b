//! The calls.

mod list;

use std::sync::{Arc, OnceLock};

use boundlane_ingest::watch::{StreamEnd, WatchFrom, WatchedLine};
use tonic::Code;

use crate::error::GatewayError;
use crate::link::Link;
use crate::pool::Pool;
use crate::shared::Shared;
use crate::status::Failure;
use crate::wire::{
    GetSandboxLogsRequest, GetSandboxLogsResponse, GetSandboxRequest, OldGetSandboxLogsRequest,
    OldGetSandboxRequest, SandboxResponse, Spoken, WorkspaceSelector,
};
use crate::{Health, Identity, Limits, Sandbox, Target, Watch, watch};

/// A gateway's client. Clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    /// For everything but watches.
    calls: OnceLock<Link>,
    watches: Pool,
}

/// Which sandboxes to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Of this workspace; `None` is all of them.
    pub workspace: Option<String>,
    /// A label selector as the gateway reads it.
    pub labels: Option<String>,
}

/// The lines that a gateway holds of a sandbox now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Oldest first. They have no cursor.
    pub lines: Vec<WatchedLine>,
    /// How many the gateway says it holds: at most as many as were asked for.
    pub buffered: u32,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Client")
            .field(&self.0.shared.target)
            .finish()
    }
}

impl Client {
    /// Reads the certificates; connects when something is asked, and again whenever a connection broke.
    ///
    /// Certificates that are renewed on disk are read by the next client.
    pub fn new(target: Target, limits: Limits) -> Result<Client, GatewayError> {
        let shared = Arc::new(Shared::new(target, limits)?);
        Ok(Client(Arc::new(Inner {
            shared,
            calls: OnceLock::new(),
            watches: Pool::default(),
        })))
    }

    /// What the gateway says of itself, asked now and without a credential: it tells a gateway that is
    /// down from one that does not let us.
    pub async fn health(&self) -> Result<Health, GatewayError> {
        self.calls().health().await
    }

    /// The sandbox of this name in the target's workspace; `None` when it is unknown or not ours to see.
    pub async fn sandbox(&self, name: &str) -> Result<Option<Sandbox>, GatewayError> {
        self.sandbox_in(name, &self.shared().target.workspace).await
    }

    /// The sandbox that has this one's name and workspace now: it may have another id.
    pub async fn refresh(&self, sandbox: &Sandbox) -> Result<Option<Sandbox>, GatewayError> {
        self.sandbox_in(&sandbox.name, self.workspace_of(sandbox))
            .await
    }

    async fn sandbox_in(
        &self,
        name: &str,
        workspace: &str,
    ) -> Result<Option<Sandbox>, GatewayError> {
        let request = Spoken {
            new: GetSandboxRequest {
                name: name.to_owned(),
                workspace_scope: Some(WorkspaceSelector::of(Some(workspace))),
            },
            old: OldGetSandboxRequest {
                name: name.to_owned(),
                workspace: workspace.to_owned(),
            },
        };
        let answer = self.calls().ask("GetSandbox", &request).await;
        match answer {
            Ok((_, SandboxResponse { sandbox })) => Ok(sandbox.map(Sandbox::from)),
            Err(failure) if failure.says(Code::NotFound, "sandbox not found") => Ok(None),
            Err(failure) => Err(self.error(failure, "GetSandbox", Some(workspace))),
        }
    }

    /// The newest lines of a sandbox, at most so many (at least 1).
    pub async fn snapshot(&self, sandbox: &Sandbox, lines: u32) -> Result<Snapshot, GatewayError> {
        let (workspace, lines) = (self.workspace_of(sandbox), lines.max(1));
        let request = Spoken {
            new: GetSandboxLogsRequest {
                sandbox: sandbox.name.clone(),
                lines,
                workspace_scope: Some(WorkspaceSelector::of(Some(workspace))),
                ..GetSandboxLogsRequest::default()
            },
            old: OldGetSandboxLogsRequest {
                sandbox_id: sandbox.id.clone(),
                lines,
                workspace: workspace.to_owned(),
                ..OldGetSandboxLogsRequest::default()
            },
        };
        let (_, answer): (_, GetSandboxLogsResponse) = self
            .calls()
            .ask("GetSandboxLogs", &request)
            .await
            .map_err(
                |failure| match failure.says(Code::NotFound, "sandbox not found") {
                    true => GatewayError::NoSuchSandbox {
                        name: sandbox.name.clone(),
                    },
                    false => self.error(failure, "GetSandboxLogs", Some(workspace)),
                },
            )?;
        Ok(Snapshot {
            lines: answer.logs.into_iter().map(WatchedLine::from).collect(),
            buffered: answer.buffer_total,
        })
    }

    /// Follows a sandbox's lines. A gateway of the old generation has no cursor: after one, it sends all
    /// that it holds.
    pub async fn watch(&self, sandbox: &Sandbox, from: &WatchFrom) -> Result<Watch, StreamEnd> {
        let request = watch::request(sandbox, self.workspace_of(sandbox), from);
        let slot = self.0.watches.slot(self.shared());
        let stream = slot.link().follow("WatchSandbox", &request).await;
        match stream {
            Ok(stream) => Ok(Watch::new(stream, slot)),
            Err(failure) => Err(failure.end()),
        }
    }

    /// The workspace of sandboxes that are asked for by name.
    pub fn workspace(&self) -> &str {
        &self.shared().target.workspace
    }

    /// Which gateway this is, and as whom we asked it. What is not known yet is absent.
    pub fn identity(&self) -> Identity {
        self.shared().identity()
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    fn calls(&self) -> &Link {
        self.0.calls.get_or_init(|| Link::new(&self.0.shared))
    }

    fn workspace_of<'a>(&'a self, sandbox: &'a Sandbox) -> &'a str {
        match sandbox.workspace.as_str() {
            "" => &self.shared().target.workspace,
            workspace => workspace,
        }
    }

    /// What a failed call means, where it named a workspace.
    fn error(&self, failure: Failure, call: &'static str, workspace: Option<&str>) -> GatewayError {
        match failure {
            Failure::Said(status)
                if status.code() == Code::NotFound && status.message().contains("workspace") =>
            {
                GatewayError::NoSuchWorkspace {
                    endpoint: self.shared().target.endpoint.clone(),
                    workspace: workspace.unwrap_or("*").to_owned(),
                    text: crate::status::plain(status.message()),
                }
            }
            failure => failure.error(self.shared(), call),
        }
    }
}
