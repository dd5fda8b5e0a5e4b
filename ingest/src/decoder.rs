//! From a framed line to one canonical entry: the stateful piece, one for each stream.

mod arrival;
mod classify;
mod draft;
mod json_row;
mod limit;
mod policy;
mod redaction;
mod state;
mod text_row;

use std::borrow::Cow;
use std::sync::Arc;

use boundlane_record::redact::{Redactor, Spans};
use boundlane_record::{
    EntryBatch, Kind, Micros, Outcome, PolicyInForce, StreamName, TimeFrom, Trust,
};

use crate::clock::{DateYmd, LineTime};
use crate::digest::DigestKey;
use crate::escape::{self, spell_bytes};
use crate::fields::Fields;
use crate::framer::{FramedLine, LineEnd};
use crate::line::Line;
pub use arrival::Message;
use arrival::{Arrival, RawText};
use classify::Reading;
pub use classify::{Format, Ignored};
use draft::{Draft, Flags};
pub use state::{BadState, DecodeState, StatedSandbox};

/// The attribute that says how many NULs stood in front of the line: `raw` begins behind them.
const NUL_BYTES: &str = "nul_bytes";

/// How lines are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct DecodeOptions {
    /// The form that lines must have.
    pub format: Format,
    /// The day of lines that print a time of day only, UTC.
    pub date: Option<DateYmd>,
}

/// What became of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// One entry was appended to the batch.
    Record {
        /// Its kind: decision, event or unparsed.
        kind: Kind,
        /// What it is counted by.
        outcome: Option<Outcome>,
    },
    /// The line is to be counted and no entry was appended.
    Ignored(Ignored),
    /// The line says that it is of another sandbox than the stream: nothing was appended or learnt.
    OtherSandbox(StatedSandbox),
}

/// Turns the lines of one stream into entries. One physical line has exactly one [`Decoded`].
#[derive(Debug)]
pub struct Decoder {
    options: DecodeOptions,
    redactor: Arc<Redactor>,
    key: DigestKey,
    state: DecodeState,
    stated: Option<StatedSandbox>,
    spans: Spans,
}

impl Decoder {
    /// A decoder that goes on from `state`.
    pub fn new(
        options: DecodeOptions,
        redactor: Arc<Redactor>,
        key: DigestKey,
        state: DecodeState,
    ) -> Decoder {
        Decoder {
            options,
            redactor,
            key,
            state,
            stated: None,
            spans: Spans::new(),
        }
    }

    /// What the next line depends on; part of the checkpoint.
    pub fn state(&self) -> &DecodeState {
        &self.state
    }

    /// Something may be missing: whatever policy was in force may have been replaced.
    pub fn forget_policy(&mut self) {
        self.state.policy = PolicyInForce::default();
    }

    /// The sandbox that the last OCSF JSON line named.
    pub fn stated_sandbox(&self) -> Option<&StatedSandbox> {
        self.stated.as_ref()
    }

    /// Reads one line, appends its entry to `out`, and says what it was.
    pub fn line(
        &mut self,
        line: &FramedLine<'_>,
        stream: &StreamName,
        observed: Micros,
        out: &mut EntryBatch,
    ) -> Decoded {
        self.read(line, None, (stream, observed), out)
    }

    /// Reads one message of a followed stream: [`Decoder::line`] of its text, and what the message says
    /// beside it.
    pub fn message(
        &mut self,
        message: &Message<'_>,
        stream: &StreamName,
        observed: Micros,
        out: &mut EntryBatch,
    ) -> Decoded {
        let key = self.key.clone();
        let line = FramedLine::of_message(message.text.as_bytes(), &key);
        self.read(&line, Some(message), (stream, observed), out)
    }

    fn read(
        &mut self,
        line: &FramedLine<'_>,
        message: Option<&Message<'_>>,
        (stream, observed): (&StreamName, Micros),
        out: &mut EntryBatch,
    ) -> Decoded {
        let spelled = spell_bytes(line.bytes);
        let plain = spelled
            .starts_with('\u{1b}')
            .then(|| escape::strip(&spelled));
        let text = plain
            .as_ref()
            .map_or(spelled.as_ref(), |plain| plain.text.as_ref());
        // The end of a cut line is missing, so its last group is closed for it.
        let closed = line.cut.map(|_| format!("{text}]"));
        let parts = Line::read(text);
        let continued = !parts.is_prefixed() && self.state.after_prefixed;
        let mut fields = Fields::default();
        let (format, as_closed) = (self.options.format, closed.as_deref());
        let reading = classify::classify(&parts, format, continued, as_closed, &mut fields);
        self.state.after_prefixed |= parts.is_prefixed();
        let reading = match reading {
            Reading::Ignored(why) => return Decoded::Ignored(why),
            reading => reading,
        };
        let arrival = Arrival {
            framed: line,
            message,
            raw: RawText {
                text,
                spelled: &spelled,
                plain: plain.as_ref(),
            },
            line: parts,
            escaped: matches!(spelled, Cow::Owned(_)),
            continued,
            stream,
            observed,
        };
        self.entry(&arrival, as_closed, (reading, &fields), out)
    }

