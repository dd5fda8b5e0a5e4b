//! Cuts secrets out of a line's parts: first all of them are found, then every part is cut.

use std::borrow::Cow;
use std::ops::Range;

use boundlane_record::redact::{FieldKind, MARK, Redactor, Spans};

use crate::escape::{Spelling, meaning};
use crate::fields::Spelled;

/// Where `part` lies in `text`. `None` for a text of another place, such as a constant.
pub(super) fn place(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= text.len()).then_some(start..end)
}

/// Finds what is recognised in `part` of `text`, knowing what it is.
pub(super) fn find(
    redactor: &Redactor,
    text: &str,
    part: Option<&str>,
    kind: FieldKind,
    spans: &mut Spans,
) {
    if let Some(range) = part.and_then(|part| place(text, part)) {
        redactor.field(text, range, kind, spans);
    }
}

/// Finds what only shows once an escaped value is read: then all of the value goes.
pub(super) fn find_meant(
    redactor: &Redactor,
    text: &str,
    name: &str,
    value: Spelled<'_>,
    spans: &mut Spans,
) {
    if !is_escaped(value) {
        return;
    }
    let meant = meaning(value.text, value.spelling);
    if (is_secret(redactor, &meant) || is_secret(redactor, &format!("{name}={meant}")))
        && let Some(range) = place(text, value.text)
    {
        spans.add(range);
    }
}

/// `part` of `text`, without what `spans` has of it.
#[inline]
pub(super) fn cut<'a>(text: &'a str, part: &'a str, spans: &Spans) -> Cow<'a, str> {
    if spans.is_empty() {
        return Cow::Borrowed(part);
    }
    match place(text, part) {
        Some(range) => spans.cut(text, range),
        None => Cow::Borrowed(part),
    }
}

/// What an escaped value means; only the mark when anything of it was cut, for what is left could
/// read as a part of the secret.
pub(super) fn cut_meant<'a>(text: &'a str, value: Spelled<'a>, spans: &Spans) -> Cow<'a, str> {
    let printed = cut(text, value.text, spans);
    match printed {
        Cow::Borrowed(printed) => meaning(printed, value.spelling),
        Cow::Owned(_) if is_escaped(value) => Cow::Borrowed(MARK),
        kept => kept,
    }
}

fn is_escaped(value: Spelled<'_>) -> bool {
    value.spelling != Spelling::Plain && value.text.contains('\\')
}

pub(super) fn is_secret(redactor: &Redactor, text: &str) -> bool {
    let mut spans = Spans::new();
    redactor.line(text, &mut spans);
    !spans.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_is_found_in_its_text_and_a_constant_is_not() {
        let text = String::from("abc def");
        assert_eq!(place(&text, &text[4..]), Some(4..7));
        assert_eq!(place(&text, ""), None);
        assert_eq!(cut(&text, "elsewhere", &Spans::new()), "elsewhere");
    }

    /// A value whose escapes were cut through is never read: what is left of it may be half a secret.
    #[test]
    fn cut_value_is_not_unescaped() {
        let text = r"[k:a\u{20}b l:plain]";
        let value = Spelled {
            text: &text[3..11],
            spelling: Spelling::Context,
        };
        let mut spans = Spans::new();
        assert_eq!(cut_meant(text, value, &spans), "a b");
        spans.add(3..4);
        assert_eq!(cut_meant(text, value, &spans), MARK);
        spans.add(16..18);
        let plain = Spelled {
            text: &text[14..19],
            spelling: Spelling::Context,
        };
        assert_eq!(cut_meant(text, plain, &spans), "pl[redacted]n");
    }
}
