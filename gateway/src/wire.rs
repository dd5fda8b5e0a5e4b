//! Messages of the wire, and what they mean in both generations.

mod read;

pub(crate) use messages::*;

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::wildcard_imports,
    reason = "made by prost from `proto/gateway.proto`"
)]
mod messages {
    include!(concat!(env!("OUT_DIR"), "/boundlane.gateway.rs"));
}

/// A request in both generations; the answer has one shape.
#[derive(Clone)]
pub(crate) struct Spoken<N, O> {
    /// From 0.1.0.
    pub(crate) new: N,
    /// Up to 0.0.116.
    pub(crate) old: O,
}

impl WorkspaceSelector {
    /// One workspace, or all of them.
    pub(crate) fn of(workspace: Option<&str>) -> WorkspaceSelector {
        use workspace_selector::Selection;
        let selection = match workspace {
            Some(name) => Selection::Workspace(name.to_owned()),
            None => Selection::AllWorkspaces(AllWorkspaces {}),
        };
        WorkspaceSelector {
            selection: Some(selection),
        }
    }
}
