//! A sandbox's lines, as they come.

use boundlane_ingest::watch::{StreamEnd, WatchEvent, WatchFrom};
use tonic::Streaming;

use crate::Sandbox;
use crate::pool::Slot;
use crate::status;
use crate::wire::{
    OldWatchSandboxRequest, SandboxStreamEvent, Spoken, WatchSandboxRequest, WorkspaceSelector,
};

/// All that a gateway holds of a sandbox: its buffer has so many lines.
const TAIL_LINES_ALL: u32 = 2000;

/// A followed sandbox. Dropping it ends the call.
pub struct Watch {
    stream: Streaming<SandboxStreamEvent>,
    end: Option<StreamEnd>,
    _slot: Slot,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch")
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl Watch {
    pub(crate) fn new(stream: Streaming<SandboxStreamEvent>, slot: Slot) -> Watch {
        Watch {
            stream,
            end: None,
            _slot: slot,
        }
    }

    /// The next event; waits for as long as the connection lives.
    ///
    /// Nothing is lost when the future is dropped before it is done. After an end it says the same end.
    pub async fn next(&mut self) -> Result<WatchEvent, StreamEnd> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let end = match self.stream.message().await {
            Ok(Some(event)) => return Ok(event.into()),
            Ok(None) => StreamEnd::Finished,
            Err(status) => status::end(&status),
        };
        self.end = Some(end.clone());
        Err(end)
    }
}

/// Lines only, and all of them: a gateway filters after it cut the tail, and warns of its other
/// events with the words that it has for lines.
pub(crate) fn request(
    sandbox: &Sandbox,
    workspace: &str,
    from: &WatchFrom,
) -> Spoken<WatchSandboxRequest, OldWatchSandboxRequest> {
    let (tail, cursor) = match from {
        WatchFrom::Tail(lines) => ((*lines).max(1), String::new()),
        WatchFrom::After(cursor) => (TAIL_LINES_ALL, cursor.clone()),
    };
    Spoken {
        new: WatchSandboxRequest {
            sandbox: sandbox.name.clone(),
            follow_logs: true,
            log_tail_lines: tail,
            workspace_scope: Some(WorkspaceSelector::of(Some(workspace))),
            resume_after_cursor: cursor,
            ..WatchSandboxRequest::default()
        },
        // There is no cursor: the whole buffer, and the caller drops what it has.
        old: OldWatchSandboxRequest {
            id: sandbox.id.clone(),
            follow_logs: true,
            log_tail_lines: tail,
            ..OldWatchSandboxRequest::default()
        },
    }
}
