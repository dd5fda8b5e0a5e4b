//! One journal: what the archive holds of it, then what its file holds.

use std::ops::ControlFlow;

use boundlane_archive::ArchiveFile;
use boundlane_record::{Micros, Seq};
use boundlane_store::{Damage, Head, Piece, Reader, Select};

use super::plan::Want;
use super::{BEGINNING, Met, Visit, decode, read_failure};
use crate::exit::Outcome;
use crate::output::cell::Placed;

const GONE: &str = "no file holds them";

/// A journal's entries.
pub(super) struct Part {
    /// Its id.
    pub(super) journal: String,
    /// When its first entry was written.
    pub(super) began: Micros,
    /// In number order.
    files: Vec<ArchiveFile>,
    /// Files of numbers that the journal's file should hold: read where it has lost them.
    spare: Vec<ArchiveFile>,
    live: Option<(Reader, Head)>,
    /// Numbers through this one are told by another part with the same id, from which this history has
    /// parted.
    after: Option<Seq>,
}

/// Whether to go on.
type Flow = ControlFlow<()>;

impl Part {
    pub(super) fn of_file(file: ArchiveFile) -> Part {
        let began = file.footer.tally.observed.first().unwrap_or(BEGINNING);
        let journal = file.name.journal.as_str().to_owned();
        Part {
            journal,
            began,
            files: vec![file],
            spare: Vec::new(),
            live: None,
            after: None,
        }
    }

    pub(super) fn of_journal(reader: &Reader, head: &Head) -> Part {
        let first = reader
            .blocks(Select::all())
            .ok()
            .and_then(|mut blocks| blocks.next());
        let began = match first {
            Some(Ok(Piece::Block(block))) => block.header.observed.0,
            _ => BEGINNING,
        };
        Part {
            journal: head.journal.clone(),
            began,
            files: Vec::new(),
            spare: Vec::new(),
            live: None,
            after: None,
        }
    }

    /// A journal whose entries after `after` are others than those known of it elsewhere.
    pub(super) fn apart(reader: Reader, head: Head, after: Seq) -> Part {
        let part = Part::of_journal(&reader, &head);
        Part {
            live: Some((reader, head)),
            after: Some(after),
            ..part
        }
    }

    pub(super) fn is_apart(&self) -> bool {
        self.after.is_some()
    }

    fn after(&self) -> Seq {
        self.after.unwrap_or(Seq(0))
    }

    pub(super) fn add_file(&mut self, file: ArchiveFile) {
        self.began = self
            .began
            .min(file.footer.tally.observed.first().unwrap_or(self.began));
        self.files.push(file);
    }

    pub(super) fn with_reader(mut self, reader: Reader, head: Head) -> Part {
        let files = std::mem::take(&mut self.files).into_iter();
        (self.files, self.spare) = files.partition(|file| file.name.first <= head.pruned);
        self.live = Some((reader, head));
        self
    }

    pub(super) fn current(&self) -> Option<&Reader> {
        self.live.as_ref().map(|(reader, _)| reader)
    }

