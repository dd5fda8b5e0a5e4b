//! Which stream the lines of an input are more of, and where reading begins.

use std::sync::Arc;

use boundlane_ingest::input::Input;
use boundlane_ingest::place::{
    Ahead, Align, AlignLine, Chain, ContentId, Decision, Fit, HELD_BYTES_MAX, Hints, Identified,
    Identify, Known, MarkMaker, PendingLine, Rest, gap_for, identify_input,
};
use boundlane_ingest::{DecodeState, DigestKey, FramedLine, Framer, Held, LineEnd, carries_time};
use boundlane_record::{Extent, Gap, GapCause, Micros, Source, StreamName};
use boundlane_store::{Journal, StreamState};

use super::chained::{self, Chained};
use super::lines;
use super::request::Request;
use super::source::{READ_BYTES, unopened};
use crate::commands::recorded::read_failure;
use crate::context::without_secrets;
use crate::exit::{Failure, Outcome};

/// An input whose stream is known: what is to be read, and as what.
pub(super) struct Begun {
    pub(super) stream: Arc<StreamName>,
    /// The version of its checkpoint; `None` for a stream that begins.
    pub(super) version: Option<u64>,
    pub(super) place: Chained,
    pub(super) state: DecodeState,
    pub(super) maker: MarkMaker,
    pub(super) ahead: Ahead,
    pub(super) pending: Option<PendingLine>,
    /// Lines may be missing before the first one that is stored.
    pub(super) gap: Option<Gap>,
    /// Lines from the place on may be stored already, in this stream.
    pub(super) may_repeat: Option<String>,
    /// Bytes that were read already while the input was aligned.
    pub(super) window: Held,
    pub(super) rest: Rest,
}

/// What an input turned out to be.
pub(super) enum Identity {
    /// There is something to read.
    Begun(Box<Begun>),
    /// Everything in it is recorded, in this stream.
    Known { stream: String },
    /// Not one byte.
    Empty,
}
/// Compares the input with everything that is known of the sandbox.
pub(super) fn identify(
    journal: &Journal,
    key: &DigestKey,
    request: &Request,
    sandbox: &str,
    input: Input,
    others: &[Hints],
) -> Outcome<Identity> {
    let streams = streams(journal, sandbox)?;
    let contents = contents(journal, &streams)?;
    let (hints, chain) = (stored_hints(input.hints()), input.chain());
    let mut buffer = vec![0; READ_BYTES];
    let (identified, rest) =
        identify_input(input, Identify::new(key, contents.clone()), &mut buffer);
    let plan = Plan {
        key,
        request,
        sandbox,
        streams,
        contents,
        hints,
        chain,
    };
    plan.settle(identified, rest, journal, others)
}

struct Plan<'p> {
    key: &'p DigestKey,
    request: &'p Request,
    sandbox: &'p str,
    streams: Vec<StreamState>,
    contents: Vec<Known>,
    hints: Hints,
    chain: Chain,
}

