//! `CLASS:ACTIVITY [SEV]`: all that is printed before text that somebody else chose.

use boundlane_record::Severity;

use super::without_spaces;
use super::words::{self, severity_of_letter};
use crate::fields::Class;
use crate::scan;

/// The head of an event and the text behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    pub(super) class: Class<'a>,
    /// The activity as printed; empty for EVENT.
    pub(super) word: &'a str,
    pub(super) activity: Option<&'a str>,
    pub(super) severity: &'a str,
    /// The severity is one of OCSF's.
    pub(super) is_known: bool,
    pub(super) rest: &'a str,
}

impl<'a> Head<'a> {
    /// The head at the start of `text`.
    #[inline]
    pub(crate) fn read(text: &'a str) -> Option<Head<'a>> {
        let (word, rest) = class_word(text)?;
        let found = split(word, rest)?;
        let severity = found.known.map_or(found.tag, |known| known.word());
        let rest = found.rest.strip_prefix(' ').unwrap_or(found.rest);
        let head = with_class(word, found.activity, severity, rest);
        Some(Head {
            is_known: found.known.is_some(),
            ..head
        })
    }

    /// The head of a text that nothing announces: it must have a severity that is known.
    #[inline]
    pub(crate) fn read_bare(text: &'a str) -> Option<Head<'a>> {
        Head::read(text).filter(|head| head.is_known)
    }

    /// The head of the first shorthand, `S CLASS:ACTIVITY`, its severity one letter.
    pub(crate) fn read_letter(text: &'a str) -> Option<Head<'a>> {
        let (letter, rest) = text.split_at_checked(1)?;
        let severity = severity_of_letter(letter)?.word();
        let (word, rest) = class_word(without_spaces(rest.strip_prefix(' ')?))?;
        if is_event(word) {
            return Some(with_class(word, "", severity, without_spaces(rest)));
        }
        let (activity, rest) = super::word(rest.strip_prefix(':')?);
        (!activity.is_empty()).then(|| with_class(word, activity, severity, rest))
    }
}

fn with_class<'a>(word: &'a str, activity: &'a str, severity: &'a str, rest: &'a str) -> Head<'a> {
    let class = words::class(word).map_or(Class::Unknown(word), Class::Known);
    let caption = match class {
        Class::Known(tag) => words::activity(tag, activity),
        _ => activity,
    };
    Head {
        class,
        word: activity,
        activity: (!activity.is_empty()).then_some(caption),
        severity,
        is_known: true,
        rest,
    }
}

fn is_event(word: &str) -> bool {
    word == "EVENT"
}

/// An upper-case word, and what follows it.
fn class_word(text: &str) -> Option<(&str, &str)> {
    let is_part = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let len = text.bytes().take_while(is_part).count();
    let begins = text.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    begins.then(|| text.split_at(len))
}

/// What follows the class word.
#[derive(Debug, Clone, Copy)]
struct Split<'a> {
    activity: &'a str,
    tag: &'a str,
    known: Option<Severity>,
    rest: &'a str,
}

/// The activity may hold spaces, so it reaches up to the first ` [SEV]`; one with a tag that is not
/// known here must do where none is.
fn split<'a>(class: &str, text: &'a str) -> Option<Split<'a>> {
    let text = if is_event(class) {
        text
    } else {
        text.strip_prefix(':')?
    };
    let mut unknown = None;
    let mut from = 0;
    while let Some(found) = scan::find(b'[', &text[from..]) {
        let at = from + found;
        from = at + 1;
        let Some(tag) = tag_at(text, at) else {
            continue;
        };
        let activity = without_spaces_around(&text[..at]);
        if activity.is_empty() != is_event(class) {
            return None;
        }
        let known = Severity::from_tag(tag);
        let split = Split {
            activity,
            tag,
            known,
            rest: &text[at + tag.len() + 2..],
        };
        if known.is_some() {
            return Some(split);
        }
        unknown = unknown.or(Some(split));
    }
    unknown
}

#[inline]
fn without_spaces_around(text: &str) -> &str {
    match text.as_bytes() {
        // The usual: one space at the end.
        [first, .., last, b' '] if *first != b' ' && *last != b' ' => &text[..text.len() - 1],
        _ => text.trim_matches(' '),
    }
}

/// The longest severity tag, in bytes.
const TAG_BYTES_MAX: usize = 12;

/// `TAG` of ` [TAG]` followed by a space or the end.
#[inline]
fn tag_at(text: &str, at: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    if at == 0 || bytes[at - 1] != b' ' {
        return None;
    }
    let inner = &bytes[at + 1..];
    let len = inner
        .iter()
        .take(TAG_BYTES_MAX + 1)
        .position(|byte| *byte == b']')?;
    let is_tag = len >= 2 && inner[..len].iter().all(u8::is_ascii_uppercase);
    let is_end = matches!(inner.get(len + 1), None | Some(b' '));
    (is_tag && is_end).then(|| &text[at + 1..at + 1 + len])
}
