//! Untrusted text on a terminal (law L8): what would act on the terminal, hide, or reorder its
//! neighbours is spelled out.
//!
//! `\n`, `\t`, `\r` have their usual spelling, other control codes are `\xNN`, everything else is
//! `\u{NNNN}`. A backslash stays as it is: an escape only has to be visible, not reversible; the JSON
//! forms have the text itself.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// Marks that may follow each other on one letter. More would climb over the neighbouring lines.
const MARKS_IN_A_ROW_MAX: usize = 2;

/// `text` with everything spelled out that must not reach a terminal; borrowed when nothing is.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) {
        return Cow::Borrowed(text);
    }
    spell(text, |_| false)
}

/// As [`visible`], for our own messages of several lines: newlines stay.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    spell(text, |c| c == '\n')
}

/// Only what acts on a terminal, for formats that a person looks at and a program reads.
pub(crate) fn without_terminal_codes(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| byte == b'\n' || matches!(byte, 0x20..=0x7e))
    {
        return Cow::Borrowed(text);
    }
    let acts = |c: char| (c.is_control() && c != '\n') || is_format(c);
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut spelled = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            push_escape(&mut spelled, c);
        } else {
            spelled.push(c);
        }
    }
    Cow::Owned(spelled)
}

fn spell(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let mut marks = MarkRun::default();
    let mut spelled = String::new();
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        if keep(c) || !marks.must_be_spelled(c) {
            continue;
        }
        spelled.push_str(&text[copied..at]);
        push_escape(&mut spelled, c);
        copied = at + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    spelled.push_str(&text[copied..]);
    Cow::Owned(spelled)
}

/// Counts combining marks. At the start of a text one would join the cell before it.
#[derive(Default)]
struct MarkRun {
    room: usize,
}

impl MarkRun {
    fn must_be_spelled(&mut self, c: char) -> bool {
        if c.is_control() || is_format(c) {
            self.room = 0;
            return true;
        }
        if c.width() != Some(0) {
            self.room = MARKS_IN_A_ROW_MAX;
            return false;
        }
        let fits = self.room > 0;
        self.room = self.room.saturating_sub(1);
        !fits
    }
}

fn push_escape(spelled: &mut String, c: char) {
    match c {
        '\n' => spelled.push_str("\\n"),
        '\r' => spelled.push_str("\\r"),
        '\t' => spelled.push_str("\\t"),
        c if u32::from(c) < 0x100 => {
            let _ = write!(spelled, "\\x{:02x}", u32::from(c));
        }
        c => {
            let _ = write!(spelled, "\\u{{{:04x}}}", u32::from(c));
        }
    }
}

/// Characters that are not seen or that move others: bidi controls, zero-width characters, line and
/// paragraph separators, fillers, variation selectors, tags, private use and what is no character.
fn is_format(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x600..=0x605 | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2
        | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x2800 | 0x3164
        | 0xe000..=0xf8ff | 0xfdd0..=0xfdef | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x110bd | 0x110cd | 0x13430..=0x1345f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0x10ffff)
        || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What moves the cursor, sets the title, clears the screen or rings a bell is spelled out.
    #[test]
    fn a_terminal_code_reaches_the_terminal() {
        assert_eq!(visible("\u{1b}]0;owned\u{7}"), "\\x1b]0;owned\\x07");
        assert_eq!(visible("\u{9b}2J\u{7f}"), "\\x9b2J\\x7f");
        assert_eq!(visible("a\r\nb\tc"), "a\\r\\nb\\tc");
        assert_eq!(visible("x\0y"), "x\\x00y");
    }

    /// What reorders or hides text is spelled out: two hosts that look alike print differently.
    #[test]
    fn hidden_or_reordered_text_looks_like_other_text() {
        assert_eq!(visible("evil\u{202e}moc.knab"), "evil\\u{202e}moc.knab");
        assert_eq!(visible("pypi\u{200b}.org"), "pypi\\u{200b}.org");
        assert_eq!(visible("a\u{2028}b\u{2029}c"), "a\\u{2028}b\\u{2029}c");
        assert_eq!(
            visible("soft\u{ad}hyphen \u{2066}x\u{feff}"),
            "soft\\xadhyphen \\u{2066}x\\u{feff}"
        );
        assert_eq!(visible("tag\u{e0041}"), "tag\\u{e0041}");
    }

    /// Letters of any script stay as they are, accents on them too; a pile of accents does not.
    #[test]
    fn readable_text_is_mangled() {
        for text in [
            "naïve.example",
            "cafe\u{301}.example",
            "例え.jp",
            "пример.рф",
            "C:\\x",
            "",
        ] {
            assert!(
                matches!(visible(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
        assert_eq!(visible("\u{301}a"), "\\u{0301}a");
        assert_eq!(
            visible("a\u{301}\u{301}\u{301}"),
            "a\u{301}\u{301}\\u{0301}"
        );
    }

    /// Our own messages keep their lines; nothing else gets through them.
    #[test]
    fn a_message_loses_its_lines_or_keeps_its_codes() {
        assert_eq!(visible_lines("one\ntwo\u{1b}[0m"), "one\ntwo\\x1b[0m");
        assert_eq!(
            without_terminal_codes("one\ntwo\u{1b}\u{202e}é"),
            "one\ntwo\\x1b\\u{202e}é"
        );
    }

    proptest! {
        /// For all texts: no control, format or separator character is left, and doing it twice
        /// changes nothing.
        #[test]
        fn for_all_texts_nothing_invisible_is_left(text in any::<String>()) {
            let once = visible(&text).into_owned();
            prop_assert!(!once.chars().any(|c| c.is_control() || is_format(c)), "{once:?}");
            prop_assert_eq!(visible(&once), once.as_str());
        }
    }
}
