//! Columns that a terminal gives a text.

use unicode_width::UnicodeWidthStr;

/// How many columns `text` takes. Measure what is printed: after escaping, before colour.
pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_is_counted_in_bytes() {
        assert_eq!(columns("pypi.org"), 8);
        assert_eq!(columns("naïve"), 5);
        assert_eq!(columns("例え.jp"), 7);
        assert_eq!(columns("e\u{301}"), 1);
    }
}
