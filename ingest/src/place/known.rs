//! What earlier runs left of one content: its place and its marks.

use boundlane_record::Mark;

use super::{PendingLine, Place};

/// The caller's number for a content; the greater, the newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(pub u64);

/// What is known of one content.
#[derive(Debug, Clone)]
pub struct Known {
    /// Its number.
    pub id: ContentId,
    /// Its stored place.
    pub place: Place,
    /// Its marks before the place, ascending.
    pub marks: Vec<Mark>,
    /// Whether its stream stands at this place; not so for an input of a standard-input chain that went
    /// on with another one.
    pub is_current: bool,
}

impl Known {
    /// A file generation, or the newest input of a chain.
    pub fn new(id: ContentId, place: Place, marks: Vec<Mark>) -> Known {
        Known {
            id,
            place,
            marks,
            is_current: true,
        }
    }

    /// An earlier input of a chain, with the last place that it had.
    pub fn superseded(id: ContentId, place: Place, marks: Vec<Mark>) -> Known {
        Known {
            id,
            place,
            marks,
            is_current: false,
        }
    }

    /// The marks that prove it, the place included.
    pub(super) fn proofs(&self) -> impl Iterator<Item = Mark> {
        let place = self.place.mark;
        let fixed = self
            .marks
            .iter()
            .copied()
            .filter(move |mark| mark.offset < place.offset);
        fixed.chain([place]).filter(|mark| mark.offset > 0)
    }

    /// The line that is all of it, when it has no whole one: the only proof then.
    pub(super) fn only_line(&self) -> Option<PendingLine> {
        self.place.pending.filter(|_| self.place.mark.offset == 0)
    }
}
