//! `CLASS:ACTIVITY [SEV]`: all that is printed before text that somebody else chose.

use boundlane_record::Severity;
use memchr::memchr_iter;
use nom::IResult;
use nom::Parser;
use nom::bytes::complete::take_while;
use nom::combinator::verify;

use super::words::{self, severity_of_letter};
use crate::fields::Class;

/// The head of an event and the text behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) class: Class<'a>,
    /// The activity as printed; empty for EVENT.
    pub(super) word: &'a str,
    pub(super) activity: Option<&'a str>,
    pub(super) severity: &'a str,
    pub(super) rest: &'a str,
}

/// Whether `text` begins with a head whose severity is known: then it is shorthand, whatever the class.
pub(crate) fn begins(text: &str) -> bool {
    class_word(text).is_ok_and(|(rest, word)| {
        split(word, rest).is_some_and(|(_, tag, _)| Severity::from_tag(tag).is_some())
    })
}

/// Whether `text` begins with a class and a colon.
pub(crate) fn begins_with_class(text: &str) -> bool {
    class_word(text).is_ok_and(|(rest, word)| is_event(word) || rest.starts_with(':'))
}

/// The head at the start of `text`.
#[inline]
pub(super) fn head(text: &str) -> Option<Head<'_>> {
    let (rest, word) = class_word(text).ok()?;
    let (activity, tag, rest) = split(word, rest)?;
    let severity = Severity::from_tag(tag).map_or(tag, |known| known.word());
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    Some(with_class(word, activity, severity, rest))
}

/// The head of the first shorthand, whose severity stood in front.
pub(super) fn letter_head<'a>(severity: &'a str, text: &'a str) -> Option<Head<'a>> {
    let (rest, word) = class_word(text).ok()?;
    let severity = severity_of_letter(severity).map_or(severity, |known| known.word());
    if is_event(word) {
        return Some(with_class(word, "", severity, rest.trim_start_matches(' ')));
    }
    let (activity, rest) = super::word(rest.strip_prefix(':')?);
    (!activity.is_empty()).then(|| with_class(word, activity, severity, rest))
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
        rest,
    }
}

fn is_event(word: &str) -> bool {
    word == "EVENT"
}

/// An upper-case word.
fn class_word(text: &str) -> IResult<&str, &str> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let begins = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    verify(take_while(is_part), begins).parse(text)
}

/// What follows the class word: activity, severity tag, rest. The activity may hold spaces, so it
/// reaches up to the first ` [SEV]`; one with a tag that is not known here must do where none is.
fn split<'a>(class: &str, text: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
    let from = if is_event(class) {
        0
    } else {
        usize::from(text.starts_with(':'))
    };
    if from == 0 && !is_event(class) {
        return None;
    }
    let mut unknown = None;
    for at in memchr_iter(b'[', text.as_bytes()) {
        let Some(tag) = tag_at(text, at) else {
            continue;
        };
        let activity = text[from..at].trim_matches(' ');
        if activity.is_empty() != is_event(class) {
            return None;
        }
        let found = (activity, tag, &text[at + tag.len() + 2..]);
        if Severity::from_tag(tag).is_some() {
            return Some(found);
        }
        unknown = unknown.or(Some(found));
    }
    unknown
}

/// `TAG` of ` [TAG]` followed by a space or the end.
fn tag_at(text: &str, at: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let inner = bytes.get(at + 1..)?;
    let len = inner
        .iter()
        .take(13)
        .position(|byte| !byte.is_ascii_uppercase())?;
    let closed = inner.get(len) == Some(&b']') && matches!(inner.get(len + 1), None | Some(b' '));
    let opened = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b' ');
    (closed && opened && len >= 2).then(|| &text[at + 1..at + 1 + len])
}
