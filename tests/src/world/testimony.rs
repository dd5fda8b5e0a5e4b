//! What a journal says of each sandbox, in the order of its numbers.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use boundlane_record::{Extent, Row, canonical};
use boundlane_store::{Found, Reader, Select, StateDir};

use crate::gateway::Moment;

/// One journal.
#[derive(Debug, Clone, Default)]
pub struct Testimony {
    /// By the sandbox's UUID.
    pub sandboxes: BTreeMap<String, Heard>,
    /// What no journal of a forwarder should have.
    pub oddities: Vec<String>,
}

/// What it says of one sandbox.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Records, in order.
    pub records: Vec<Recorded>,
    /// Gaps, in order; those that still grow are the last.
    pub gaps: Vec<Gap>,
    /// What was watched.
    pub sessions: Vec<(String, Moment)>,
    /// The observed time of the first entry of any kind.
    pub first: Option<Moment>,
}

impl Heard {
    /// Whether it is written down that nothing more comes: the sandbox has ended, or is gone.
    pub fn is_over(&self) -> bool {
        let is_last = |cause: &str| matches!(cause, "end" | "detached");
        self.sessions.iter().any(|(cause, _)| is_last(cause))
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The line, as `openshell logs` prints it.
    pub raw: String,
    /// Where the gateway placed it; empty without cursors.
    pub cursor: String,
}

/// One gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Why.
    pub cause: String,
    /// How many lines.
    pub extent: Extent,
    /// The near end in observed time.
    pub from: Option<Moment>,
    /// The far end in observed time.
    pub to: Option<Moment>,
    /// The last cursor before.
    pub after_cursor: Option<String>,
    /// The first cursor after.
    pub before_cursor: Option<String>,
    /// The time of the last line before, in microseconds, as that line says it.
    pub after_time: Option<Moment>,
    /// The time of the first line after.
    pub before_time: Option<Moment>,
}

impl Testimony {
    /// Reads the journal in `state`; an empty testimony when there is none.
    pub fn read(state: &Path) -> Testimony {
        let mut testimony = Testimony::default();
        let Some(reader) = Reader::open(&StateDir::at(state)).unwrap() else {
            return testimony;
        };
        let each = |found: Found<'_>| {
            match found {
                Found::Entry(_, bytes) => testimony.entry(bytes),
                other => testimony.oddities.push(format!("{other:?}")),
            }
            ControlFlow::<()>::Continue(())
        };
        reader.each_entry(Select::all(), each).unwrap();
        testimony.growing(&reader);
        testimony
    }

    /// Takes one entry, in the order of the journal.
    pub fn entry(&mut self, bytes: &[u8]) {
        match canonical::decode(bytes) {
            Ok(row) => self.row(&row),
            Err(error) => self.oddities.push(error.to_string()),
        }
    }

    /// Losses that have no number yet are losses all the same.
    fn growing(&mut self, reader: &Reader) {
        let streams = reader.streams().unwrap();
        for loss in reader.open_losses().unwrap() {
            let of_loss = streams.iter().find(|stream| stream.id == loss.stream);
            let name = &of_loss.expect("a loss without a stream").name;
            self.row(&loss.row(name, loss.grown));
        }
    }

    fn row(&mut self, row: &Row<'_>) {
        let kind = row.kind.as_deref().unwrap_or_default();
        let Some(id) = row.sandbox_id.as_deref().filter(|id| !id.is_empty()) else {
            if kind != "session" {
                self.oddities.push(format!("no sandbox id: {row:?}"));
            }
            return;
        };
        let heard = self.sandboxes.entry(id.to_owned()).or_default();
        let observed = row.observed.map(|micros| micros.0);
        heard.first = heard.first.or(observed);
        match kind {
            "decision" | "event" | "unparsed" => heard.records.push(Recorded {
                raw: row.raw.as_deref().unwrap_or_default().to_owned(),
                cursor: row.cursor.as_deref().unwrap_or_default().to_owned(),
            }),
            "gap" => heard.gaps.push(gap(row)),
            "session" => {
                let cause = row.cause.as_deref().unwrap_or_default().to_owned();
                heard.sessions.push((cause, observed.unwrap_or(0)));
            }
            other => self.oddities.push(format!("a `{other}` of {id}")),
        }
    }
}

fn gap(row: &Row<'_>) -> Gap {
    let evidence = row.evidence.as_deref().unwrap_or("{}");
    let evidence: serde_json::Value = serde_json::from_str(evidence).unwrap_or_default();
    let time = |name: &str| evidence.get(name).and_then(serde_json::Value::as_i64);
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Gap {
        cause: row.cause.as_deref().unwrap_or_default().to_owned(),
        extent: Extent::from_columns(row.extent.as_deref(), row.count),
        from: row.from.map(|micros| micros.0),
        to: row.to.map(|micros| micros.0),
        after_cursor: owned(&row.after_cursor),
        before_cursor: owned(&row.before_cursor),
        after_time: time("after_time"),
        before_time: time("before_time"),
    }
}