impl Plan<'_> {
    fn settle(
        &self,
        identified: Identified,
        rest: Rest,
        journal: &Journal,
        others: &[Hints],
    ) -> Outcome<Identity> {
        let decision = identified.decision;
        match decision {
            Decision::Empty => Ok(Identity::Empty),
            Decision::Known { content, .. } => Ok(Identity::Known {
                stream: self.stream_of(content)?.name.stream.clone(),
            }),
            Decision::Continue { content, .. } => self.go_on(content, identified, rest, journal),
            Decision::Rejoin { content, .. } => self.rejoin(content, identified, rest, journal),
            Decision::NewGeneration { after, .. } => {
                if self.chain == Chain::Stdin
                    && after.offset == 0
                    && self.request.align
                    && let Some(newest) = self.newest_chain()
                {
                    let maker = MarkMaker::new(self.key);
                    let input = places(newest)?.next_input();
                    return self.align(newest, input, maker, rest, journal);
                }
                let replaced = gap_for(&decision, &self.hints, &self.contents, others);
                let gap = replaced
                    .map(|replaced| self.replaced(&replaced))
                    .transpose()?;
                let may_repeat = identified.may_repeat.map(|of| self.stream_of(of));
                let may_repeat = may_repeat.transpose()?.map(|of| of.name.stream.clone());
                let maker = MarkMaker::after(self.key, identified.point, identified.agreed);
                let mut begun = self.fresh(maker, rest);
                begun.place.current.displaced = replaced.map(|replaced| replaced.content);
                begun.gap = gap;
                begun.may_repeat = may_repeat;
                Ok(Identity::Begun(Box::new(begun)))
            }
        }
    }

    /// The input is more of a content that is known.
    fn go_on(
        &self,
        content: ContentId,
        identified: Identified,
        rest: Rest,
        journal: &Journal,
    ) -> Outcome<Identity> {
        let stream = self.stream_of(content)?;
        let place = places(stream)?;
        let fingerprints = journal.fingerprints(stream.id).map_err(read_failure)?;
        let ahead = Ahead::resume(place.current.ahead, &fingerprints);
        let maker = self.resume(content, identified)?;
        let mut begun = self.more_of(stream, place, maker, rest)?;
        begun.ahead = ahead;
        Ok(Identity::Begun(Box::new(begun)))
    }

    /// The input is an earlier one of a chain that has gone on since.
    fn rejoin(
        &self,
        content: ContentId,
        identified: Identified,
        rest: Rest,
        journal: &Journal,
    ) -> Outcome<Identity> {
        let stream = self.stream_of(content)?;
        let (_, input) = chained::parts(content);
        let mut place = places(stream)?;
        let fingerprints = journal.fingerprints(stream.id).map_err(read_failure)?;
        let earlier = place.input(input).cloned().unwrap_or_default();
        let maker = self.resume(content, identified)?;
        let Some(ahead) = Ahead::rejoin(&earlier, &place.current, &fingerprints) else {
            return self.align(stream, input, maker, rest, journal);
        };
        place.switch_to(input);
        let mut begun = self.more_of(stream, place, maker, rest)?;
        begun.ahead = ahead;
        Ok(Identity::Begun(Box::new(begun)))
    }

    /// Lays the first lines of the input over the last ones of the chain.
    fn align(
        &self,
        chain: &StreamState,
        input: u64,
        maker: MarkMaker,
        mut rest: Rest,
        journal: &Journal,
    ) -> Outcome<Identity> {
        let mut place = places(chain)?;
        let stored = journal.fingerprints(chain.id).map_err(read_failure)?;
        let lines = place.current.lines + place.current.older_lines;
        let mut align = Align::new(stored, lines);
        let (window, ended) = read_window(self.key, &mut rest, &mut align)?;
        let found = align.finish(ended);
        let gap = found.gap.map(|(cause, extent)| Gap {
            evidence: Some(neighbours(&found.evidence, "after_time", chain.last_time)),
            ..self.gap(cause, extent, Some(chain))
        });
        let mut begun = match found.fit {
            Fit::None => self.fresh(maker, rest),
            _ => {
                place.switch_to(input);
                self.more_of(chain, place, maker, rest)?
            }
        };
        if found.fit != Fit::None {
            begun.ahead = found.ahead;
        }
        begun.gap = gap;
        begun.window = window;
        Ok(Identity::Begun(Box::new(begun)))
    }

    fn more_of(
        &self,
        stream: &StreamState,
        place: Chained,
        maker: MarkMaker,
        rest: Rest,
    ) -> Outcome<Begun> {
        let state = DecodeState::from_json(&stream.decode_state)
            .map_err(|error| damaged(&stream.name.stream, error))?;
        Ok(Begun {
            stream: Arc::new(stream.name.clone()),
            version: Some(stream.version),
            pending: place.current.pending,
            place,
            state,
            maker,
            ahead: Ahead::default(),
            gap: None,
            may_repeat: None,
            window: Held::default(),
            rest,
        })
    }

    /// A stream that begins.
    fn fresh(&self, maker: MarkMaker, rest: Rest) -> Begun {
        let mut place = Chained::default();
        place.current.chain = self.chain;
        Begun {
            stream: Arc::new(self.new_name()),
            version: None,
            place,
            state: DecodeState::default(),
            maker,
            ahead: Ahead::default(),
            pending: None,
            gap: None,
            may_repeat: None,
            window: Held::default(),
            rest,
        }
    }

    fn new_name(&self) -> StreamName {
        let prefix = match self.chain {
            Chain::File => format!("import/{}/", self.sandbox),
            Chain::Stdin => format!("import/{}/stdin-", self.sandbox),
        };
        let number = |stream: &StreamState| -> Option<u64> {
            stream.name.stream.strip_prefix(&prefix)?.parse().ok()
        };
        let next = self.streams.iter().filter_map(number).max().unwrap_or(0) + 1;
        StreamName {
            stream: format!("{prefix}{next}"),
            sandbox: Some(self.sandbox.to_owned()),
            source: Source::Import.word().to_owned(),
            ..StreamName::default()
        }
    }

    fn newest_chain(&self) -> Option<&StreamState> {
        let chains = self.streams.iter().filter(|stream| {
            Chained::from_json(&stream.place)
                .is_some_and(|place| place.current.chain == Chain::Stdin)
        });
        chains.max_by_key(|stream| stream.id)
    }

    fn stream_of(&self, content: ContentId) -> Outcome<&StreamState> {
        let (id, _) = chained::parts(content);
        let found = self.streams.iter().find(|stream| stream.id == id);
        found.ok_or_else(|| Failure::failed("a content without a stream; run `boundlane fsck`"))
    }

    fn resume(&self, content: ContentId, identified: Identified) -> Outcome<MarkMaker> {
        let known = self.contents.iter().find(|known| known.id == content);
        let known = known
            .ok_or_else(|| Failure::failed("a content without marks; run `boundlane fsck`"))?;
        Ok(MarkMaker::resume(self.key, identified.point, known))
    }

    fn replaced(&self, replaced: &boundlane_ingest::place::Replaced) -> Outcome<Gap> {
        let before = self.stream_of(replaced.content)?;
        let (cause, extent) = replaced.gap();
        let evidence = serde_json::json!({
            "replaced_stream": before.name.stream,
            "read_bytes": replaced.read_bytes,
            "same": if replaced.same_path { "path" } else { "inode" },
            "after_time": before.last_time.map(|time| time.0),
        });
        Ok(Gap {
            evidence: Some(evidence.to_string()),
            ..self.gap(cause, extent, Some(before))
        })
    }

    fn gap(&self, cause: GapCause, extent: Extent, after: Option<&StreamState>) -> Gap {
        Gap {
            cause,
            extent,
            from: after.and_then(|stream| stream.last_observed),
            to: Some(crate::context::wall_clock()),
            after_cursor: None,
            before_cursor: None,
            evidence: None,
        }
    }
}

