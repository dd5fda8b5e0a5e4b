//! Coverage: for a window and a set of sandboxes, whether the answer is complete, and what is missing.
//!
//! A [`Coverage`] is fed with what a reader meets on its way: rows ([`Coverage::see`], which keeps
//! losses and session entries and only looks at the clock of the rest), ranges that no file holds, files
//! that cannot be read. Between two neighbouring entries of a stream the record is complete unless a
//! loss lies between them; after the last one nothing is known.
//!
//! Gaps (never reached us), drops (we shed them) and rejections (the receiver refused them) are three
//! losses; they are counted apart and never added up.
//!
//! Limits: [`LOSSES_KEPT_MAX`] losses and as many holes are kept one by one, all are counted;
//! [`STREAMS_KEPT_MAX`] streams are told apart. Memory does not grow with rows.
//!
//! ```
//! use boundlane_record::coverage::{Coverage, Verdict};
//! use boundlane_record::{Micros, Row, Seq};
//!
//! let mut coverage = Coverage::default();
//! let mut attached = Row { kind: Some("session".into()), cause: Some("attached".into()), ..Row::default() };
//! (attached.source, attached.sandbox, attached.observed) = (Some("gateway".into()), Some("dev".into()), Some(Micros(5)));
//! coverage.see("j", Some(Seq(2)), &attached);
//! assert_eq!(coverage.verdict(), Verdict::Complete);
//! ```

mod import;
mod loss;
mod stream;
mod text;

pub use import::Doubts;
pub use loss::{Loss, Total};
pub use stream::Testimony;
pub use text::rfc3339;

use std::collections::BTreeMap;

use crate::column::Row;
use crate::filter::Scope;
use crate::number::{Micros, Seq};
use crate::vocabulary::Kind;
use stream::Streams;

/// How many losses are kept one by one, and how many holes; the rest is counted.
pub const LOSSES_KEPT_MAX: usize = 1_000;

/// How many streams are told apart; beyond it the answer is no longer called complete.
pub const STREAMS_KEPT_MAX: usize = 65_536;

/// What the answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is missing up to the newest moment known.
    Complete,
    /// Nothing is missing from what was imported; what the imports did not hold is not known.
    AsImported,
    /// No stream of this scope was ever recorded: silence proves nothing.
    NothingRecorded,
    /// Something is missing, or may be.
    Incomplete,
}

impl Verdict {
    /// The word in the footer and in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Complete => "complete",
            Verdict::AsImported => "as imported",
            Verdict::NothingRecorded => "nothing recorded",
            Verdict::Incomplete => "incomplete",
        }
    }
}

