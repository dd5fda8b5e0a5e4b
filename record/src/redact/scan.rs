//! Looks at one text, and at what it says under its escapes, until nothing is left to find.

use std::ops::Range;

use super::FieldKind;
use super::assign::Keys;
use super::decode::{Decoded, ROUNDS};
use super::mark::is_mark;
use super::prefilter::{Prefilter, Trigger};
use super::shapes::{FORMS, Runs};
use super::spans::{MARK, merged};
use super::text::Text;
use super::url::{self, Urls};
use super::{Redactor, command};

/// How often a cut text is looked at again for what the cuts brought together; whatever is still
/// found after that is not worth telling apart, and the whole text is cut.
const SETTLE_ROUNDS: usize = 4;

/// The ranges of `text` to cut: sorted, disjoint, such that the cut text has none.
pub(super) fn settled(redactor: &Redactor, text: &[u8], kind: FieldKind) -> Vec<Range<usize>> {
    let mut cuts = layers(redactor, text, kind);
    for _ in 0..SETTLE_ROUNDS {
        if cuts.is_empty() {
            return cuts;
        }
        let (cut, origins) = cut(text, &cuts);
        let more = layers(redactor, &cut, kind);
        if more.is_empty() {
            return cuts;
        }
        cuts.extend(more.iter().map(|range| origins.under(range.clone())));
        cuts = merged(cuts);
    }
    let all = 0..text.len();
    Vec::from([all])
}

/// What is found in `text` and in what it says under up to [`ROUNDS`] layers of escapes.
fn layers(redactor: &Redactor, text: &[u8], kind: FieldKind) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut has_escape = look(redactor, &Text::new(text, &[]), kind, &mut found);
    let mut cuts = admitted(text, &found);
    let mut layer: Option<Decoded> = None;
    for _ in 0..ROUNDS {
        if !has_escape {
            break;
        }
        let above = layer.as_ref().map_or(text, |layer| &layer.bytes);
        let Some(decoded) = Decoded::of(above) else {
            break;
        };
        let decoded = match &layer {
            Some(below) => decoded.over(below),
            None => decoded,
        };
        found.clear();
        let text_of = Text::new(&decoded.bytes, &decoded.is_inner);
        has_escape = look(redactor, &text_of, kind, &mut found);
        found.retain(|range| range.start < range.end && !is_mark(text_of.slice(range.clone())));
        let source: Vec<_> = found.drain(..).map(|range| decoded.under(range)).collect();
        cuts.extend(admitted(text, &source));
        layer = Some(decoded);
    }
    merged(cuts)
}

/// `ranges` without the empty and the marked, on character boundaries, and never with half a mark.
fn admitted(text: &[u8], ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let marks: Vec<usize> = match ranges {
        [] => Vec::new(),
        _ => memchr::memmem::find_iter(text, MARK).collect(),
    };
    let widened = ranges.iter().filter(|range| range.start < range.end);
    let mut admitted: Vec<_> = widened.map(|range| widen(text, &marks, range)).collect();
    admitted.retain(|range| !is_mark(&text[range.clone()]));
    admitted
}

/// `text` is UTF-8, so a boundary is at most three bytes away.
fn widen(text: &[u8], marks: &[usize], range: &Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start, range.end.min(text.len()));
    let mark_over = |at: usize| {
        let next = marks.partition_point(|&mark| mark < at);
        let mark = *marks.get(next.checked_sub(1)?)?;
        (at < mark + MARK.len()).then_some(mark)
    };
    start = mark_over(start).unwrap_or(start);
    end = mark_over(end).map_or(end, |mark| mark + MARK.len());
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    while start > 0 && is_inside(start) {
        start -= 1;
    }
    while is_inside(end) {
        end += 1;
    }
    start..end
}

/// `text` with marks for `cuts`, and where its bytes came from.
fn cut(text: &[u8], cuts: &[Range<usize>]) -> (Vec<u8>, Origins) {
    let mut kept = Vec::with_capacity(text.len() + cuts.len() * MARK.len());
    let mut marks = Vec::with_capacity(cuts.len());
    let mut at = 0;
    for range in cuts {
        kept.extend_from_slice(&text[at..range.start]);
        marks.push((kept.len(), range.clone()));
        kept.extend_from_slice(MARK.as_bytes());
        at = range.end;
    }
    kept.extend_from_slice(&text[at..]);
    (kept, Origins { marks })
}

