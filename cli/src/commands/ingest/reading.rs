//! Reads an input line by line to its end, and hands over items that pass exactly what was read.

use std::sync::Arc;

use boundlane_ingest::input::InputError;
use boundlane_ingest::place::{Ahead, Chain, MarkMaker, Part, PendingLine};
use boundlane_ingest::{Decoded, Decoder, DigestKey, FramedLine, Framer, LineEnd, line_time};
use boundlane_record::{Books, EntryBatch, Fingerprint, Gap, Micros, StreamName};
use boundlane_store::{Checkpoint, ITEM_ENTRIES_MAX, MarkChange, WhenFull};

use super::chained::{self, Chained};
use super::doubt::{Broken, MayRepeat};
use super::lines;
use super::plan::{self, Begun};
use super::request::Request;
use super::sessions;
use super::source::{self, READ_BYTES};
use super::summary::Tallied;
use super::writing::{Prepared, Stopped, Writer};
use crate::context::{Context, wall_clock};
use crate::exit::Failure;
use crate::progress::Progress;

/// Lines that one item passes at most, so that a run of ignored lines moves the place too.
const ITEM_LINES_MAX: u64 = 8_192;
/// Canonical bytes of one item at most, its last entry aside.
const ITEM_BYTES_MAX: usize = 1 << 20;

/// Why reading ended.
pub(super) enum Ended {
    /// At the end of the input.
    AtEnd,
    /// Ctrl-C.
    Interrupted,
    /// The input failed, or says something that must not be recorded as asked. What came before is stored.
    Failed(Failure),
    /// The writer stopped.
    Stopped,
}

impl Ended {
    fn word(&self) -> &'static str {
        match self {
            Ended::AtEnd => "end",
            Ended::Interrupted => "interrupted",
            Ended::Failed(_) | Ended::Stopped => "failed",
        }
    }
}

/// One input on its way into the journal.
pub(super) struct Reading<'r> {
    key: DigestKey,
    input: String,
    writer: &'r Writer,
    decoder: Decoder,
    stream: Arc<StreamName>,
    place: Chained,
    maker: MarkMaker,
    ahead: Ahead,
    pending: Option<PendingLine>,
    gap: Option<Gap>,
    batch: EntryBatch,
    books: Books,
    lines: (u64, u64),
    fingerprints: Vec<Fingerprint>,
    observed: Micros,
    is_attached: bool,
    /// The checkpoint as it was last handed over, without what is only added.
    standing: Checkpoint,
    tallied: Tallied,
}

