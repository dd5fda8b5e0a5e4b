//! Where an import stands, known by what was read and not by what it is called.
//!
//! An input is compared with everything that its sandbox ever brought: [`Identify`] hashes it from its
//! start and stops at each known [`Mark`]. It goes on where a content's last mark agrees, begins a new
//! generation after the last mark that does, and on standard input, when nothing agrees, [`Align`]
//! looks for its first lines among the last ones that are stored. [`MarkMaker`] writes down what the
//! next run needs, [`PendingLine`] remembers a last line that had no newline, and [`Hints`] say when a
//! file was replaced by another under the same name.
//!
//! No part of this reads a clock or a file; [`Rest`] is the thin reader that does.
//!
//! Limits: [`MARK_BYTES`] between marks, [`HELD_BYTES_MAX`] held back, [`ENDS_KEPT_MAX`] ends of earlier
//! runs a content, [`LINES_KEPT_MAX`] fingerprints a chain, [`ALIGN_BYTES_MAX`] of a new input.
//!
//! ```
//! use boundlane_ingest::DigestKey;
//! use boundlane_ingest::place::{ContentId, Decision, Identify, Known, MarkMaker, Place};
//!
//! let key = DigestKey::new(&[7; 32]);
//! let mut marks = MarkMaker::new(&key);
//! marks.feed(b"one\ntwo\n");
//! let place = Place { mark: marks.take().place, ..Place::default() };
//!
//! let mut again = Identify::new(&key, vec![Known::new(ContentId(1), place, Vec::new())]);
//! again.feed(b"one\ntwo\nthree\n");
//! let identified = again.finish(true);
//! assert!(matches!(identified.decision, Decision::Continue { content: ContentId(1), .. }));
//! assert_eq!(identified.held.bytes(), b"three\n");
//! ```
//!
//! [`Mark`]: boundlane_record::Mark

mod ahead;
mod align;
mod fits;
mod hints;
mod identify;
mod known;
mod marks;
mod pending;
mod rest;
mod text;

pub use ahead::{Ahead, AheadLines, Part};
pub use align::{ALIGN_BYTES_MAX, Align, AlignLine, Alignment, FIT_LINES_MIN, Fit, LINES_KEPT_MAX};
pub use hints::{Hints, Replaced, gap_for};
pub use identify::{Decision, HELD_BYTES_MAX, Identified, Identify};
pub use known::{ContentId, Known};
pub use marks::{ENDS_KEPT_MAX, MARK_BYTES, MarkMaker, MarkUpdate, Point};
pub use pending::{Judging, PendingLine, Verdict};
pub use rest::{Rest, identify_input};
pub use text::PlaceError;

use boundlane_record::Mark;

/// What an import stream belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chain {
    /// One generation of a file.
    #[default]
    File,
    /// Standard input, or any pipe: inputs that were found to follow each other.
    Stdin,
}

/// The stored place of one content; [`Place::to_json`] is what a checkpoint holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The start of the next line that is to be read, and the digest of all before it.
    pub mark: Mark,
    /// What an alignment has said of the lines after the mark.
    pub ahead: AheadLines,
    /// The last line, when it was stored without its newline: it is the first one after the mark that
    /// [`Ahead`] calls new.
    pub pending: Option<PendingLine>,
    /// What the stream belongs to.
    pub chain: Chain,
    /// Which input of a standard-input chain the mark counts in, from 0; 0 for files.
    pub input: u64,
    /// Whole lines that this and earlier inputs have appended to the chain, each once.
    pub lines: u64,
    /// Whole lines that were put before the first ones of the chain, because they are older.
    pub older_lines: u64,
    /// Where the content was last found.
    pub hints: Hints,
    /// The content whose name or inode this one took over.
    pub displaced: Option<ContentId>,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            mark: Mark {
                offset: 0,
                digest: [0; 32],
            },
            ahead: AheadLines::default(),
            pending: None,
            chain: Chain::File,
            input: 0,
            lines: 0,
            older_lines: 0,
            hints: Hints::default(),
            displaced: None,
        }
    }
}