fn places(stream: &StreamState) -> Outcome<Chained> {
    Chained::from_json(&stream.place)
        .ok_or_else(|| damaged(&stream.name.stream, "its place cannot be read"))
}

fn damaged(stream: &str, why: impl std::fmt::Display) -> Failure {
    Failure::failed(format_args!(
        "the checkpoint of `{stream}` cannot be used: {why}"
    ))
    .advise("run `boundlane fsck`")
}

/// Evidence with the event time of a neighbour of the gap, where that has one.
pub(super) fn neighbours(evidence: &str, key: &str, time: Option<Micros>) -> String {
    match (serde_json::from_str::<serde_json::Value>(evidence), time) {
        (Ok(serde_json::Value::Object(mut object)), Some(time)) => {
            object.insert(key.to_owned(), time.0.into());
            serde_json::Value::Object(object).to_string()
        }
        _ => evidence.to_owned(),
    }
}

/// The sandbox's imports.
fn streams(journal: &Journal, sandbox: &str) -> Outcome<Vec<StreamState>> {
    let mut streams = journal.streams_of(sandbox).map_err(read_failure)?;
    streams.retain(|stream| stream.name.source == Source::Import.word());
    Ok(streams)
}

fn contents(journal: &Journal, streams: &[StreamState]) -> Outcome<Vec<Known>> {
    let mut all = Vec::new();
    for stream in streams {
        let marks = journal.marks(stream.id).map_err(read_failure)?;
        all.extend(chained::known(stream, &marks));
    }
    Ok(all)
}

/// Reads lines until the alignment has enough, or the input ends. A fault is met again when reading on.
fn read_window(key: &DigestKey, rest: &mut Rest, align: &mut Align) -> Outcome<(Held, bool)> {
    let mut framer = Framer::new(key.clone(), 0);
    let (mut window, mut buffer) = (Held::default(), vec![0; READ_BYTES]);
    loop {
        let length = rest.read(&mut buffer).map_err(unopened)?;
        window.extend(&buffer[..length]);
        let mut chunk = &buffer[..length];
        while let Some(line) = framer.next(&mut chunk) {
            if align.is_full() {
                return Ok((window, false));
            }
            align.feed(align_line(key, &line));
        }
        // A line that is longer than what may be held is compared as far as it goes: with nothing.
        let ended = length == 0;
        if ended || window.bytes().len() > HELD_BYTES_MAX {
            if let Some(line) = framer.finish().filter(|_| !align.is_full()) {
                align.feed(align_line(key, &line));
            }
            return Ok((window, ended));
        }
    }
}

fn align_line(key: &DigestKey, line: &FramedLine<'_>) -> AlignLine {
    AlignLine {
        fingerprint: lines::fingerprint(key, line),
        bytes: line.bytes.len() + 1,
        timed: carries_time(line.bytes),
        terminated: line.end != LineEnd::None,
    }
}

/// Where an input was found, as it may be written: paths can hold secrets too.
pub(super) fn stored_hints(hints: &Hints) -> Hints {
    let path = hints
        .path
        .as_deref()
        .map(|path| without_secrets(path).into_owned());
    Hints {
        path,
        ..hints.clone()
    }
}
