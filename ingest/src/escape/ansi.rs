//! Terminal colours in front of a pasted line.

use std::borrow::Cow;
use std::ops::Range;

/// A line without its colour codes, and where its bytes were.
#[derive(Debug)]
pub(crate) struct Plain<'a> {
    /// The text without codes.
    pub(crate) text: Cow<'a, str>,
    /// (offset in `text`, offset in the line) of each kept stretch.
    stretches: Vec<(usize, usize)>,
}

impl Plain<'_> {
    /// The part of the line that `range` of the text came from, codes between included.
    pub(crate) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return self.shift(range.start)..self.shift(range.start);
        }
        self.shift(range.start)..self.shift(range.end - 1) + 1
    }

    fn shift(&self, at: usize) -> usize {
        let next = self
            .stretches
            .partition_point(|(in_text, _)| *in_text <= at);
        match next
            .checked_sub(1)
            .and_then(|last| self.stretches.get(last))
        {
            Some((in_text, in_line)) => in_line + (at - in_text),
            None => at,
        }
    }
}

/// Takes the colour codes (`ESC [ … m`) out of `line`.
pub(crate) fn strip(line: &str) -> Plain<'_> {
    let mut text = String::with_capacity(line.len());
    let mut stretches = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let next = line[at..]
            .find("\u{1b}[")
            .map_or(line.len(), |found| at + found);
        if next > at {
            stretches.push((text.len(), at));
            text.push_str(&line[at..next]);
        }
        at = next + code_len(&line[next..]);
    }
    if text.len() == line.len() {
        return Plain {
            text: Cow::Borrowed(line),
            stretches: vec![(0, 0)],
        };
    }
    Plain {
        text: Cow::Owned(text),
        stretches,
    }
}

/// The length of the code at the start of `text`: digits and `;` up to `m`, or the ESC alone.
fn code_len(text: &str) -> usize {
    let parameters = text
        .bytes()
        .skip(2)
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b';'));
    let end = 2 + parameters.count();
    match text.as_bytes().get(end) {
        Some(b'm') => end + 1,
        _ => text.len().min(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place in the plain text leads back to the bytes that it came from.
    #[test]
    fn colours_are_taken_out_and_places_found_again() {
        let line = "\u{1b}[2m2026\u{1b}[0m \u{1b}[32mINFO\u{1b}[0m";
        let plain = strip(line);
        assert_eq!(plain.text, "2026 INFO");
        assert_eq!(&line[plain.origin(&(5..9))], "INFO");
        assert_eq!(&line[plain.origin(&(3..6))], "6\u{1b}[0m \u{1b}[32mI");
    }

    #[test]
    fn escape_that_is_no_colour_loses_only_itself() {
        assert_eq!(strip("\u{1b}[2Jx\u{1b}[31my").text, "[2Jxy");
    }
}