    pub(super) fn head(&self) -> Option<&Head> {
        self.live.as_ref().map(|(_, head)| head)
    }

    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    pub(super) fn forward(&self, want: &Want, visit: &mut Visit<'_>) -> Outcome<Flow> {
        let mut next = self.after().next();
        for file in &self.files {
            if self.missing(next, file.name.first, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
            if want.file(file) && self.file(file, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
            next = file.name.last.next();
        }
        if self.missing(next, self.live_from(next), visit)?.is_break() {
            return Ok(Flow::Break(()));
        }
        self.blocks(want, Order::OldestFirst, visit, &mut || Flow::Continue(()))
    }

    pub(super) fn backward(
        &self,
        want: &Want,
        visit: &mut Visit<'_>,
        piece_end: &mut dyn FnMut() -> Flow,
    ) -> Outcome<Flow> {
        if self
            .blocks(want, Order::NewestFirst, visit, piece_end)?
            .is_break()
        {
            return Ok(Flow::Break(()));
        }
        let last = self
            .files
            .last()
            .map_or(self.after().next(), |file| file.name.last.next());
        let mut end = self.live_from(last);
        for file in self.files.iter().rev() {
            // What is missing lies after the file: it is a piece of its own.
            if self.missing(file.name.last.next(), end, visit)?.is_break() || piece_end().is_break()
            {
                return Ok(Flow::Break(()));
            }
            if want.file(file) && (self.file(file, visit)?.is_break() || piece_end().is_break()) {
                return Ok(Flow::Break(()));
            }
            end = file.name.first;
        }
        let flow = self.missing(self.after().next(), end, visit)?;
        Ok(if flow.is_break() { flow } else { piece_end() })
    }

    /// The first number that the journal's file still holds.
    fn live_from(&self, otherwise: Seq) -> Seq {
        self.live
            .as_ref()
            .map_or(otherwise, |(_, head)| head.pruned.next())
    }

    /// Says that the numbers from `first` up to, and not including, `end` are missing, if there are any.
    fn missing(&self, first: Seq, end: Seq, visit: &mut Visit<'_>) -> Outcome<Flow> {
        self.lost(first, end, GONE, visit)
    }

    fn lost(&self, first: Seq, end: Seq, why: &str, visit: &mut Visit<'_>) -> Outcome<Flow> {
        if first >= end {
            return Ok(Flow::Continue(()));
        }
        let last = Seq(end.0 - 1);
        visit(Met::Missing {
            journal: &self.journal,
            first,
            last,
            why,
        })
    }

    /// Visits a file's entries, without those that the journal's file holds too.
    fn file(&self, file: &ArchiveFile, visit: &mut Visit<'_>) -> Outcome<Flow> {
        let end = self.live_from(Seq(u64::MAX));
        let unreadable = |visit: &mut Visit<'_>, why: &str| {
            visit(Met::Unreadable {
                path: &file.path.to_string_lossy(),
                why,
            })
        };
        let open = match file.open() {
            Ok(open) => open,
            Err(bad) => return unreadable(visit, &bad.why),
        };
        let mut entries = open.entries(file.name.first);
        while let Some(next) = entries.next() {
            match next {
                Ok((seq, _)) if seq >= end => break,
                Ok((seq, bytes)) => {
                    if self.entry(seq, bytes, visit)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
                Err(bad) => return unreadable(visit, &bad.why),
            }
        }
        Ok(Flow::Continue(()))
    }

    fn blocks(
        &self,
        want: &Want,
        order: Order,
        visit: &mut Visit<'_>,
        piece_end: &mut dyn FnMut() -> Flow,
    ) -> Outcome<Flow> {
        let Some((reader, head)) = &self.live else {
            return Ok(Flow::Continue(()));
        };
        let mut select = Select::all().only(|header| want.block(header));
        if let Some(streams) = want.streams_of(&self.journal) {
            select = select.streams(streams.to_vec());
        }
        if order == Order::NewestFirst {
            select = select.newest_first();
        }
        select = select.after(self.after()).through(Seq(head.size.0));
        for piece in reader.blocks(select).map_err(read_failure)? {
            let flow = match piece.map_err(read_failure)? {
                Piece::Block(block) => self.block(&block, visit)?,
                Piece::Damaged(damage) => self.hole(&damage, visit)?,
                Piece::Pruned { first, last } => {
                    let why = "they were pruned while they were read; try again";
                    visit(Met::Missing {
                        journal: &self.journal,
                        first,
                        last,
                        why,
                    })?
                }
            };
            if flow.is_break() || piece_end().is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Numbers that the journal's file has lost: from the archive where that has them, else missing.
    fn hole(&self, damage: &Damage, visit: &mut Visit<'_>) -> Outcome<Flow> {
        let mut next = damage.first;
        for file in self.files.iter().chain(&self.spare) {
            let (first, last) = (file.name.first, file.name.last);
            if last < next || first > damage.last {
                continue;
            }
            let Ok(open) = file.open() else {
                continue;
            };
            if self.lost(next, first, damage.why, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
            next = next.max(first);
            let mut entries = open.entries(next);
            while let Some(Ok((seq, bytes))) = entries.next() {
                if seq > damage.last {
                    break;
                }
                if seq >= next && self.entry(seq, bytes, visit)?.is_break() {
                    return Ok(Flow::Break(()));
                }
                next = next.max(seq.next());
            }
        }
        self.lost(next, damage.last.next(), damage.why, visit)
    }

    fn block(&self, block: &boundlane_store::Block, visit: &mut Visit<'_>) -> Outcome<Flow> {
        for (seq, bytes) in block.entries().filter(|(seq, _)| *seq > self.after()) {
            if self.entry(seq, bytes, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    fn entry(&self, seq: Seq, bytes: &[u8], visit: &mut Visit<'_>) -> Outcome<Flow> {
        let journal = self.journal.as_str().into();
        visit(Met::Entry(Placed {
            journal,
            seq: Some(seq),
            row: decode(bytes),
        }))
    }
}

/// From which end blocks are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    OldestFirst,
    NewestFirst,
}
