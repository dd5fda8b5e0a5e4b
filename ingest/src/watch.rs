//! Following a log stream: what a source says, and what it means for the place.
//!
//! A source that follows says [`WatchEvent`]s and then one [`StreamEnd`]. Everything that is decided
//! from these is decided here, without I/O: time comes in as an argument.

mod cursor;
mod end;
mod flush;
mod follow;
mod handoff;
mod line;
mod place;
mod text;

pub use end::{Refusal, StreamEnd};
pub use follow::{Arrived, Flow, Follow, Next, Snapshot, Step, TAIL_LINES, Watched};
pub use line::WatchedLine;
pub use place::{SPACES_MAX, StreamOver, WatchPlace};

/// What a followed stream says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// One line.
    Line(WatchedLine),
    /// The gateway left out at most so many messages: whatever they were, before any filter.
    Lagged {
        /// Lines and other messages.
        dropped: u64,
    },
    /// Another warning, as it came.
    Warning(String),
    /// Something that is no line.
    Other,
}

/// Where a stream is attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchFrom {
    /// At the last so many lines; never 0, which a gateway reads as 200.
    Tail(u32),
    /// Strictly after this cursor.
    After(String),
}

impl WatchEvent {
    /// Reads the text of a warning.
    pub fn of_warning(text: String) -> WatchEvent {
        match end::lagged(&text) {
            Some(dropped) => WatchEvent::Lagged { dropped },
            None => WatchEvent::Warning(text),
        }
    }
}
