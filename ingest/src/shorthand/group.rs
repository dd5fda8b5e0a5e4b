//! The bracketed groups at the end of an event: rule, reason, message, named values.

use nom::IResult;
use nom::Parser;
use nom::bytes::complete::{tag, take_till1};
use nom::sequence::terminated;

use crate::escape::Spelling;
use crate::fields::{Attributes, Spelled};

/// What the groups behind a destination say.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail<'a> {
    pub(super) rule: Option<&'a str>,
    pub(super) engine: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    pub(super) message: Option<&'a str>,
    pub(super) attributes: Attributes<'a>,
}

/// Which groups a class prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    /// `[policy:…] [reason:…] [msg:…]`.
    Net,
    /// The same, and named values that may hold the reason as their last.
    Http,
}

/// Reads `text`, all of it, as groups in their fixed order. `None` when it is anything else.
#[inline]
pub(super) fn tail(text: &str, groups: Groups) -> Option<Tail<'_>> {
    let mut tail = Tail::default();
    let mut left = next_group(text)?;
    if left.starts_with("[policy:") {
        left = next_group(rule(left, &mut tail)?)?;
    }
    if groups == Groups::Http && !left.is_empty() && !is_last_text(left) {
        left = next_group(context(left, &mut tail)?)?;
    }
    if left.is_empty() {
        return Some(tail);
    }
    let (name, text) = last_text(left)?;
    match name {
        "reason" => tail.reason = tail.reason.or(Some(text)),
        _ => tail.message = Some(text),
    }
    Some(tail)
}

/// Skips the spaces in front of a group. `None` when something else stands there.
fn next_group(text: &str) -> Option<&str> {
    let left = text.trim_start_matches(' ');
    (left.is_empty() || left.starts_with('[')).then_some(left)
}

/// `[policy:NAME engine:ENGINE]`, with named values where some versions put them.
fn rule<'a>(text: &'a str, tail: &mut Tail<'a>) -> Option<&'a str> {
    let end = memchr::memchr(b']', text.as_bytes())?;
    let inner = text.get("[policy:".len()..end)?;
    let (name, more) = match inner.split_once(" engine:") {
        Some((name, more)) => (name, Some(more)),
        None => (inner, None),
    };
    tail.rule = (name != "-" && !name.is_empty()).then_some(name);
    if let Some(more) = more {
        let (engine, values) = super::word(more);
        tail.engine = (!engine.is_empty()).then_some(engine);
        values_only(values, &mut tail.attributes)?;
    }
    Some(&text[end + 1..])
}

/// `k:v k:v`, to the end.
fn values_only<'a>(text: &'a str, into: &mut Attributes<'a>) -> Option<()> {
    for token in text.split(' ').filter(|token| !token.is_empty()) {
        let (key, value) = named_value(token)?;
        into.push(
            key,
            Spelled {
                text: value,
                spelling: Spelling::Context,
            },
        );
    }
    Some(())
}

fn is_last_text(text: &str) -> bool {
    text.starts_with("[reason:") || text.starts_with("[msg:")
}

/// `[reason:TEXT]` or `[msg:TEXT]`: the text is not escaped, so it reaches to the line's last `]`.
fn last_text(text: &str) -> Option<(&str, &str)> {
    let inner = text
        .strip_prefix('[')?
        .trim_end_matches(' ')
        .strip_suffix(']')?;
    let (name, text) = inner.split_once(':')?;
    matches!(name, "reason" | "msg").then_some((name, text))
}

/// `[k:v k:v reason:TEXT]`: values are escaped and hold no spaces; the reason is not, and is last.
fn context<'a>(text: &'a str, tail: &mut Tail<'a>) -> Option<&'a str> {
    let mut left = text.strip_prefix('[')?;
    loop {
        if let Some(reason) = left.strip_prefix("reason:") {
            tail.reason = Some(reason.trim_end_matches(' ').strip_suffix(']')?);
            return Some("");
        }
        let (key, value, end) = pair(left)?;
        tail.attributes.push(key, value);
        match end {
            (b']', rest) => return Some(rest),
            (_, rest) => left = rest,
        }
    }
}

/// What ends a value, and what follows.
type End<'a> = (u8, &'a str);

/// `key:value` in the escaped spelling, up to a space or a `]` that is not escaped.
fn pair(text: &str) -> Option<(&str, Spelled<'_>, End<'_>)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let end = loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            end @ (b' ' | b']') => break *end,
            _ => at += 1,
        }
    };
    let (key, value) = named_value(&text[..at])?;
    let value = Spelled {
        text: value,
        spelling: Spelling::Context,
    };
    Some((key, value, (end, &text[at + 1..])))
}

/// `key:value`.
pub(crate) fn named_value(token: &str) -> Option<(&str, &str)> {
    let key: IResult<&str, &str> =
        terminated(take_till1(|c| c == ':' || c == ' '), tag(":")).parse(token);
    key.ok().map(|(value, key)| (key, value))
}

/// `[k:v k:v]` from `text`'s start to its end, every value in the escaped spelling.
pub(super) fn whole_context(text: &str) -> Option<Attributes<'_>> {
    let mut tail = Tail::default();
    let rest = context(text, &mut tail)?;
    let is_whole = rest.trim_end_matches(' ').is_empty() && tail.reason.is_none();
    is_whole.then_some(tail.attributes)
}

/// The last ` [k:v …]` group at the end of `text`: the text before it, and its inside.
pub(super) fn last_group(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix(']')?;
    let open = inner.rfind('[')?;
    let before = match &inner[..open] {
        "" => "",
        before => before.strip_suffix(' ')?,
    };
    Some((before, &inner[open + 1..]))
}

/// The insides of the groups that `text` ends with, the last one first.
pub(crate) fn trailing_groups(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text;
    std::iter::from_fn(move || {
        let (before, inner) = last_group(left)?;
        left = before;
        Some(inner)
    })
}
