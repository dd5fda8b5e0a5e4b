//! `CLASS:ACTIVITY [SEV]`: all that is printed before text that somebody else chose.

use boundlane_record::{ClassTag, Severity};

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
        let (class, rest) = class(text)?;
        let found = split(class, rest)?;
        let rest = match found.rest.as_bytes() {
            [b' ', ..] => &found.rest[1..],
            _ => found.rest,
        };
        let severity = found.known.map_or(found.tag, |known| known.word());
        let is_known = found.known.is_some();
        Some(Head {
            is_known,
            ..Head::of(class, found.activity, severity, rest)
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
        let (class, rest) = class(without_spaces(rest.strip_prefix(' ')?))?;
        if is_event(class) {
            return Some(Head::of(class, "", severity, without_spaces(rest)));
        }
        let (activity, rest) = super::word(rest);
        (!activity.is_empty()).then(|| Head::of(class, activity, severity, rest))
    }

    #[inline]
    fn of(class: Class<'a>, word: &'a str, severity: &'a str, rest: &'a str) -> Head<'a> {
        let caption = match class {
            Class::Known(tag) => words::activity(tag, word),
            _ => word,
        };
        let activity = (!word.is_empty()).then_some(caption);
        Head {
            class,
            word,
            activity,
            severity,
            is_known: true,
            rest,
        }
    }
}

fn is_event(class: Class<'_>) -> bool {
    class == Class::Known(ClassTag::Event)
}

/// The class at the start of `text`, and what follows its colon; EVENT has none.
#[inline]
fn class(text: &str) -> Option<(Class<'_>, &str)> {
    let (tag, len) = match text.as_bytes() {
        [b'N', b'E', b'T', b':', ..] => (ClassTag::Net, 4),
        [b'H', b'T', b'T', b'P', b':', ..] => (ClassTag::Http, 5),
        [b'A', b'P', b'I', b':', ..] => (ClassTag::Api, 4),
        [b'S', b'S', b'H', b':', ..] => (ClassTag::Ssh, 4),
        [b'P', b'R', b'O', b'C', b':', ..] => (ClassTag::Proc, 5),
        [b'F', b'I', b'N', b'D', b'I', b'N', b'G', b':', ..] => (ClassTag::Finding, 8),
        [b'C', b'O', b'N', b'F', b'I', b'G', b':', ..] => (ClassTag::Config, 7),
        [b'E', b'V', b'E', b'N', b'T', b' ', ..] => (ClassTag::Event, 5),
        _ => return other_class(text),
    };
    Some((Class::Known(tag), &text[len..]))
}

/// A class that is rare or not known: an upper-case word and a colon.
fn other_class(text: &str) -> Option<(Class<'_>, &str)> {
    let is_part = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let len = text.bytes().take_while(is_part).count();
    let begins = text.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    let (word, rest) = begins.then(|| text.split_at(len))?;
    let class = words::class(word).map_or(Class::Unknown(word), Class::Known);
    Some((class, rest.strip_prefix(':')?))
}

/// What follows the class.
#[derive(Debug, Clone, Copy)]
struct Split<'a> {
    activity: &'a str,
    tag: &'a str,
    known: Option<Severity>,
    rest: &'a str,
}

/// The activity may hold spaces, so it reaches up to the first ` [SEV]`; one with a tag that is not
/// known here must do where none is.
#[inline]
fn split<'a>(class: Class<'_>, text: &'a str) -> Option<Split<'a>> {
    let mut unknown = None;
    let mut from = 0;
    while let Some(found) = scan::find(b'[', &text[from..]) {
        let at = from + found;
        from = at + 1;
        let Some((tag, known)) = tag_at(text, at) else {
            continue;
        };
        let activity = without_spaces_around(&text[..at]);
        if activity.is_empty() != is_event(class) {
            return None;
        }
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

/// `TAG` of ` [TAG]` followed by a space or the end, and the severity that it stands for.
#[inline]
fn tag_at(text: &str, at: usize) -> Option<(&str, Option<Severity>)> {
    let bytes = text.as_bytes();
    if at == 0 || bytes[at - 1] != b' ' {
        return None;
    }
    let inner = &bytes[at + 1..];
    let (len, known) = match inner {
        [b'I', b'N', b'F', b'O', b']', ..] => (4, Some(Severity::Informational)),
        [b'M', b'E', b'D', b']', ..] => (3, Some(Severity::Medium)),
        _ => rare_tag(inner)?,
    };
    let is_end = matches!(inner.get(len + 1), None | Some(b' '));
    is_end.then(|| (&text[at + 1..at + 1 + len], known))
}

/// The length of the upper-case word in front of `]`, and the severity that it stands for.
fn rare_tag(inner: &[u8]) -> Option<(usize, Option<Severity>)> {
    let len = inner
        .iter()
        .take(TAG_BYTES_MAX + 1)
        .position(|byte| *byte == b']')?;
    let tag = std::str::from_utf8(&inner[..len]).ok()?;
    let is_tag = len >= 2 && tag.bytes().all(|byte| byte.is_ascii_uppercase());
    is_tag.then(|| (len, Severity::from_tag(tag)))
}
