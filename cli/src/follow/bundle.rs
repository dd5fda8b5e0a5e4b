//! What a stream has to commit: whole items that belong together, because one place is behind all.

use std::sync::Arc;

use boundlane_record::{
    Books, EntryBatch, Fingerprint, Gap, Micros, PolicyInForce, Row, StreamName,
};
use boundlane_store::{Checkpoint, ITEM_ENTRIES_MAX, OpenLoss};

/// Items of one stream that are committed together or not at all.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) stream: Arc<StreamName>,
    pub(crate) parts: Vec<Part>,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) at: Micros,
}

/// Entries with their counts, and the losses behind them.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) entries: EntryBatch,
    pub(crate) books: Books,
    pub(crate) open_losses: Vec<OpenLoss>,
}

/// Puts a bundle together.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    parts: Vec<Part>,
    fingerprints: Vec<Fingerprint>,
}

impl Builder {
    /// Nothing to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Entries so far.
    pub(crate) fn entries(&self) -> usize {
        self.parts.iter().map(|part| part.entries.len()).sum()
    }

    /// The part that the next entry goes into.
    pub(crate) fn part(&mut self) -> &mut Part {
        let is_full = self.parts.last().is_none_or(|part| {
            part.entries.len() >= ITEM_ENTRIES_MAX || !part.open_losses.is_empty()
        });
        if is_full {
            self.parts.push(Part::default());
        }
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    /// An entry that the program itself writes.
    pub(crate) fn row(&mut self, row: &Row<'_>) {
        self.part().entries.push(row);
    }

    /// A gap that may still grow, behind what came so far.
    pub(crate) fn open(&mut self, gap: Gap) {
        self.part().open_losses.push(OpenLoss::Gap(gap));
    }

    /// A line that was passed: stored or ignored.
    pub(crate) fn passed(&mut self, fingerprint: Fingerprint) {
        self.fingerprints.push(fingerprint);
    }

    /// Takes what is there, with the place behind it.
    pub(crate) fn take(
        &mut self,
        stream: &Arc<StreamName>,
        place: String,
        (decode_state, policy): (String, PolicyInForce),
        at: Micros,
    ) -> Bundle {
        if self.parts.is_empty() {
            self.parts.push(Part::default());
        }
        Bundle {
            stream: Arc::clone(stream),
            parts: std::mem::take(&mut self.parts),
            checkpoint: Checkpoint {
                place,
                decode_state,
                policy,
                marks: boundlane_store::MarkChange::default(),
                fingerprints: std::mem::take(&mut self.fingerprints),
            },
            at,
        }
    }
}