/// Entries or files that this reader does not have, whoever wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hole {
    /// Numbers of a journal that no file holds.
    Range {
        /// The journal.
        journal: String,
        /// The first number that is missing.
        first: Seq,
        /// The last number that is missing.
        last: Seq,
    },
    /// A file that cannot be read.
    File {
        /// Where it lies.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What is known about the completeness of one answer.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    scope: Scope,
    losses: Vec<Loss>,
    losses_seen: u64,
    totals: BTreeMap<(Kind, &'static str), Total>,
    holes: Vec<Hole>,
    entries_missing: u64,
    ranges_missing: u64,
    files_unreadable: u64,
    streams: Streams,
    doubts: Doubts,
    newest: Option<Micros>,
}

impl Coverage {
    /// Nothing seen yet, for an answer about `scope`.
    pub fn new(scope: Scope) -> Coverage {
        Coverage {
            scope,
            ..Coverage::default()
        }
    }

    /// Takes in one row, of any kind; `seq` is absent for a loss that is still open.
    ///
    /// Rows may come in any order, each once.
    pub fn see(&mut self, journal: &str, seq: Option<Seq>, row: &Row<'_>) {
        let kind = row.kind.as_deref().and_then(Kind::from_word);
        self.newest = self.newest.max(row.observed);
        if self.scope.is_about(row, false) {
            self.streams.see(kind, row);
            self.doubts.see(kind, row);
        }
        if let Some(kind) = kind
            && kind.is_loss()
            && self.scope.touched_by(row)
        {
            self.keep(Loss::of(kind, journal, seq, row));
        }
    }

    fn keep(&mut self, loss: Loss) {
        let total = self.totals.entry((loss.kind, loss.cause));
        total.or_default().add(&loss);
        self.losses_seen += 1;
        if self.losses.len() < LOSSES_KEPT_MAX {
            self.losses.push(loss);
        }
    }

    /// Numbers of `journal` that no file holds. They may be of any sandbox and any time.
    pub fn missing_range(&mut self, journal: &str, first: Seq, last: Seq) {
        self.ranges_missing += 1;
        let entries = (last.0.saturating_sub(first.0)).saturating_add(1);
        self.entries_missing = self.entries_missing.saturating_add(entries);
        let journal = journal.to_owned();
        self.keep_hole(Hole::Range {
            journal,
            first,
            last,
        });
    }

    /// A file that could not be read, whatever it held.
    pub fn unreadable(&mut self, path: &str, reason: &str) {
        self.files_unreadable += 1;
        let (path, reason) = (path.to_owned(), reason.to_owned());
        self.keep_hole(Hole::File { path, reason });
    }

    fn keep_hole(&mut self, hole: Hole) {
        if self.holes.len() < LOSSES_KEPT_MAX {
            self.holes.push(hole);
        }
    }

    /// A moment up to which something is known without its rows having been fed here.
    pub fn known_until(&mut self, moment: Micros) {
        self.newest = self.newest.max(Some(moment));
    }

    /// What the answer is worth.
    pub fn verdict(&self) -> Verdict {
        let is_whole = self.losses_seen == 0
            && self.ranges_missing == 0
            && self.files_unreadable == 0
            && self.streams.not_kept() == 0
            && self.silent_before_the_end().next().is_none();
        match is_whole {
            false => Verdict::Incomplete,
            true if self.streams.is_empty() => Verdict::NothingRecorded,
            true if self.imported().next().is_some() => Verdict::AsImported,
            true => Verdict::Complete,
        }
    }

    /// Whether `--require-complete` is content: nothing is missing and that can be proved.
    pub fn is_complete(&self) -> bool {
        self.verdict() == Verdict::Complete
    }

    /// What the question was about.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The first [`LOSSES_KEPT_MAX`] losses that touch the scope.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// All losses that touch the scope.
    pub fn losses_seen(&self) -> u64 {
        self.losses_seen
    }

    /// Lines lost, by kind of loss and cause.
    pub fn totals(&self) -> impl Iterator<Item = (Kind, &'static str, &Total)> {
        self.totals
            .iter()
            .map(|(&(kind, cause), total)| (kind, cause, total))
    }

    /// Lines lost to one kind of loss, whatever the cause.
    pub fn total(&self, kind: Kind) -> Total {
        let mut sum = Total::default();
        for (of, _, total) in self.totals() {
            if of == kind {
                sum.join(total);
            }
        }
        sum
    }

    /// The first [`LOSSES_KEPT_MAX`] holes.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// How many entries are in ranges that no file holds.
    pub fn entries_missing(&self) -> u64 {
        self.entries_missing
    }

    /// How many files could not be read.
    pub fn files_unreadable(&self) -> u64 {
        self.files_unreadable
    }

    /// All streams of the scope, with the newest moment known of each.
    pub fn testimonies(&self) -> impl Iterator<Item = &Testimony> {
        self.streams.iter()
    }

    /// The streams that were imported: complete only as far as their files were.
    pub fn imported(&self) -> impl Iterator<Item = &Testimony> {
        self.testimonies().filter(|stream| stream.is_import())
    }

    /// Streams that were not ended and of which nothing is known up to the end of the window.
    pub fn silent_before_the_end(&self) -> impl Iterator<Item = &Testimony> {
        let until = self.scope.window.until;
        self.testimonies().filter(move |stream| {
            until.is_some_and(|until| stream.newest < until && stream.is_followed())
        })
    }

    /// Takes in the newest moment of a stream whose rows were not fed here.
    pub fn heard(&mut self, row: &Row<'_>) {
        self.newest = self.newest.max(row.observed);
        if self.scope.is_about(row, false) {
            self.streams.see(None, row);
        }
    }

    /// Readings of files that may repeat lines, or broke off.
    pub fn doubts(&self) -> Doubts {
        self.doubts
    }

    /// The newest moment at which anything was recorded, of any stream.
    pub fn newest(&self) -> Option<Micros> {
        self.newest
    }
}
