//! One journal laid end to end out of files and the live journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use boundlane_archive::ArchiveFile;
use boundlane_record::{Micros, Seq};

use super::{Missing, Part, is_journal};
use crate::live::{LiveHead, LivePart};

/// All that is known of one journal.
#[derive(Debug, Default)]
pub(super) struct Chain {
    journal: String,
    /// By first number; of those with the same one the longest first.
    files: Vec<Arc<ArchiveFile>>,
    live: Option<LiveHead>,
    /// Histories that have parted from it.
    apart: Vec<LiveHead>,
}

impl Chain {
    pub(super) fn all(files: Vec<ArchiveFile>, heads: &[LiveHead]) -> Vec<Chain> {
        let mut chains: BTreeMap<String, Chain> = BTreeMap::new();
        for file in files {
            let chain = chains.entry(file.name.journal.to_string()).or_default();
            chain.files.push(Arc::new(file));
        }
        for head in heads.iter().filter(|head| is_journal(head)) {
            let chain = chains.entry(head.journal.clone()).or_default();
            match head.file == head.journal {
                true => chain.live = Some(head.clone()),
                false => chain.apart.push(head.clone()),
            }
        }
        let named = |(journal, chain)| Chain { journal, ..chain };
        let mut chains: Vec<Chain> = chains.into_iter().map(named).collect();
        for chain in &mut chains {
            chain.files.sort_by(|a, b| {
                let by_first = a.name.first.cmp(&b.name.first);
                by_first
                    .then(b.name.last.cmp(&a.name.last))
                    .then_with(|| a.path.cmp(&b.path))
            });
        }
        chains
    }

    pub(super) fn journal(&self) -> &str {
        &self.journal
    }

    pub(super) fn first_file(&self) -> Option<&ArchiveFile> {
        self.files.first().map(Arc::as_ref)
    }

    pub(super) fn first_moment(&self) -> Option<Micros> {
        self.first_file()?.footer.tally.observed.first()
    }

    /// Its numbers from 1 to the last one known, each in one part or missing.
    pub(super) fn resolve(&self) -> (Vec<Part>, Vec<Missing>) {
        let mut joined = Joined {
            chain: self,
            due: Seq::FIRST,
            parts: Vec::new(),
            missing: Vec::new(),
        };
        for file in &self.files {
            joined.file(file);
        }
        if let Some(live) = &self.live {
            joined.hole_up_to(Seq(live.size.0));
        }
        let (mut parts, missing) = (joined.parts, joined.missing);
        parts.extend(self.apart.iter().filter_map(apart));
        (parts, missing)
    }
}

/// All that a history holds after it has parted.
fn apart(head: &LiveHead) -> Option<Part> {
    let last = Seq(head.size.0);
    (head.first <= last).then(|| {
        Part::Live(LivePart {
            journal: head.journal.clone(),
            file: head.file.clone(),
            first: head.first,
            last,
        })
    })
}

struct Joined<'c> {
    chain: &'c Chain,
    /// The number that comes next.
    due: Seq,
    parts: Vec<Part>,
    missing: Vec<Missing>,
}

impl Joined<'_> {
    fn file(&mut self, file: &Arc<ArchiveFile>) {
        if file.name.last < self.due {
            return;
        }
        if file.name.first > self.due {
            self.hole_up_to(Seq(file.name.first.0 - 1));
        }
        self.parts.push(Part::File {
            file: Arc::clone(file),
            first: self.due,
        });
        self.due = file.name.last.next();
    }

    /// No file holds the numbers from the one due to `last`; the journal may.
    fn hole_up_to(&mut self, last: Seq) {
        if last < self.due {
            return;
        }
        let held = self.chain.live.as_ref().and_then(|live| {
            let first = live.first.max(self.due);
            let last = last.min(Seq(live.size.0));
            (first <= last).then_some((first, last))
        });
        match held {
            Some((first, held_last)) => {
                self.miss(self.due, Seq(first.0 - 1));
                self.parts.push(Part::Live(LivePart {
                    journal: self.chain.journal.clone(),
                    file: self.chain.journal.clone(),
                    first,
                    last: held_last,
                }));
                self.miss(held_last.next(), last);
            }
            None => self.miss(self.due, last),
        }
        self.due = last.next();
    }

    fn miss(&mut self, first: Seq, last: Seq) {
        if first <= last {
            self.missing.push(Missing {
                journal: self.chain.journal.clone(),
                first,
                last,
            });
        }
    }
}
