//! The offline check: every law that the journal's file can show, from its entries up.
//!
//! One snapshot, one pass over the blocks. Memory grows with the number of streams, not of entries.
//! A writer may go on meanwhile; its `-wal` cannot shrink until the pass is over.

mod books;
mod entries;
mod tables;
mod waiting;

use std::fmt;

use boundlane_record::TreeSize;
use boundlane_record::tree::Hash;

use crate::error::{OpenError, ReadError};
use crate::head;
use crate::reader::Reader;
use crate::state_dir::StateDir;

/// A law of `docs/INVARIANTS.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Law {
    /// Nothing is lost silently.
    L1,
    /// Once.
    L2,
    /// The place moves with the data.
    L3,
    /// The books balance.
    L4,
    /// Bounded.
    L5,
    /// Untrusted bytes.
    L8,
    /// History cannot be rewritten unnoticed.
    L9,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A law that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub law: Law,
    /// Where: an entry, a block, a stream, a table.
    pub place: String,
    /// What was found, and what should have been.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.law, self.place, self.what)
    }
}

/// What was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsckSummary {
    /// The journal's id.
    pub journal: String,
    /// Its size.
    pub size: TreeSize,
    /// The root that the journal states at that size.
    pub root: Hash,
    /// Numbers that are pruned and could not be read.
    pub pruned: u64,
    /// Entries read.
    pub entries: u64,
    /// Blocks read.
    pub blocks: u64,
    /// Streams known.
    pub streams: u64,
    /// Findings reported.
    pub findings: u64,
}

/// How far the pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Entries behind it.
    pub entries: u64,
    /// Entries in all.
    pub of: u64,
}

/// Why the journal could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum FsckError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<rusqlite::Error> for FsckError {
    fn from(error: rusqlite::Error) -> FsckError {
        FsckError::Read(error.into())
    }
}

/// Takes findings and counts them.
pub(crate) struct Findings<'r> {
    report: &'r mut dyn FnMut(Finding),
    count: u64,
}

impl Findings<'_> {
    fn add(&mut self, law: Law, place: impl fmt::Display, what: impl fmt::Display) {
        self.count += 1;
        (self.report)(Finding {
            law,
            place: place.to_string(),
            what: what.to_string(),
        });
    }

    /// Reports a number that is not what it should be.
    fn compare(&mut self, law: Law, place: impl fmt::Display, what: &str, is: u64, should: u64) {
        if is != should {
            self.add(
                law,
                place,
                format_args!("{what} is {is}, should be {should}"),
            );
        }
    }
}

/// Checks the journal of `dir`; `None` when there is none. Each law that does not hold is reported.
///
/// # Errors
/// [`FsckError`] when the journal cannot be opened or read at all.
pub fn fsck(
    dir: &StateDir,
    report: &mut dyn FnMut(Finding),
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<FsckSummary>, FsckError> {
    let Some(reader) = Reader::open(dir)? else {
        return Ok(None);
    };
    let mut findings = Findings { report, count: 0 };
    let snapshot = reader
        .connection()
        .unchecked_transaction()
        .map_err(ReadError::from)?;
    tables::integrity(&snapshot, &mut findings)?;
    let head = head::read(&snapshot)?;
    let derived = entries::derive(&snapshot, &head, &mut findings, progress)?;
    books::compare(&snapshot, &head, &derived, &mut findings)?;
    tables::check(&snapshot, &head, &mut findings)?;
    Ok(Some(FsckSummary {
        journal: head.journal,
        size: head.size,
        root: head.root,
        pruned: head.pruned.0,
        entries: derived.entries,
        blocks: derived.blocks,
        streams: derived.streams.len() as u64,
        findings: findings.count,
    }))
}
