//! How a stream's place lies in its checkpoint.
//!
//! A chain of standard input has been fed by several inputs, each with marks of its own. The journal keeps
//! one ascending list of marks a stream, so input `n` has its marks [`INPUT_SPAN_BYTES`] × `n` further on;
//! the places of earlier inputs are kept beside the current one.

use boundlane_ingest::place::{ContentId, Known, Place};
use boundlane_record::Mark;
use boundlane_store::{StreamId, StreamState};

/// Bytes that one input of a chain can have: 16 TiB.
const INPUT_SPAN_BYTES: u64 = 1 << 44;
/// Inputs of one chain.
const INPUTS_MAX: u64 = 1 << 16;
/// Places of earlier inputs that are kept; older ones are aligned like any tail.
const EARLIER_INPUTS_MAX: usize = 32;

/// The places of one stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Chained {
    pub(super) current: Place,
    /// Earlier inputs of a chain, oldest first, without the current one.
    pub(super) earlier: Vec<Place>,
}

impl Chained {
    /// Reads what [`Chained::to_json`] wrote.
    pub(super) fn from_json(text: &str) -> Option<Chained> {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        let place = |value: &serde_json::Value| Place::from_json(&value.to_string()).ok();
        let earlier = value.get("earlier").and_then(serde_json::Value::as_array);
        Some(Chained {
            current: place(value.get("place")?)?,
            earlier: earlier.into_iter().flatten().filter_map(place).collect(),
        })
    }

    /// The checkpoint's text.
    pub(super) fn to_json(&self) -> String {
        let mut text = format!(r#"{{"place":{}"#, self.current.to_json());
        if !self.earlier.is_empty() {
            let earlier: Vec<String> = self.earlier.iter().map(Place::to_json).collect();
            text.push_str(&format!(r#","earlier":[{}]"#, earlier.join(",")));
        }
        text.push('}');
        text
    }

    /// The place of one input of the chain.
    pub(super) fn input(&self, input: u64) -> Option<&Place> {
        let mut all = self.earlier.iter().chain([&self.current]);
        all.find(|place| place.input == input)
    }

    /// Makes `input` the current one; the one before it is kept among the earlier.
    pub(super) fn switch_to(&mut self, input: u64) {
        if self.current.input == input {
            return;
        }
        self.earlier.retain(|place| place.input != input);
        let before = std::mem::take(&mut self.current);
        self.current = Place {
            input,
            ..before.clone()
        };
        self.earlier.push(before);
        let surplus = self.earlier.len().saturating_sub(EARLIER_INPUTS_MAX);
        self.earlier.drain(..surplus);
    }

    /// The number of the next input.
    pub(super) fn next_input(&self) -> u64 {
        let all = self
            .earlier
            .iter()
            .chain([&self.current])
            .map(|place| place.input);
        (all.max().unwrap_or(0) + 1).min(INPUTS_MAX - 1)
    }
}

/// Everything that is known of one stream, as contents to compare an input with.
pub(super) fn known(stream: &StreamState, marks: &[Mark]) -> Vec<Known> {
    let Some(chained) = Chained::from_json(&stream.place) else {
        return Vec::new();
    };
    let mut all: Vec<Known> = chained
        .earlier
        .iter()
        .map(|place| {
            let id = content_id(stream.id, place.input);
            Known::superseded(id, place.clone(), marks_of(place.input, marks))
        })
        .collect();
    let current = chained.current;
    let id = content_id(stream.id, current.input);
    let marks = marks_of(current.input, marks);
    all.push(Known::new(id, current, marks));
    all
}

/// A content's id: its stream and, in a chain, its input.
pub(super) fn content_id(stream: StreamId, input: u64) -> ContentId {
    ContentId(stream.0.unsigned_abs() * INPUTS_MAX + input)
}

/// The stream and the input of a content.
pub(super) fn parts(content: ContentId) -> (StreamId, u64) {
    let stream = i64::try_from(content.0 / INPUTS_MAX).unwrap_or(i64::MAX);
    (StreamId(stream), content.0 % INPUTS_MAX)
}

/// A mark of `input` as the journal keeps it.
pub(super) fn kept(input: u64, mark: Mark) -> Mark {
    Mark {
        offset: input * INPUT_SPAN_BYTES + mark.offset,
        ..mark
    }
}

fn marks_of(input: u64, marks: &[Mark]) -> Vec<Mark> {
    let base = input * INPUT_SPAN_BYTES;
    let own = marks
        .iter()
        .filter(|mark| (base..base + INPUT_SPAN_BYTES).contains(&mark.offset));
    own.map(|mark| Mark {
        offset: mark.offset - base,
        ..*mark
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_went_on_forgets_where_its_earlier_inputs_stood() {
        let mut chained = Chained::default();
        chained.current.lines = 7;
        chained.switch_to(1);
        chained.current.lines = 9;
        let read = Chained::from_json(&chained.to_json()).unwrap();
        assert_eq!(read, chained);
        assert_eq!(read.input(0).unwrap().lines, 7);
        assert_eq!(read.input(1).unwrap().lines, 9);
        assert_eq!(read.next_input(), 2);
    }

    #[test]
    fn marks_of_one_input_are_taken_for_those_of_another() {
        let mark = |offset| Mark {
            offset,
            digest: [1; 32],
        };
        let all = [
            mark(5),
            kept(1, mark(5)),
            kept(1, mark(9)),
            kept(2, mark(1)),
        ];
        assert_eq!(marks_of(0, &all), [mark(5)]);
        assert_eq!(marks_of(1, &all), [mark(5), mark(9)]);
        assert_eq!(parts(content_id(StreamId(3), 2)), (StreamId(3), 2));
    }
}
