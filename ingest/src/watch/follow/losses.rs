//! Gaps: from the last moment the stream was known to be whole to the moment it was attached again.

use boundlane_record::{Extent, Gap, GapCause, Micros};
use serde_json::{Map, Value};

use super::{Arrived, Follow, Step, TAIL_LINES, cursor};

/// The words a supervisor begins with.
const FIRST_WORDS: &str = "Starting sandbox";
/// Numbers that a numbering can have used up before the supervisor's first line: not lines.
const FIRST_NUMBER_MAX: u64 = 64;

/// A gap whose ends are in order though a clock went back between them: this machine's, or the gateway's was
/// ahead of it. That the clock was set is kept, since what was observed meanwhile lies on either side.
pub(super) fn in_order(gap: Gap) -> Gap {
    if gap.from <= gap.to || gap.to.is_none() {
        return gap;
    }
    let mut evidence: Map<String, Value> = gap
        .evidence
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    evidence.insert("clock".to_owned(), "went back between the ends".into());
    Gap {
        from: gap.to,
        to: gap.from,
        evidence: Some(Value::Object(evidence).to_string()),
        ..gap
    }
}

fn is_of_gateway(arrived: &Arrived) -> bool {
    matches!(arrived.line.source.as_str(), "" | "gateway")
}

/// What is known of a gap besides where it lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) cause: GapCause,
    pub(super) extent: Extent,
    /// The first line behind it.
    pub(super) next: Option<&'a Arrived>,
    pub(super) why: Option<&'a str>,
    /// What was compared: a JSON object.
    pub(super) alignment: Option<&'a str>,
    /// Until when, if not until the attachment.
    pub(super) to: Option<Micros>,
}

impl Found<'_> {
    pub(super) const fn new(cause: GapCause, extent: Extent) -> Found<'static> {
        Found {
            cause,
            extent,
            next: None,
            why: None,
            alignment: None,
            to: None,
        }
    }
}

impl Follow {
    pub(super) fn gap(
        &mut self,
        cause: GapCause,
        extent: Extent,
        next: Option<&Arrived>,
        why: Option<&str>,
    ) {
        self.gap_found(Found {
            next,
            why,
            ..Found::new(cause, extent)
        });
    }

    /// A gap of unknown extent stays open until the next line is stored, so that what follows merges.
    pub(super) fn gap_found(&mut self, found: Found<'_>) {
        let gap = in_order(self.between(found));
        self.steps.push_back(match found.extent {
            Extent::Unknown => Step::OpenGap(gap),
            _ => Step::Gap(gap),
        });
    }

    /// A gap of which nothing is known but that it may be; once between two lines of an attachment.
    pub(super) fn open_gap(&mut self, cause: GapCause, next: Option<&Arrived>) {
        let why = self.suspicion.as_ref().map(|suspicion| suspicion.why);
        let is_new = self
            .attachment
            .as_mut()
            .is_none_or(|now| !std::mem::replace(&mut now.opened, true));
        if is_new {
            self.gap(cause, Extent::Unknown, next, why);
        }
    }

    /// A suspicion that no line settles because none comes: the gap is known already.
    pub(super) fn open_what_is_suspected(&mut self) {
        let is_silent = self
            .attachment
            .as_ref()
            .is_some_and(|now| now.received == 0);
        let suspected = self.suspicion.as_ref().map(|suspicion| suspicion.cause);
        let has_any = self.place.begun || self.place.lines > 0;
        if let Some(cause) = suspected.filter(|_| has_any && is_silent) {
            self.open_gap(cause, None);
        }
    }

    /// The first lines of all: does the stream begin with them? What the gateway itself says of a new
    /// sandbox comes before its supervisor's first word.
    pub(super) fn begin(&mut self, first: &Arrived) {
        if self.place.begun || (self.is_early(first) && is_of_gateway(first)) {
            return;
        }
        if !self.is_beginning(first) {
            self.history_unavailable(Some(first));
        }
        self.place.begun = true;
    }

    /// What was published before the first attachment and the gateway no longer holds.
    pub(super) fn history_unavailable(&mut self, first: Option<&Arrived>) {
        self.place.begun = true;
        let mut gap = self.between(Found {
            next: first,
            ..Found::new(GapCause::HistoryUnavailable, Extent::Unknown)
        });
        gap.from = self.watched.created;
        self.steps.push_back(Step::OpenGap(in_order(gap)));
    }

    fn is_beginning(&self, first: &Arrived) -> bool {
        self.is_early(first) && !is_of_gateway(first) && first.line.message.starts_with(FIRST_WORDS)
    }

    /// Whether nothing can have been pushed out in front of it.
    fn is_early(&self, first: &Arrived) -> bool {
        match cursor::number(&first.line.cursor) {
            Some(number) => number <= FIRST_NUMBER_MAX,
            None => self
                .attachment
                .as_ref()
                .is_some_and(|now| now.tail_lines() < TAIL_LINES as usize),
        }
    }

    pub(super) fn between(&self, found: Found<'_>) -> Gap {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let attached_at = self.attachment.as_ref().map(|now| now.at);
        let next = found.next.map(|next| &next.line);
        let alignment = found
            .alignment
            .and_then(|text| serde_json::from_str(text).ok());
        let notes: [(&str, Option<Value>); 5] = [
            ("after_time", self.place.last_time.map(|time| time.0.into())),
            (
                "before_time",
                next.and_then(|next| next.time).map(|time| time.0.into()),
            ),
            ("why", found.why.map(Value::from)),
            (
                "dropped_max",
                (self.dropped > 0).then(|| self.dropped.into()),
            ),
            ("alignment", alignment),
        ];
        let evidence: Map<String, Value> = notes
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        Gap {
            cause: found.cause,
            extent: found.extent,
            // A line that is behind the attachment: it was whole when it was attached.
            from: match found.to {
                Some(_) => attached_at,
                None => self.place.whole,
            },
            // What was published since the attachment can have been left out in front of the line, too.
            to: found.to.or(next.and(self.came)).or(attached_at),
            after_cursor: self.place.greatest().and_then(text),
            before_cursor: next.and_then(|next| text(&next.cursor)),
            evidence: (!evidence.is_empty()).then(|| Value::Object(evidence).to_string()),
        }
    }
}
