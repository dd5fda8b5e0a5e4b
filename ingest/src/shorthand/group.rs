//! The bracketed groups at the end of an event: rule, reason, message, named values.

use super::without_spaces;
use crate::escape::Spelling;
use crate::fields::{Attributes, Spelled};
use crate::scan;

/// What the groups behind a destination say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tail<'a> {
    pub(super) rule: Option<&'a str>,
    pub(super) engine: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    pub(super) message: Option<&'a str>,
    /// Named values in the rule's group, and in a group of their own.
    pub(super) values: [&'a str; 2],
}

impl<'a> Tail<'a> {
    /// Adds the named values to `attributes`.
    #[inline]
    pub(super) fn name_values(&self, attributes: &mut Attributes<'a>) {
        for values in self.values.iter().filter(|values| !values.is_empty()) {
            for (key, value) in values.split(' ').filter_map(named_value) {
                attributes.push(
                    key,
                    Spelled {
                        text: value,
                        spelling: Spelling::Context,
                    },
                );
            }
        }
    }
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
    match last_text(left)? {
        LastText::Reason(text) => tail.reason = tail.reason.or(Some(text)),
        LastText::Message(text) => tail.message = Some(text),
    }
    Some(tail)
}

/// Skips the spaces in front of a group. `None` when something else stands there.
fn next_group(text: &str) -> Option<&str> {
    let left = without_spaces(text);
    (left.is_empty() || left.starts_with('[')).then_some(left)
}

/// `[policy:NAME engine:ENGINE]`, with named values where some versions put them.
fn rule<'a>(text: &'a str, tail: &mut Tail<'a>) -> Option<&'a str> {
    let end = scan::find(b']', text)?;
    let inner = text.get("[policy:".len()..end)?;
    let (name, more) = split_engine(inner);
    tail.rule = (name != "-" && !name.is_empty()).then_some(name);
    let (engine, values) = super::word(more);
    tail.engine = (!engine.is_empty()).then_some(engine);
    let all_named = |values: &str| values.split(' ').all(|token| named_value(token).is_some());
    if !values.is_empty() && !all_named(values) {
        return None;
    }
    tail.values[0] = values;
    Some(&text[end + 1..])
}

/// The rule's name, and what follows ` engine:`. A name may hold spaces.
fn split_engine(inner: &str) -> (&str, &str) {
    let mut from = 0;
    while let Some(found) = scan::find(b' ', &inner[from..]) {
        let at = from + found;
        if let Some(more) = inner[at + 1..].strip_prefix("engine:") {
            return (&inner[..at], more);
        }
        from = at + 1;
    }
    (inner, "")
}

fn is_last_text(text: &str) -> bool {
    text.starts_with("[reason:") || text.starts_with("[msg:")
}

/// The group that may hold anything.
enum LastText<'a> {
    Reason(&'a str),
    Message(&'a str),
}

/// `[reason:TEXT]` or `[msg:TEXT]`: the text is not escaped, so it reaches to the line's last `]`.
fn last_text(text: &str) -> Option<LastText<'_>> {
    let inner = text
        .strip_prefix('[')?
        .trim_end_matches(' ')
        .strip_suffix(']')?;
    match inner.strip_prefix("reason:") {
        Some(reason) => Some(LastText::Reason(reason)),
        None => inner.strip_prefix("msg:").map(LastText::Message),
    }
}

/// `[k:v k:v reason:TEXT]`: values are escaped and hold no spaces; the reason is not, and is last.
fn context<'a>(text: &'a str, tail: &mut Tail<'a>) -> Option<&'a str> {
    let inner = text.strip_prefix('[')?;
    let mut at = 0;
    loop {
        if let Some(reason) = inner[at..].strip_prefix("reason:") {
            tail.values[1] = inner[..at].trim_end_matches(' ');
            tail.reason = Some(reason.trim_end_matches(' ').strip_suffix(']')?);
            return Some("");
        }
        let len = value_len(&inner[at..])?;
        named_value(&inner[at..at + len])?;
        at += len;
        if inner.as_bytes()[at] == b']' {
            tail.values[1] = &inner[..at];
            return Some(&inner[at + 1..]);
        }
        at += 1;
    }
}

/// How long a named value in the escaped spelling is: up to a space or a `]` that is not escaped.
fn value_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'\\' if matches!(bytes.get(at + 1), Some(b'\\' | b'[' | b']')) => at += 2,
            b' ' | b']' => return Some(at),
            _ => at += 1,
        }
    }
}

/// `key:value`.
pub(crate) fn named_value(token: &str) -> Option<(&str, &str)> {
    let end = scan::find(b':', token).filter(|end| *end > 0)?;
    Some((&token[..end], &token[end + 1..]))
}

/// `[k:v k:v]` from `text`'s start to its end, every value in the escaped spelling.
pub(super) fn whole_context(text: &str) -> Option<Attributes<'_>> {
    let mut tail = Tail::default();
    let rest = context(text, &mut tail)?;
    let is_whole = rest.trim_end_matches(' ').is_empty() && tail.reason.is_none();
    let mut attributes = Attributes::default();
    tail.name_values(&mut attributes);
    is_whole.then_some(attributes)
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
