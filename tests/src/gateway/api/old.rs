//! Up to 0.0.116: a watch by the sandbox's id, times in milliseconds, no cursors.

use std::sync::Arc;

use futures::StreamExt;
use tonic::{Request, Response, Status, Streaming};

use super::Answers;
use crate::gateway::calls::{Caller, id_of};
use crate::gateway::model::{Generation, Line, PlatformEvent, Sandbox};
use crate::gateway::proto::old::openshell::datamodel::v1 as datamodel;
use crate::gateway::proto::old::openshell::v1 as wire;
use crate::gateway::requests::{Asked, Call, Listing, LogsAsked, Page, Scope, Which};
use crate::gateway::watch::Sent;
use wire::sandbox_stream_event::Payload;

/// The service.
pub(in crate::gateway) struct Api(pub(in crate::gateway) Caller);

#[tonic::async_trait]
impl wire::open_shell_server::OpenShell for Api {
    type WatchSandboxStream = Answers<wire::SandboxStreamEvent>;

    async fn health(
        &self,
        request: Request<wire::HealthRequest>,
    ) -> Result<Response<wire::HealthResponse>, Status> {
        self.0.admit(request.metadata(), Call::Health).await?;
        Ok(Response::new(wire::HealthResponse {
            status: wire::ServiceStatus::Healthy.into(),
            version: self.0.version(),
        }))
    }

    async fn get_sandbox(
        &self,
        request: Request<wire::GetSandboxRequest>,
    ) -> Result<Response<wire::SandboxResponse>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let scope = Scope::named(&asked.workspace);
        let call = Call::GetSandbox(asked.name.clone(), scope.clone());
        self.0.admit(&metadata, call).await?;
        let sandbox = self.0.sandbox(asked.name, scope)?;
        Ok(Response::new(wire::SandboxResponse {
            sandbox: Some(record(&sandbox)),
        }))
    }

    async fn list_sandboxes(
        &self,
        request: Request<wire::ListSandboxesRequest>,
    ) -> Result<Response<wire::ListSandboxesResponse>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let listing = Listing {
            page_size: asked.limit.into(),
            page: Page::Offset(asked.offset),
            selector: asked.label_selector,
            scope: match asked.all_workspaces {
                true => Scope::All,
                false => Scope::named(&asked.workspace),
            },
        };
        let call = Call::ListSandboxes(listing.clone());
        self.0.admit(&metadata, call).await?;
        let page = self.0.list(&listing)?;
        Ok(Response::new(wire::ListSandboxesResponse {
            sandboxes: page.sandboxes.iter().map(record).collect(),
        }))
    }

    async fn list_workspaces(
        &self,
        request: Request<wire::ListWorkspacesRequest>,
    ) -> Result<Response<wire::ListWorkspacesResponse>, Status> {
        self.0
            .admit(request.metadata(), Call::ListWorkspaces)
            .await?;
        let workspace = |name: String| datamodel::Workspace {
            metadata: Some(datamodel::ObjectMeta {
                name,
                ..datamodel::ObjectMeta::default()
            }),
        };
        Ok(Response::new(wire::ListWorkspacesResponse {
            workspaces: self.0.workspaces().into_iter().map(workspace).collect(),
        }))
    }

    async fn get_sandbox_logs(
        &self,
        request: Request<wire::GetSandboxLogsRequest>,
    ) -> Result<Response<wire::GetSandboxLogsResponse>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let asked = LogsAsked {
            sandbox: Which::WithId(asked.sandbox_id),
            lines: asked.lines,
            since_ms: since(asked.since_ms),
            sources: asked.sources,
            min_level: asked.min_level,
        };
        let call = Call::GetSandboxLogs(asked.clone());
        self.0.admit(&metadata, call).await?;
        let last = self.0.logs(&asked)?;
        let shown = |read: &Arc<Line>| line(&last.sandbox_id, read);
        Ok(Response::new(wire::GetSandboxLogsResponse {
            logs: last.lines.iter().map(shown).collect(),
            buffer_total: last.buffer_total,
        }))
    }

    async fn watch_sandbox(
        &self,
        request: Request<wire::WatchSandboxRequest>,
    ) -> Result<Response<Self::WatchSandboxStream>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let asked = Asked {
            sandbox: Which::WithId(asked.id),
            since_ms: since(asked.log_since_ms),
            follow_status: asked.follow_status,
            follow_logs: asked.follow_logs,
            follow_events: asked.follow_events,
            log_tail_lines: asked.log_tail_lines,
            event_tail: asked.event_tail,
            stop_on_terminal: asked.stop_on_terminal,
            sources: asked.log_sources,
            min_level: asked.log_min_level,
            resume_after_cursor: String::new(),
        };
        let call = Call::WatchSandbox(asked.clone());
        self.0.admit(&metadata, call).await?;
        if let Which::WithId(id) = &asked.sandbox {
            id_of(Generation::Old, id)?;
        }
        let delivery = self.0.watch(asked)?;
        Ok(Response::new(Box::pin(
            delivery.map(|sent| sent.map(shape)),
        )))
    }

    async fn push_sandbox_logs(
        &self,
        request: Request<Streaming<wire::PushSandboxLogsRequest>>,
    ) -> Result<Response<wire::PushSandboxLogsResponse>, Status> {
        let (metadata, _, mut pushes) = request.into_parts();
        self.0.admit(&metadata, Call::PushSandboxLogs).await?;
        while let Some(push) = pushes.message().await? {
            let lines = push.logs.into_iter().map(pushed).collect();
            self.0.push(&push.sandbox_id, lines)?;
        }
        Ok(Response::new(wire::PushSandboxLogsResponse {}))
    }
}

