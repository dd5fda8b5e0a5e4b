//! Listings, page by page.

use std::collections::BTreeSet;

use super::{Client, Selection};
use crate::error::GatewayError;
use crate::wire::{
    ListSandboxesRequest, ListSandboxesResponse, OldListSandboxesRequest, Spoken, WorkspaceSelector,
};
use crate::{Generation, Sandbox};

/// What was listed so far.
#[derive(Default)]
struct Listed {
    sandboxes: Vec<Sandbox>,
    ids: BTreeSet<String>,
    /// Rows received: where the old generation goes on.
    rows: u32,
    /// Where the new generation goes on.
    page_token: String,
}

impl Client {
    /// The sandboxes that we may see, each once, in the gateway's order.
    ///
    /// A listing is no snapshot: one that is made or deleted meanwhile may be in it or not.
    pub async fn sandboxes(&self, selection: &Selection) -> Result<Vec<Sandbox>, GatewayError> {
        let limits = &self.shared().limits;
        let mut listed = Listed::default();
        loop {
            let request = listed.request(selection, limits.page_sandboxes);
            let (generation, page): (_, ListSandboxesResponse) = self
                .calls()
                .ask("ListSandboxes", &request)
                .await
                .map_err(|failure| {
                    self.error(failure, "ListSandboxes", selection.workspace.as_deref())
                })?;
            let goes_on = listed.add(generation, page);
            if listed.sandboxes.len() > limits.sandboxes_max {
                return Err(GatewayError::TooMany {
                    endpoint: self.shared().target.endpoint.clone(),
                    max: limits.sandboxes_max,
                });
            }
            if !goes_on {
                return Ok(listed.sandboxes);
            }
        }
    }
}

impl Listed {
    fn request(
        &self,
        selection: &Selection,
        page: u32,
    ) -> Spoken<ListSandboxesRequest, OldListSandboxesRequest> {
        let labels = selection.labels.clone().unwrap_or_default();
        let workspace = selection.workspace.as_deref();
        Spoken {
            new: ListSandboxesRequest {
                page_size: i32::try_from(page).unwrap_or(i32::MAX),
                page_token: self.page_token.clone(),
                label_selector: labels.clone(),
                workspace_scope: Some(WorkspaceSelector::of(workspace)),
            },
            old: OldListSandboxesRequest {
                limit: page,
                offset: self.rows,
                label_selector: labels,
                workspace: workspace.unwrap_or_default().to_owned(),
                all_workspaces: workspace.is_none(),
            },
        }
    }

    /// Whether there may be more. A page of the new generation may be empty before the end; a token that
    /// comes again brings nothing. The old one has no mark of the end and may send fewer than were asked
    /// for, so only a page with nothing new ends its listing.
    fn add(&mut self, generation: Generation, page: ListSandboxesResponse) -> bool {
        let rows = u32::try_from(page.sandboxes.len()).unwrap_or(u32::MAX);
        self.rows = self.rows.saturating_add(rows);
        let before = self.sandboxes.len();
        for sandbox in page.sandboxes {
            let sandbox = Sandbox::from(sandbox);
            if self.ids.insert(sandbox.id.clone()) {
                self.sandboxes.push(sandbox);
            }
        }
        let is_new = self.sandboxes.len() > before;
        let token = std::mem::replace(&mut self.page_token, page.next_page_token);
        match generation {
            Generation::Old => is_new,
            Generation::New => !self.page_token.is_empty() && (is_new || self.page_token != token),
        }
    }
}
