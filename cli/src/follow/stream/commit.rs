//! From decisions to bundles.

use std::sync::Arc;

use boundlane_ingest::Decoded;
use boundlane_ingest::watch::{Arrived, Step};
use boundlane_record::{Books, Session};

use super::Stream;
use crate::context::wall_clock;
use crate::follow::bundle::Builder;
use crate::follow::writer::Closed;

/// Entries after which a bundle goes, though more is ready to be read.
const BUNDLE_ENTRIES_MAX: usize = 2000;

impl Stream {
    /// Does what was decided so far; sends it on when it is much.
    pub(super) async fn apply(&mut self) -> Result<(), Closed> {
        let steps: Vec<Step> = self.follow.steps().collect();
        for step in steps {
            match step {
                Step::Take(arrived) => self.take(&arrived),
                Step::Repeat(_) => {
                    self.builder.part().books += Books {
                        lines_read: 1,
                        repeats: 1,
                        ..Books::default()
                    };
                }
                Step::Gap(gap) => {
                    self.decoder.forget_policy();
                    self.builder.row(&gap.row(&self.name, wall_clock()));
                }
                Step::OpenGap(gap) => {
                    self.decoder.forget_policy();
                    self.builder.open(gap);
                }
            }
        }
        match self.builder.entries() >= BUNDLE_ENTRIES_MAX {
            true => self.commit().await,
            false => Ok(()),
        }
    }

    fn take(&mut self, arrived: &Arrived) {
        let text = arrived.line.text();
        let message = arrived.line.as_message(&text);
        let part = self.builder.part();
        let decoded = self
            .decoder
            .message(&message, &self.name, wall_clock(), &mut part.entries);
        let mut books = Books {
            lines_read: 1,
            ..Books::default()
        };
        match decoded {
            Decoded::Record { .. } => books.records = 1,
            // Of another sandbox is what a message says of itself; whose it is, the gateway says.
            Decoded::Ignored(_) | Decoded::OtherSandbox(_) => books.ignored = 1,
        }
        part.books += books;
        self.builder.passed(arrived.fingerprint);
        self.proof.line();
    }

    /// Something about the stream itself.
    pub(super) fn session(&mut self, session: &Session) {
        self.builder
            .row(&session.row(Some(&self.name), wall_clock()));
    }

    /// Sends everything that is decided, with the place behind it.
    pub(super) async fn commit(&mut self) -> Result<(), Closed> {
        if self.builder.is_empty() {
            return Ok(());
        }
        let state = self.decoder.state();
        let decoded = (state.to_json(), state.policy.clone());
        let place = self.follow.place().to_json();
        let mut builder: Builder = std::mem::take(&mut self.builder);
        let bundle = builder.take(&Arc::clone(&self.name), place, decoded, wall_clock());
        self.shared.writer.send(bundle).await
    }
}
