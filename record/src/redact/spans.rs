//! Ranges of a text to cut, and the text with them cut.

use std::borrow::Cow;
use std::ops::Range;

/// What stands where a secret was.
pub const MARK: &str = "[redacted]";

/// Byte ranges of one text that must not be written: sorted, disjoint, on character boundaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    ranges: Vec<Range<usize>>,
    /// Where the ranges begin that are JSON scalars without quotes, in order.
    bare: Vec<usize>,
}

impl Spans {
    /// No spans.
    pub const fn new() -> Spans {
        Spans {
            ranges: Vec::new(),
            bare: Vec::new(),
        }
    }

    /// Forgets all spans and keeps the memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.bare.clear();
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

    /// Adds a number, `true` or `false` of a JSON text, where [`Spans::cut`] leaves the mark in quotes.
    pub(super) fn add_bare(&mut self, range: Range<usize>) {
        if let Err(place) = self.bare.binary_search(&range.start) {
            self.bare.insert(place, range.start);
        }
        self.add(range);
    }

    /// Adds sorted, disjoint ranges: one merge, however many there are.
    pub(super) fn add_all(&mut self, ranges: Vec<Range<usize>>) {
        match ranges.len() {
            0 => {}
            1 => ranges.into_iter().for_each(|range| self.add(range)),
            _ => {
                self.ranges.extend(ranges);
                self.ranges = merged(std::mem::take(&mut self.ranges));
            }
        }
    }

    /// `text[part]` with [`MARK`] for each place that is cut, also where a span only reaches into it.
    ///
    /// A bare scalar of a JSON text becomes a string that says so; when `part` is no more than that
    /// scalar, the mark alone.
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
            let is_whole = span.start <= part.start && part.end <= span.end;
            let quote = if !is_whole && self.bare.binary_search(&span.start).is_ok() {
                "\""
            } else {
                ""
            };
            kept.extend([quote, MARK, quote]);
            at = span.end.min(part.end);
        }
        if !any {
            return Cow::Borrowed(&text[part]);
        }
        kept.push_str(&text[at..part.end]);
        Cow::Owned(kept)
    }
}

/// Sorts `ranges` and joins those that overlap or touch.
pub(super) fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let joins = next.start <= last.end;
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
    ranges
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

    #[test]
    fn a_bare_scalar_becomes_a_string_and_alone_the_mark() {
        let mut spans = Spans::new();
        spans.add_bare(5..6);
        assert_eq!(spans.cut(r#"{"a":1}"#, 0..7), r#"{"a":"[redacted]"}"#);
        assert_eq!(spans.cut(r#"{"a":1}"#, 5..6), "[redacted]");
    }

    #[test]
    fn many_ranges_are_joined_as_one_by_one() {
        let ranges = vec![4..6, 0..2, 2..3, 5..9];
        let mut one_by_one = Spans::new();
        ranges
            .iter()
            .cloned()
            .for_each(|range| one_by_one.add(range));
        let mut at_once = Spans::new();
        at_once.add_all(merged(ranges));
        assert_eq!(at_once, one_by_one);
        assert_eq!(at_once.ranges(), [0..3, 4..9]);
    }
}