impl<'r> Reading<'r> {
    /// Begins where `begun` says.
    pub(super) fn new(
        begun: &mut Begun,
        request: &Request,
        key: &DigestKey,
        writer: &'r Writer,
    ) -> Reading<'r> {
        let state = std::mem::take(&mut begun.state);
        let from_byte = begun.maker.offset();
        let may_repeat = begun.may_repeat.take();
        let redactor = Arc::clone(&request.redactor);
        Reading {
            key: key.clone(),
            input: begun.rest.input().name().to_owned(),
            writer,
            decoder: Decoder::new(request.options, redactor, key.clone(), state),
            stream: Arc::clone(&begun.stream),
            place: std::mem::take(&mut begun.place),
            maker: std::mem::replace(&mut begun.maker, MarkMaker::new(key)),
            ahead: std::mem::take(&mut begun.ahead),
            pending: begun.pending.take(),
            gap: begun.gap.take(),
            batch: writer.batch(),
            books: Books::default(),
            lines: (0, 0),
            fingerprints: Vec::new(),
            observed: wall_clock(),
            is_attached: false,
            standing: Checkpoint::default(),
            tallied: Tallied::doubted(may_repeat.map(|stream| MayRepeat { stream, from_byte })),
        }
    }

    /// Reads to the end. What was tallied is of the lines that were handed over.
    pub(super) fn run(
        mut self,
        begun: &mut Begun,
        ctx: &Context,
        progress: &mut Progress,
    ) -> (Tallied, Ended) {
        self.place.current.hints = plan::stored_hints(begun.rest.input().hints());
        self.standing = self.stands();
        let mut framer = Framer::new(self.key.clone(), self.maker.offset());
        let ended = match self.read_all(&mut framer, begun, ctx, progress) {
            Ok(ended) => ended,
            Err(Stopped) => Ended::Stopped,
        };
        if !matches!(ended, Ended::Stopped) && self.finish(&ended).is_err() {
            return (self.tallied, Ended::Stopped);
        }
        (self.tallied, ended)
    }

    fn read_all(
        &mut self,
        framer: &mut Framer,
        begun: &mut Begun,
        ctx: &Context,
        progress: &mut Progress,
    ) -> Result<Ended, Stopped> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            if ctx.interrupt.asked() {
                return Ok(Ended::Interrupted);
            }
            let read = match begun.window.read(&mut buffer) {
                0 => begun.rest.read(&mut buffer),
                length => Ok(length),
            };
            match read {
                Ok(0) => return Ok(self.last_line(framer)),
                Ok(length) => {
                    if let Some(ended) = self.chunk(framer, &buffer[..length])? {
                        return Ok(ended);
                    }
                    progress.at(framer.offset());
                }
                Err(error) => return Ok(self.cut_short(framer, error)),
            }
        }
    }

    /// Takes one read. Of a pipe everything in it is handed over at once: more may not come for long.
    fn chunk(&mut self, framer: &mut Framer, chunk: &[u8]) -> Result<Option<Ended>, Stopped> {
        self.observed = wall_clock();
        let (mut left, mut marked) = (chunk, 0);
        while let Some(line) = framer.next(&mut left) {
            let offset = line.offset;
            if let Some(ended) = self.line(&line) {
                let before = offset.saturating_sub(self.maker.offset());
                let before = marked + usize::try_from(before).unwrap_or(0);
                self.maker.feed(&chunk[marked..before]);
                return Ok(Some(ended));
            }
            if self.is_full() {
                let read = chunk.len() - left.len();
                self.maker.feed(&chunk[marked..read]);
                marked = read;
                self.hand_over()?;
            }
        }
        let whole = memchr_last_newline(chunk).max(marked);
        self.maker.feed(&chunk[marked..whole]);
        if self.place.current.chain == Chain::Stdin && self.books.lines_read > 0 {
            self.hand_over()?;
        }
        self.maker.feed(&chunk[whole..]);
        Ok(None)
    }

    fn is_full(&self) -> bool {
        // A gap may come before a record, and `attached` before the first one.
        self.batch.len() + 2 >= ITEM_ENTRIES_MAX
            || self.batch.byte_len() >= ITEM_BYTES_MAX
            || self.books.lines_read >= ITEM_LINES_MAX
    }

    /// The last line, when it has no newline: stored, and the place stays before it.
    fn last_line(&mut self, framer: &mut Framer) -> Ended {
        let Some(line) = framer.finish() else {
            return Ended::AtEnd;
        };
        let repeats = self.books.repeats;
        if let Some(ended) = self.line(&line) {
            return ended;
        }
        self.tallied.unterminated = self.books.repeats == repeats;
        self.pending = self.maker.tail();
        Ended::AtEnd
    }

    /// The input broke: what it gave is stored, its last line as one that may be cut.
    fn cut_short(&mut self, framer: &mut Framer, error: InputError) -> Ended {
        self.tallied.broken = Broken::of(&error);
        match self.last_line(framer) {
            Ended::AtEnd => Ended::Failed(source::unopened(error)),
            ended => ended,
        }
    }

    fn line(&mut self, line: &FramedLine<'_>) -> Option<Ended> {
        let (fingerprints, lines) = (self.fingerprints.len(), self.lines);
        let part = self.part(line);
        let stores = match part {
            Part::Older => true,
            Part::Repeat => false,
            Part::New | Part::Refuted => {
                let pending = self.pending.take();
                pending.is_none_or(|pending| !lines::repeats(&self.key, &pending, line))
            }
        };
        if part == Part::Refuted {
            self.gap = Some(sessions::refuted(self.observed));
        }
        if stores {
            if let Some(ended) = self.store(line) {
                // The line is not taken: the place stays before it.
                self.fingerprints.truncate(fingerprints);
                self.lines = lines;
                return Some(ended);
            }
        } else {
            self.books.repeats += 1;
        }
        self.books.lines_read += 1;
        self.tallied.nul_bytes += line.nuls;
        None
    }

    fn part(&mut self, line: &FramedLine<'_>) -> Part {
        if self.place.current.chain != Chain::Stdin {
            return Part::New;
        }
        let terminated = line.end != LineEnd::None;
        let fingerprint = lines::fingerprint(&self.key, line);
        let part = self.ahead.next(fingerprint, terminated);
        match part {
            Part::Older => self.lines.1 += u64::from(terminated),
            Part::New | Part::Refuted if terminated => {
                self.lines.0 += 1;
                self.fingerprints.push(fingerprint);
            }
            _ => {}
        }
        part
    }

    fn store(&mut self, line: &FramedLine<'_>) -> Option<Ended> {
        if let Some(mut gap) = self.gap.take() {
            let evidence = gap.evidence.as_deref().unwrap_or("{}");
            gap.evidence = Some(plan::neighbours(
                evidence,
                "before_time",
                line_time(line.bytes),
            ));
            self.batch.push(&gap.row(&self.stream, self.observed));
            self.tallied.gaps += 1;
        }
        match self
            .decoder
            .line(line, &self.stream, self.observed, &mut self.batch)
        {
            Decoded::Ignored(_) => self.books.ignored += 1,
            Decoded::Record { .. } => self.books.records += 1,
            Decoded::OtherSandbox(stated) => {
                let given = self.stream.sandbox.clone().unwrap_or_default();
                let said = stated.name.as_ref().or(stated.id.as_ref());
                let failure = source::contradiction(&given, said, &self.input);
                return Some(Ended::Failed(failure));
            }
        }
        None
    }

    /// Hands over what was read since the last time. The maker was fed through the last line.
    fn hand_over(&mut self) -> Result<(), Stopped> {
        if !self.batch.is_empty() && !self.is_attached {
            self.attach()?;
        }
        let entries = std::mem::replace(&mut self.batch, self.writer.batch());
        let books = std::mem::take(&mut self.books);
        self.tallied.note(&entries, books);
        let checkpoint = self.checkpoint();
        self.send(entries, books, checkpoint)
    }

    /// `attached`, in an item of its own: it comes before the first record.
    fn attach(&mut self) -> Result<(), Stopped> {
        self.is_attached = true;
        let compression = self.place.current.hints.compression;
        let doubt = self.tallied.may_repeat.as_ref();
        let attached = sessions::attached(&self.input, compression, &self.batch, doubt);
        let mut entries = EntryBatch::new();
        entries.push(&attached.row(Some(&self.stream), self.observed));
        // Nothing of this item passes a line: the place, and what was learnt on the way, stay as they were.
        let checkpoint = self.standing.clone();
        self.send(entries, Books::default(), checkpoint)
    }

    fn checkpoint(&mut self) -> Checkpoint {
        let update = self.maker.take();
        let current = &mut self.place.current;
        current.mark = update.place;
        current.ahead = self.ahead.lines();
        current.pending = self.pending;
        current.lines += std::mem::take(&mut self.lines.0);
        current.older_lines += std::mem::take(&mut self.lines.1);
        let input = current.input;
        self.standing = self.stands();
        let fixed = update.fixed.into_iter();
        Checkpoint {
            marks: MarkChange {
                drop_from_offset: None,
                add: fixed.map(|mark| chained::kept(input, mark)).collect(),
            },
            fingerprints: std::mem::take(&mut self.fingerprints),
            ..self.standing.clone()
        }
    }

    /// Where the stream stands, as a checkpoint that adds nothing.
    fn stands(&self) -> Checkpoint {
        Checkpoint {
            place: self.place.to_json(),
            decode_state: self.decoder.state().to_json(),
            policy: self.decoder.state().policy.clone(),
            ..Checkpoint::default()
        }
    }

    fn send(
        &self,
        entries: EntryBatch,
        books: Books,
        checkpoint: Checkpoint,
    ) -> Result<(), Stopped> {
        self.writer.send(Prepared {
            stream: Arc::clone(&self.stream),
            entries,
            at: self.observed,
            books,
            checkpoint,
            when_full: match self.place.current.chain {
                Chain::Stdin => WhenFull::Shed,
                _ => WhenFull::Wait,
            },
        })
    }

    /// What is left to hand over, and `detached`.
    fn finish(&mut self, ended: &Ended) -> Result<(), Stopped> {
        if self.books.lines_read > 0 || !self.batch.is_empty() {
            self.hand_over()?;
        }
        if self.is_attached {
            self.detach(ended)?;
        }
        Ok(())
    }

    fn detach(&mut self, ended: &Ended) -> Result<(), Stopped> {
        let broken = self.tallied.broken.as_ref().map(|broken| broken.word);
        let why = broken.unwrap_or_else(|| ended.word());
        let detached = sessions::detached(&self.tallied, self.maker.offset(), why);
        self.observed = wall_clock();
        self.batch
            .push(&detached.row(Some(&self.stream), self.observed));
        let entries = std::mem::take(&mut self.batch);
        let checkpoint = self.checkpoint();
        self.send(entries, Books::default(), checkpoint)
    }
}

/// How much of `chunk` is whole lines.
fn memchr_last_newline(chunk: &[u8]) -> usize {
    chunk
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}
