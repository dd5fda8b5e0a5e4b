//! Where the entries lie at one moment: files of the archives first, then what only the journal has.
//!
//! Every number is taken from one place. Files that others contain are left out; where two archives
//! overlap, the second file gives only what the first did not; from the journal only numbers that no file
//! holds are read.

mod order;
mod parts;

use std::sync::Arc;

use boundlane_archive::{ArchiveFile, BadFile, JournalId, Root, list};
use boundlane_record::{Micros, Row, Seq, canonical};

use crate::live::{LiveHead, LiveJournal, LivePart};
use order::Beginning;
use parts::Chain;

/// How often a hole between archive and journal is looked at again: entries may just be moving.
const LOOKS_MAX: usize = 3;

/// Journals whose first entry is read to learn which one they follow. Beyond it they go by their first moment.
const BEGINNINGS_READ_MAX: usize = 256;

/// Consecutive numbers of one journal that lie in one place.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// A file, from number `first` on.
    File { file: Arc<ArchiveFile>, first: Seq },
    /// The journal.
    Live(LivePart),
}

impl Part {
    /// The history that it is of: a journal's id, or the name of one that has parted from it.
    pub(crate) fn history(&self) -> &str {
        match self {
            Part::File { file, .. } => file.name.journal.as_str(),
            Part::Live(part) => &part.file,
        }
    }

    pub(crate) fn first(&self) -> Seq {
        match self {
            Part::File { first, .. } => *first,
            Part::Live(part) => part.first,
        }
    }

    pub(crate) fn last(&self) -> Seq {
        match self {
            Part::File { file, .. } => file.name.last,
            Part::Live(part) => part.last,
        }
    }
}

/// Numbers that lie nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) journal: String,
    pub(crate) first: Seq,
    pub(crate) last: Seq,
}

/// Everything there is, at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// In number order, predecessor journals first.
    pub(crate) parts: Vec<Part>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) bad: Vec<BadFile>,
    /// Losses without a number, and the journal they will get one in.
    pub(crate) open: Arc<[Row<'static>]>,
    pub(crate) open_journal: String,
    /// The newest moment that a file states.
    pub(crate) newest: Option<Micros>,
}

impl Snapshot {
    /// Lists the archives, then the journal. Files that `spoiled` names are left out as bad.
    pub(crate) fn take(
        archives: &[Root],
        live: Option<&dyn LiveJournal>,
        spoiled: &[BadFile],
    ) -> Snapshot {
        let mut snapshot = Snapshot::look(archives, live, spoiled);
        for _ in 1..LOOKS_MAX {
            if snapshot.missing.is_empty() || live.is_none() {
                break;
            }
            let again = Snapshot::look(archives, live, spoiled);
            let is_settled = again.missing == snapshot.missing;
            snapshot = again;
            if is_settled {
                break;
            }
        }
        snapshot
    }

    fn look(archives: &[Root], live: Option<&dyn LiveJournal>, spoiled: &[BadFile]) -> Snapshot {
        let mut snapshot = Snapshot {
            bad: spoiled.to_vec(),
            ..Snapshot::default()
        };
        let mut files = Vec::new();
        for root in archives {
            let mut listing = list(root);
            snapshot.bad.append(&mut listing.bad);
            for path in listing.holdings().into_iter().flat_map(|held| held.breaks) {
                let why = "it continues another history than the file before it".to_owned();
                snapshot.bad.push(BadFile { path, why });
            }
            files.append(&mut listing.files);
        }
        files.retain(|file| !snapshot.bad.iter().any(|bad| bad.path == file.path));
        // Open losses are read before the heads: one that gets its number meanwhile is met twice
        // by coverage, which errs on the side of saying so, and never not at all.
        snapshot.open = live
            .map(LiveJournal::open_losses)
            .unwrap_or_default()
            .into();
        let heads = live.map(LiveJournal::journals).unwrap_or_default();
        snapshot.open_journal = heads
            .last()
            .map(|head| head.journal.clone())
            .unwrap_or_default();
        snapshot.newest = files
            .iter()
            .filter_map(|file| file.footer.tally.observed.last())
            .max();
        for chain in in_order(Chain::all(files, &heads), live) {
            let (mut parts, mut missing) = chain.resolve();
            snapshot.parts.append(&mut parts);
            snapshot.missing.append(&mut missing);
        }
        snapshot
    }

    /// All files, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Arc<ArchiveFile>, Seq)> {
        self.parts.iter().filter_map(|part| match part {
            Part::File { file, first } => Some((file, *first)),
            Part::Live(_) => None,
        })
    }

    /// All parts of the journal, in order.
    pub(crate) fn live_parts(&self) -> impl Iterator<Item = &LivePart> {
        self.parts.iter().filter_map(|part| match part {
            Part::File { .. } => None,
            Part::Live(part) => Some(part),
        })
    }
}

/// Predecessors first; journals that follow none by their first moment.
fn in_order(chains: Vec<Chain>, live: Option<&dyn LiveJournal>) -> Vec<Chain> {
    if chains.len() < 2 {
        return chains;
    }
    let is_read = chains.len() <= BEGINNINGS_READ_MAX;
    let beginnings: Vec<Beginning> = chains
        .iter()
        .map(|chain| beginning(chain, live.filter(|_| is_read)))
        .collect();
    let mut chains: Vec<Option<Chain>> = chains.into_iter().map(Some).collect();
    let order = order::predecessors_first(&beginnings);
    order
        .into_iter()
        .filter_map(|at| chains[at].take())
        .collect()
}

fn beginning(chain: &Chain, live: Option<&dyn LiveJournal>) -> Beginning {
    let mut found = Beginning {
        journal: chain.journal().to_owned(),
        first_moment: chain.first_moment(),
        says: String::new(),
    };
    let mut learn = |entry: &[u8]| {
        if let Ok(row) = canonical::decode(entry) {
            found.first_moment = found.first_moment.or(row.observed);
            found.says = row.evidence.as_deref().unwrap_or("").to_owned();
        }
    };
    if let Some(file) = chain.first_file()
        && let Ok(open) = file.open()
        && let Some(Ok((Seq::FIRST, entry))) = open.entries(Seq::FIRST).next()
    {
        learn(entry);
    } else if let Some(live) = live
        && let Some(Ok(block)) = live.blocks(chain.journal(), Seq(0)).next()
    {
        learn(
            block
                .ndjson
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or(b""),
        );
    }
    found
}

/// A head whose id is no journal's name is no journal.
fn is_journal(head: &LiveHead) -> bool {
    JournalId::parse(&head.journal).is_some() && head.size.0 > 0
}
