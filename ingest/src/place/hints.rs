//! What is remembered of where a content was found. Hints never decide what is stored; they tell that a
//! file was replaced by another, whose lines between the two nobody saw.

use boundlane_record::{Extent, GapCause};

use super::{ContentId, Decision, Known};
use crate::input::Compression;

/// Where a content was last found. All absent for a pipe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// The absolute path, as spelled for people.
    pub path: Option<String>,
    /// The device number then.
    pub device: Option<u64>,
    /// The inode number then.
    pub inode: Option<u64>,
    /// How it was packed.
    pub compression: Compression,
}

impl Hints {
    fn same_path(&self, other: &Hints) -> bool {
        self.path.is_some() && self.path == other.path
    }

    fn same_inode(&self, other: &Hints) -> bool {
        self.inode.is_some() && (self.device, self.inode) == (other.device, other.inode)
    }
}

/// A content whose file now holds something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The content that was there, to be written into [`Place::displaced`](super::Place::displaced) of
    /// the new one, so that it is not missed twice.
    pub content: ContentId,
    /// Bytes of it that were read.
    pub read_bytes: u64,
    /// Whether the path is the same; else device and inode are.
    pub same_path: bool,
}

impl Replaced {
    /// The gap to write before the first line of the new generation.
    pub fn gap(&self) -> (GapCause, Extent) {
        (GapCause::SourceTruncated, Extent::Unknown)
    }
}

/// Whether the file once found at `was` is another input than `this`.
fn renamed(was: &Hints, this: &Hints, others: &[Hints]) -> bool {
    others
        .iter()
        .any(|other| other.same_inode(was) && !other.same_inode(this))
}

/// Whether the input displaced a content that was found under its path or inode: a gap of unknown
/// extent, since lines may have been written there after the last read. `None` when
///
/// - the input continues or repeats what is known: nothing is missing;
/// - nothing was known under its path and inode: another file is no gap;
/// - the content's file is among `others`, the other inputs of this run: it was renamed;
/// - another content took its place already.
pub fn gap_for(
    decision: &Decision,
    hints: &Hints,
    known: &[Known],
    others: &[Hints],
) -> Option<Replaced> {
    if !matches!(decision, Decision::NewGeneration { .. }) {
        return None;
    }
    let displaced = |content: ContentId| {
        known
            .iter()
            .any(|known| known.place.displaced == Some(content))
    };
    known
        .iter()
        .filter(|known| known.is_current)
        .map(|known| (known.id, &known.place))
        .filter(|(_, place)| place.mark.offset > 0 || place.pending.is_some())
        .filter(|(_, place)| hints.same_path(&place.hints) || hints.same_inode(&place.hints))
        .filter(|(_, place)| !renamed(&place.hints, hints, others))
        .filter(|(id, _)| !displaced(*id))
        .max_by_key(|(id, _)| *id)
        .map(|(content, place)| Replaced {
            content,
            read_bytes: place.mark.offset,
            same_path: hints.same_path(&place.hints),
        })
}