    fn entry(
        &mut self,
        arrival: &Arrival<'_>,
        closed: Option<&str>,
        (reading, fields): (Reading<'_>, &Fields<'_>),
        out: &mut EntryBatch,
    ) -> Decoded {
        let mut spans = std::mem::take(&mut self.spans);
        spans.clear();
        let base = match &reading {
            Reading::Closed => closed.unwrap_or(arrival.raw.text),
            _ => arrival.raw.text,
        };
        let mut draft = Draft::default();
        match reading {
            Reading::Json(event) => {
                json_row::fill(&event, base, &self.redactor, &mut spans, &mut draft);
            }
            Reading::Text | Reading::Closed => {
                // Nearly every line is clear: nothing in it, escaped or not, can be a secret.
                let own_bytes = arrival.line.own_bytes;
                if !self.redactor.is_clear_from(base, own_bytes) {
                    text_row::find_all(fields, base, &self.redactor, &mut spans);
                }
                text_row::fill(fields, base, &spans, &mut draft);
            }
            Reading::Unparsed(reason) => {
                draft.row.cause = Some(reason.word().into());
                text_row::fill_unparsed(fields, base, &self.redactor, &mut spans, &mut draft);
            }
            // Returned before.
            Reading::Ignored(why) => return Decoded::Ignored(why),
        }
        let stated = &mut draft.stated;
        // Whose a message is, the gateway says; a line of text has nothing but its own word.
        let is_text = arrival.message.is_none();
        if let Some(stated) = stated.take_if(|stated| is_text && stated.contradicts(arrival.stream))
        {
            self.spans = spans;
            return Decoded::OtherSandbox(stated);
        }
        self.learn(&draft, arrival);
        self.label(&mut draft, arrival);
        draft.row.raw = Some(arrival.raw.cut(&mut spans, &self.redactor));
        draft.row.redactions = match spans.count() {
            0 => None,
            count => Some(i32::try_from(count).unwrap_or(i32::MAX)),
        };
        let decoded = self.push(&mut draft, arrival, out);
        self.spans = spans;
        decoded
    }

    /// Follows the policy in force, and who the line says it is from.
    fn learn(&mut self, draft: &Draft<'_>, arrival: &Arrival<'_>) {
        let origin = draft.origin(arrival);
        policy::follow(&mut self.state.policy, draft, &origin, arrival.continued);
        if let Some(stated) = &draft.stated
            && self.stated.as_ref() != Some(stated)
        {
            self.stated = Some(stated.clone());
        }
    }

    /// Fills what does not come from the line's body.
    fn label<'a>(&'a self, draft: &mut Draft<'a>, arrival: &Arrival<'a>) {
        let origin = draft.origin(arrival);
        let row = &mut draft.row;
        let stated_id = row.sandbox_id.take();
        arrival.stream.label(row);
        row.sandbox_id = stated_id.or(row.sandbox_id.take());
        row.origin = Some(origin);
        row.observed = Some(arrival.observed);
        let is_framed = (draft.framed || arrival.message.is_some()) && !arrival.continued;
        row.trust = Some(
            if is_framed {
                Trust::Framed
            } else {
                Trust::Text
            }
            .word()
            .into(),
        );
        row.escaped = arrival.escaped.then_some(true);
        row.continuation = arrival.continued.then_some(true);
        if arrival.framed.cut.is_some() {
            row.truncated = Some(true);
        }
        self.set_time(draft, arrival);
        if let Some(message) = arrival.message {
            message.label(&mut draft.row);
        }
        policy::label(&self.state.policy, draft);
    }

    fn set_time<'a>(&self, draft: &mut Draft<'a>, arrival: &Arrival<'a>) {
        let row = &mut draft.row;
        let (time, from) = match arrival.line.time {
            LineTime::Moment(moment) => (Some(moment), TimeFrom::Line),
            LineTime::OfDay(micros) => (
                self.options
                    .date
                    .map(|date| Micros(date.start().0 + micros)),
                TimeFrom::DateAssumed,
            ),
            LineTime::Unusable(text) => {
                draft
                    .values
                    .push(Cow::Borrowed("time"), Cow::Borrowed(text));
                (None, TimeFrom::Line)
            }
            LineTime::None => (row.time, TimeFrom::Line),
        };
        row.time = time;
        row.time_from = time.map(|_| from.word().into());
    }

    fn push(&self, draft: &mut Draft<'_>, arrival: &Arrival<'_>, out: &mut EntryBatch) -> Decoded {
        let framed = arrival.framed;
        let row = &mut draft.row;
        let flags = &mut draft.flags;
        flags.unterminated = framed.end == LineEnd::None;
        row.kind = Some(draft.kind.word().into());
        row.outcome = draft.outcome.map(|outcome| outcome.word().into());
        if framed.nuls > 0 {
            flags.nuls = true;
            let nuls = framed.nuls.to_string();
            draft.values.push_first(NUL_BYTES, Cow::Owned(nuls));
        }
        row.attributes = draft.values.object(usize::MAX).map(Cow::Owned);
        flags.cut_field |= limit::fit(row, &draft.values);
        if flags.cut_field || framed.cut.is_some() {
            row.original_bytes = Some(i64::try_from(framed.whole_bytes).unwrap_or(i64::MAX));
            let digest = framed.digest(&self.key);
            row.digest = Some(boundlane_record::tree::Hash(digest).to_hex().into());
        }
        row.flags = flags.words();
        out.push(row);
        Decoded::Record {
            kind: draft.kind,
            outcome: draft.outcome,
        }
    }
}
