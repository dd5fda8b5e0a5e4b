//! 0.1.0 and later: sandboxes by name, cursors.

use std::sync::Arc;

use futures::StreamExt;
use prost_types::Timestamp;
use tonic::{Request, Response, Status, Streaming};

use super::Answers;
use crate::gateway::calls::{Caller, id_of, since_ms};
use crate::gateway::model::{Generation, Line, PlatformEvent, Sandbox};
use crate::gateway::proto::new::openshell::datamodel::v1 as datamodel;
use crate::gateway::proto::new::openshell::v1 as wire;
use crate::gateway::requests::{Asked, Call, Listing, LogsAsked, Page, Scope, Which};
use crate::gateway::watch::Sent;
use datamodel::workspace_selector::Selection;
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
        let scope = scope(asked.workspace_scope);
        let call = Call::GetSandbox(asked.name.clone(), scope.clone());
        self.0.admit(&metadata, call).await?;
        let sandbox = self.0.sandbox(asked.name, scope)?;
        Ok(Response::new(wire::SandboxResponse {
            sandbox: Some(record(&sandbox)),
            ..wire::SandboxResponse::default()
        }))
    }

    async fn list_sandboxes(
        &self,
        request: Request<wire::ListSandboxesRequest>,
    ) -> Result<Response<wire::ListSandboxesResponse>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let listing = Listing {
            page_size: asked.page_size.into(),
            page: Page::Token(asked.page_token),
            selector: asked.label_selector,
            scope: scope(asked.workspace_scope),
        };
        let call = Call::ListSandboxes(listing.clone());
        self.0.admit(&metadata, call).await?;
        let page = self.0.list(&listing)?;
        Ok(Response::new(wire::ListSandboxesResponse {
            sandboxes: page.sandboxes.iter().map(record).collect(),
            next_page_token: page.next,
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
            next_page_token: String::new(),
        }))
    }

    async fn get_sandbox_logs(
        &self,
        request: Request<wire::GetSandboxLogsRequest>,
    ) -> Result<Response<wire::GetSandboxLogsResponse>, Status> {
        let (metadata, _, asked) = request.into_parts();
        let asked = LogsAsked {
            sandbox: Which::Named(asked.sandbox, scope(asked.workspace_scope)),
            lines: asked.lines,
            since_ms: since(asked.since_time)?,
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
        let bad_since = since(asked.since_time);
        let asked = Asked {
            since_ms: bad_since.clone().unwrap_or(None),
            sandbox: Which::Named(asked.sandbox, scope(asked.workspace_scope)),
            follow_status: asked.follow_status,
            follow_logs: asked.follow_logs,
            follow_events: asked.follow_events,
            log_tail_lines: asked.log_tail_lines,
            event_tail: asked.event_tail,
            stop_on_terminal: asked.stop_on_terminal,
            sources: asked.log_sources,
            min_level: asked.log_min_level,
            resume_after_cursor: asked.resume_after_cursor,
        };
        let call = Call::WatchSandbox(asked.clone());
        self.0.admit(&metadata, call).await?;
        bad_since?;
        if let Which::Named(name, _) = &asked.sandbox {
            id_of(Generation::New, name)?;
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

fn scope(selector: Option<datamodel::WorkspaceSelector>) -> Scope {
    match selector.and_then(|selector| selector.selection) {
        Some(Selection::Workspace(name)) => Scope::named(&name),
        Some(Selection::AllWorkspaces(_)) => Scope::All,
        None => Scope::default(),
    }
}

fn since(time: Option<Timestamp>) -> Result<Option<i64>, Status> {
    time.map(|time| since_ms(time.seconds, time.nanos))
        .transpose()
}

fn timestamp(ms: i64) -> Timestamp {
    Timestamp {
        seconds: ms.div_euclid(1000),
        nanos: i32::try_from(ms.rem_euclid(1000)).unwrap() * 1_000_000,
    }
}

fn shape(sent: Sent) -> wire::SandboxStreamEvent {
    let (payload, cursor) = match sent {
        Sent::Sandbox(sandbox) => (Payload::Sandbox(record(&sandbox)), String::new()),
        Sent::Line {
            sandbox_id,
            line: said,
            cursor,
        } => (Payload::Log(line(&sandbox_id, &said)), cursor.to_string()),
        Sent::Event {
            event: said,
            cursor,
        } => (Payload::Event(event(&said)), cursor.to_string()),
        Sent::Warning(message) => {
            let warning = wire::SandboxStreamWarning { message };
            (Payload::Warning(warning), String::new())
        }
    };
    wire::SandboxStreamEvent {
        payload: Some(payload),
        cursor,
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
        event_time: line.time_ms.map(timestamp),
    }
}

fn pushed(line: wire::SandboxLogLine) -> Line {
    let ms = |time: Timestamp| time.seconds * 1000 + i64::from(time.nanos / 1_000_000);
    Line {
        time_ms: line.event_time.map(ms),
        level: line.level,
        target: line.target,
        message: line.message,
        source: line.source,
        fields: line.fields,
    }
}

fn event(event: &PlatformEvent) -> wire::PlatformEvent {
    wire::PlatformEvent {
        event_time: event.time_ms.map(timestamp),
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
            created_time: Some(timestamp(sandbox.created_ms)),
            ..datamodel::ObjectMeta::default()
        }),
        status: Some(wire::SandboxStatus {
            phase: sandbox.phase as i32,
            current_policy_version: sandbox.policy_version,
            ..wire::SandboxStatus::default()
        }),
        ..wire::Sandbox::default()
    }
}