fn since(ms: i64) -> Option<i64> {
    (ms > 0).then_some(ms)
}

fn shape(sent: Sent) -> wire::SandboxStreamEvent {
    let payload = match sent {
        Sent::Sandbox(sandbox) => Payload::Sandbox(record(&sandbox)),
        Sent::Line {
            sandbox_id,
            line: said,
            cursor: _,
        } => Payload::Log(line(&sandbox_id, &said)),
        Sent::Event {
            event: said,
            cursor: _,
        } => Payload::Event(event(&said)),
        Sent::Warning(message) => Payload::Warning(wire::SandboxStreamWarning { message }),
    };
    wire::SandboxStreamEvent {
        payload: Some(payload),
    }
}

fn line(sandbox_id: &str, line: &Line) -> wire::SandboxLogLine {
    wire::SandboxLogLine {
        sandbox_id: sandbox_id.to_owned(),
        level: line.level.clone(),
        target: line.target.clone(),
        message: line.message.clone(),
        source: line.source.clone(),
        fields: line.fields.clone(),
        timestamp_ms: line.time_ms.unwrap_or(0),
    }
}

fn pushed(line: wire::SandboxLogLine) -> Line {
    Line {
        time_ms: Some(line.timestamp_ms),
        level: line.level,
        target: line.target,
        message: line.message,
        source: line.source,
        fields: line.fields,
    }
}

fn event(event: &PlatformEvent) -> wire::PlatformEvent {
    wire::PlatformEvent {
        timestamp_ms: event.time_ms.unwrap_or(0),
        source: event.source.clone(),
        r#type: event.kind.clone(),
        reason: event.reason.clone(),
        message: event.message.clone(),
        ..wire::PlatformEvent::default()
    }
}

fn record(sandbox: &Sandbox) -> wire::Sandbox {
    wire::Sandbox {
        metadata: Some(datamodel::ObjectMeta {
            id: sandbox.id.clone(),
            name: sandbox.name.clone(),
            labels: sandbox.labels.clone(),
            workspace: sandbox.workspace.clone(),
            created_at_ms: sandbox.created_ms,
            ..datamodel::ObjectMeta::default()
        }),
        status: Some(wire::SandboxStatus {
            phase: sandbox.phase as i32,
            current_policy_version: sandbox.policy_version,
            ..wire::SandboxStatus::default()
        }),
    }
}
