//! What may stand between a key and its value, and what only looks like it.

use std::ops::Range;

use super::text::{Text, is_quote, is_space};

/// What stands between a key and its value.
pub(super) struct Gap {
    /// Where the value begins.
    pub(super) end: usize,
    /// Blanks stand between the separator and the value.
    pub(super) is_spaced: bool,
    /// A quote closes right after the key: `"my token": "abc"`.
    pub(super) is_quoted: bool,
    /// The quote right before the key, when it does not end right after it.
    pub(super) opener: Option<u8>,
}

/// The gap after the key `name`, when one follows that makes what comes next its value.
pub(super) fn gap(text: &Text<'_>, name: &Range<usize>, word: &Range<usize>) -> Option<Gap> {
    let opener = text.before(name.start).filter(|&byte| is_quote(byte));
    let is_quoted = text.at(name.end).is_some_and(is_quote);
    let mut at = name.end + usize::from(is_quoted);
    if text.at(at) == Some(b']') && text.at(at + 1) == Some(b'=') {
        at += 1; // user[password]=x
    }
    let separator = text.after_blanks(at);
    let gap = |end: usize, from: usize| Gap {
        end,
        is_spaced: end > from,
        is_quoted,
        opener: opener.filter(|_| !is_quoted),
    };
    match text.at(separator) {
        Some(b'=') => {
            let after =
                separator + 1 + usize::from(matches!(text.at(separator + 1), Some(b'=' | b'>')));
            let value = text.after_blanks(after);
            let is_empty = value > after && separator == at && text.is_assignment(value, b"=");
            (!is_empty).then(|| gap(value, after))
        }
        Some(b':') => {
            let after = separator + 1 + usize::from(text.at(separator + 1) == Some(b'='));
            let value = text.after_blanks(after);
            let is_colon_else = matches!(
                text.from(separator),
                [b':', b':', ..] | [b':', b'/', b'/', ..]
            );
            let is_host = if value > after {
                is_host_name(text.slice(name.clone()), word.end - name.start)
            } else {
                is_port(text, name, after)
            };
            (!is_colon_else && !is_host).then(|| gap(value, after))
        }
        _ => flag_gap(text, name, at).map(|end| gap(end, at)),
    }
}

/// Where the value of the flag `name` begins: after blanks, or in the next item of a list.
fn flag_gap(text: &Text<'_>, name: &Range<usize>, at: usize) -> Option<usize> {
    if text.at(name.start) != Some(b'-') {
        return None;
    }
    let value = after_item(text, at)?;
    let is_flag = match text.from(value) {
        [b'-', b'-', ..] | [b'-', _] => true,
        [b'-', _, next, ..] => is_space(*next),
        _ => false,
    };
    (!is_flag).then_some(value)
}

/// After the blanks, or the quotes and the comma, that part an argument from the next one.
pub(super) fn after_item(text: &Text<'_>, at: usize) -> Option<usize> {
    let mut next = at + usize::from(text.at(at).is_some_and(is_quote));
    next += usize::from(text.at(next) == Some(b','));
    let value = text.after_blanks(next);
    let has_gap = value > next || text.before(next) == Some(b',');
    (has_gap && value < text.len()).then_some(value)
}

/// `secret-service.example.com: refused`: three labels or more, the key word not in the last.
fn is_host_name(name: &[u8], word_end: usize) -> bool {
    let dots = name.iter().filter(|&&byte| byte == b'.').count();
    dots >= 2 && name[word_end..].contains(&b'.')
}

/// `secret-service.example.com:443`, `session-api:8080`: up to five digits right after the colon.
fn is_port(text: &Text<'_>, name: &Range<usize>, at: usize) -> bool {
    let end = text.while_at(at, |byte| byte.is_ascii_digit());
    let is_authority =
        text.slice(name.clone()).contains(&b'.') || text.before(name.start) == Some(b'/');
    (1..=5).contains(&(end - at))
        && match text.at(end) {
            None => true,
            Some(b'/') => is_authority || text.says(end, "/tcp") || text.says(end, "/udp"),
            Some(byte) => is_space(byte) || is_quote(byte) || b"],;)}?#".contains(&byte),
        }
}