/// Where the marks stand in a cut text, and what each stands for.
struct Origins {
    marks: Vec<(usize, Range<usize>)>,
}

impl Origins {
    fn under(&self, range: Range<usize>) -> Range<usize> {
        self.place(range.start, false)..self.place(range.end, true)
    }

    /// The place of `at` in the text before it was cut; inside a mark, one end of what was there.
    fn place(&self, at: usize, is_end: bool) -> usize {
        let last = self.marks.partition_point(|(mark, _)| *mark < at);
        let Some((mark, range)) = last.checked_sub(1).map(|last| &self.marks[last]) else {
            return at;
        };
        match at.checked_sub(mark + MARK.len()) {
            Some(after) => range.end + after,
            None if is_end => range.end,
            None => range.start,
        }
    }
}

/// Runs the matchers over one text. Returns whether it holds an escape.
fn look(
    redactor: &Redactor,
    text: &Text<'_>,
    kind: FieldKind,
    found: &mut Vec<Range<usize>>,
) -> bool {
    let bytes = text.bytes;
    if kind == FieldKind::Url {
        url::whole(text, found);
    }
    for pattern in &redactor.extra {
        found.extend(pattern.find_iter(bytes).map(|found| found.range()));
    }
    if !redactor.prefilter.is_triggered(bytes) {
        return false;
    }
    matches(redactor.prefilter, text, found)
}

fn matches(prefilter: &Prefilter, text: &Text<'_>, found: &mut Vec<Range<usize>>) -> bool {
    let (mut keys, mut urls, mut runs) = (Keys::default(), Urls::default(), Runs::default());
    let (mut has_escape, mut has_tool) = (false, false);
    prefilter.each(text.bytes, |trigger, start, end| match trigger {
        Trigger::Key(class) => keys.key(text, start..end, class, found),
        Trigger::Scheme => keys.scheme(text, start..end, found),
        Trigger::UserFlag(before) => keys.user_flag(text, start + before, found),
        Trigger::Url(place) => urls.place(text, place, start..end, found),
        Trigger::Form(index) => runs.form(text, &FORMS[index], start..end, found),
        Trigger::Jwt => runs.jwt(text, start, found),
        Trigger::Pem => runs.pem(text, start, found),
        Trigger::Telegram => runs.telegram(text, start, found),
        Trigger::Escape => has_escape = true,
        Trigger::Tool => has_tool = true,
        Trigger::JsonKey => {}
    });
    if has_tool {
        command::tools(text, found);
    }
    has_escape
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that hold a trigger wherever they can, each with what makes a careless matcher go over
    /// the rest of the text again.
    const HOSTILE: &[&str] = &[
        "?",
        "a?",
        "/?",
        "%",
        "%25",
        "\\",
        "\\u",
        "\\u{3d}",
        "#",
        "/#",
        "@",
        "a:@",
        "//@",
        "://a@",
        "eyJ",
        "eyJa.",
        "eyJaaaaaaaa.aaaaa",
        "token",
        "token=",
        "token:",
        "token=[",
        "token=\"",
        "token=\\\"",
        "--token ",
        "token ",
        "api key",
        "Cookie:",
        "Bearer ",
        "bearer=",
        " -u",
        ":-u",
        ",-u",
        " -u:",
        "sk-",
        "ghp_",
        "/webhook/a",
        "/t/",
        "/services/t",
        "-----BEGIN PRIVATE KEY",
        "1:a",
        "://a:b/",
        "token=<",
        "token=(",
        "]",
        "mysql -p",
        "{\"a\":",
    ];

    #[test]
    fn hostile_text_is_looked_at_a_bounded_number_of_times() {
        // Proves that no matcher is quadratic: bytes looked at per byte of text stay under one bound,
        // whatever the size, for every pair of the fragments above.
        let prefilter = Prefilter::new();
        for head in HOSTILE {
            for tail in HOSTILE {
                let piece = format!("{head}{tail}");
                for text in [
                    piece.repeat(16_384 / piece.len()),
                    head.repeat(4_096 / head.len()) + &tail.repeat(12_288 / tail.len()),
                ] {
                    let text = Text::new(text.as_bytes(), &[]);
                    matches(&prefilter, &text, &mut Vec::new());
                    assert!(
                        text.work() < 40 * text.len(),
                        "{head} and {tail}: {} for {} bytes",
                        text.work(),
                        text.len()
                    );
                }
            }
        }
    }
}
