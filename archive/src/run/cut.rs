//! Where files begin and end: pure decisions over numbers, days and sizes.

use std::collections::VecDeque;
use std::sync::LazyLock;

use boundlane_record::tree::Edge;
use boundlane_record::{Micros, Seq};
use memchr::memmem;

use crate::error::{ArchiveError, Head};
use crate::layout::Day;
use crate::limits::Limits;
use crate::listing::ArchiveFile;

/// A run of entries that is, or will be, one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Section {
    /// A new file; its day, unless none of its entries states one.
    New,
    /// A file that is already there: the entries are hashed and compared with its head.
    Held(Box<ArchiveFile>),
}

/// Where an entry belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// To the same section as the one before.
    Continues,
    /// It is the first of a section.
    Begins(Section),
}

/// Decides, entry by entry.
pub(super) struct Cutter {
    limits: Limits,
    next: Seq,
    held: VecDeque<ArchiveFile>,
    current: Current,
}

enum Current {
    Nothing,
    New {
        day: Option<Day>,
        entries: u64,
        bytes: u64,
    },
    Held(Box<ArchiveFile>),
}

impl Cutter {
    /// For a run that begins after `edge`, in an archive with these live files of the journal that end
    /// there or later, in number order.
    pub(super) fn new(
        limits: Limits,
        edge: &Edge,
        held: Vec<ArchiveFile>,
    ) -> Result<Cutter, ArchiveError> {
        let mut held = VecDeque::from(held);
        let next = Seq(edge.size().0 + 1);
        while let Some(file) = held.pop_front_if(|file| file.name.first < next) {
            if file.name.last >= next {
                return Err(overlap(&file, next));
            }
            if file.edge_after() != edge {
                return Err(ArchiveError::Fork {
                    theirs: file.footer.head(),
                    ours: Head::of(edge),
                    path: file.path,
                });
            }
        }
        Ok(Cutter {
            limits,
            next,
            held,
            current: Current::Nothing,
        })
    }

    /// Places entry `seq`, received on `day`, of `bytes` canonical bytes.
    pub(super) fn place(
        &mut self,
        seq: Seq,
        day: Option<Day>,
        bytes: u64,
    ) -> Result<Place, ArchiveError> {
        if seq != self.next {
            return Err(ArchiveError::OutOfOrder {
                expected: self.next,
                got: seq,
            });
        }
        self.next = seq.next();
        if let Some(file) = self.held.pop_front_if(|file| file.name.first == seq) {
            let file = Box::new(file);
            self.current = Current::Held(file.clone());
            return Ok(Place::Begins(Section::Held(file)));
        }
        if self.takes(seq, day, bytes) {
            return Ok(Place::Continues);
        }
        self.current = Current::New {
            day,
            entries: 1,
            bytes,
        };
        Ok(Place::Begins(Section::New))
    }

    /// Adds the entry to the current section, if it still belongs there.
    fn takes(&mut self, seq: Seq, day: Option<Day>, more: u64) -> bool {
        match &mut self.current {
            Current::Nothing => false,
            Current::Held(file) => seq <= file.name.last,
            Current::New {
                day: current,
                entries,
                bytes,
            } => {
                let same_day = day.is_none() || current.is_none() || day == *current;
                *current = current.or(day);
                *entries += 1;
                *bytes += more;
                let fits = *entries <= self.limits.file_entries_max
                    && *bytes <= self.limits.file_bytes_max;
                same_day && fits
            }
        }
    }

    /// At the end of the entries: a file that is already there must have been reached to its end.
    pub(super) fn finish(&self) -> Result<(), ArchiveError> {
        let last = Seq(self.next.0 - 1);
        match &self.current {
            Current::Held(file) if last < file.name.last => Err(overlap(file, last)),
            _ => Ok(()),
        }
    }
}

fn overlap(file: &ArchiveFile, ours: Seq) -> ArchiveError {
    ArchiveError::Overlap {
        path: file.path.clone(),
        first: file.name.first,
        last: file.name.last,
        ours,
    }
}

/// The UTC day on which an entry was received, found without decoding it.
///
/// Inside a string every quote follows a backslash, so `"observed":` after `{` or `,` is a key.
pub(super) fn day_of(entry: &[u8]) -> Option<Day> {
    const KEY: &[u8] = b"\"observed\":";
    static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(KEY));
    let at = FINDER.find(entry)?;
    if !matches!(entry.get(at.checked_sub(1)?), Some(b'{' | b',')) {
        return None;
    }
    let digits = &entry[at + KEY.len()..];
    let end = digits
        .iter()
        .position(|byte| !matches!(byte, b'-' | b'0'..=b'9'));
    let digits = std::str::from_utf8(&digits[..end.unwrap_or(digits.len())]).ok()?;
    digits.parse().ok().map(|micros| Day::of(Micros(micros)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_the_columns_never_a_texts() {
        let day = |text: &str| day_of(text.as_bytes()).map(|day| day.to_string());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(day(r#"{"observed":0}"#), some("1970-01-01"));
        assert_eq!(
            day(r#"{"kind":"event","observed":-1,"raw":"x"}"#),
            some("1969-12-31")
        );
        assert_eq!(day(r#"{"kind":"event","raw":",\"observed\":5"}"#), None);
        assert_eq!(day(r#"{"kind":"event"}"#), None);
        assert_eq!(day(r#"{"observed":"x"}"#), None);
        assert_eq!(day(""), None);
    }
}
