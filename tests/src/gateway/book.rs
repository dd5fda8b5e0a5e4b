//! The exact book of what was published: what a follower's journal is compared with.

use serde::{Deserialize, Serialize};

use super::model::{Line, Moment, Sandbox};

/// Everything that happened at one gateway.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Book {
    /// Every sandbox that ever was, in the order of creation.
    pub sandboxes: Vec<SandboxBook>,
    /// Every watch that was attached.
    pub attachments: Vec<Attachment>,
    /// When the process started anew, its buffers gone.
    pub restarts: Vec<Moment>,
}

/// One sandbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SandboxBook {
    /// Its UUID.
    pub id: String,
    /// Its name, which others can have had.
    pub name: String,
    /// Its workspace.
    pub workspace: String,
    /// When it was made.
    pub created: Moment,
    /// When it was deleted.
    pub deleted: Option<Moment>,
    /// Its lines, in the order of publication.
    pub lines: Vec<Published>,
}

/// One line, as it was published.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Published {
    /// The line.
    pub line: Line,
    /// Its place; none when no buffer took it. Not shown by the old interface.
    pub cursor: Option<String>,
    /// When it was published.
    pub at: Moment,
    /// To which replica.
    pub replica: usize,
}

impl Published {
    /// Whether a buffer took it: what none took, nobody could have received.
    pub fn is_accepted(&self) -> bool {
        self.cursor.is_some()
    }
}

/// One watch that was attached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Attachment {
    /// The sandbox's UUID.
    pub sandbox_id: String,
    /// Which replica served it.
    pub replica: usize,
    /// When it was attached.
    pub from: Moment,
    /// When it ended.
    pub to: Option<Moment>,
}

impl Book {
    /// The pages of the sandbox with this id.
    pub fn sandbox(&self, id: &str) -> Option<&SandboxBook> {
        self.sandboxes.iter().find(|one| one.id == id)
    }

    pub(super) fn open(&mut self, sandbox: &Sandbox, at: Moment) {
        self.sandboxes.push(SandboxBook {
            id: sandbox.id.clone(),
            name: sandbox.name.clone(),
            workspace: sandbox.workspace.clone(),
            created: at,
            deleted: None,
            lines: Vec::new(),
        });
    }

    pub(super) fn pages(&mut self, id: &str) -> Option<&mut SandboxBook> {
        // The newest first: that is where the living ones are.
        self.sandboxes.iter_mut().rev().find(|one| one.id == id)
    }
}
