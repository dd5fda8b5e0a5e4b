//! Which blocks and files can matter.

use boundlane_archive::ArchiveFile;
use boundlane_record::Micros;
use boundlane_record::filter::Window;
use boundlane_store::{BlockHeader, StreamId};

/// What a reader wants, as far as blocks and files can be told by it without opening them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Want {
    /// The time.
    pub(crate) window: Window,
    /// Streams of one journal, by its id: numbers of streams mean nothing in another. `None` for all.
    pub(crate) streams: Option<(String, Vec<StreamId>)>,
}

impl Want {
    /// Whether a block can hold what is wanted. Losses reach into other times than their own.
    pub(super) fn block(&self, header: &BlockHeader) -> bool {
        header.tally.losses() > 0 || self.meets(Some(header.observed)) || self.meets(header.time)
    }

    /// The streams of `journal` that are wanted; `None` for all.
    pub(super) fn streams_of(&self, journal: &str) -> Option<&[StreamId]> {
        let (of, streams) = self.streams.as_ref()?;
        (of == journal).then_some(streams.as_slice())
    }

    /// Whether a file can hold what is wanted.
    pub(super) fn file(&self, file: &ArchiveFile) -> bool {
        let tally = &file.footer.tally;
        let span = |span: boundlane_archive::Span| span.first().zip(span.last());
        tally.losses.may_touch(self.window.since, self.window.until)
            || self.meets(span(tally.observed))
            || self.meets(span(tally.time))
    }

    fn meets(&self, span: Option<(Micros, Micros)>) -> bool {
        span.is_some_and(|(from, to)| self.window.meets(Some(from), Some(to)))
    }
}
