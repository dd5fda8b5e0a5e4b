//! The shorthand of OCSF events, the grammar of every class, read into borrowed [`Fields`].
//!
//! `CLASS:ACTIVITY [SEV]` and, for NET, HTTP and SSH, the ACTION come before any text that a sandbox
//! can choose: they are certain. What follows is read only where it can be read in one way; else the
//! fields say so and the text is kept as their message.

mod address;
mod api;
mod connection;
mod event;
mod finding;
mod group;
mod head;
mod process;
mod request;
mod trailing;
mod words;

use boundlane_record::{Action, ClassTag};

use crate::fields::{Body, Class, Fields, Spelled};
use crate::scan;
pub(crate) use group::{named_value, trailing_groups};
pub(crate) use head::Head;

/// Reads the event behind `head` into `fields`, which are empty. (They are large: to return them would
/// copy them on every line.)
pub(crate) fn read<'a>(head: Head<'a>, fields: &mut Fields<'a>) {
    parse(head, fields);
    if fields.body != Body::Clear
        && let Some(without) = trailing::parse_without_trailing_fields(head)
    {
        *fields = without;
    }
}

fn parse<'a>(head: Head<'a>, fields: &mut Fields<'a>) {
    fields.class = head.class;
    fields.activity = head.activity;
    fields.severity = Some(head.severity);
    let Class::Known(tag) = head.class else {
        fields.message = text(head.rest);
        return;
    };
    match tag {
        ClassTag::Net => connection::read(head.rest, fields),
        ClassTag::Http => request::read(head.word, head.rest, fields),
        ClassTag::Ssh => connection::read_ssh(head.rest, fields),
        ClassTag::Api => api::read(head.rest, fields),
        ClassTag::Proc => process::read(head.rest, fields),
        ClassTag::Finding => finding::read(head.word, head.rest, fields),
        ClassTag::Lifecycle => event::lifecycle(head.rest, fields),
        ClassTag::Config => event::config(head.rest, fields),
        ClassTag::Event => event::event(head.rest, fields),
    }
}

/// `text` as a message; nothing when there is none.
fn text(text: &str) -> Option<Spelled<'_>> {
    (!text.is_empty()).then(|| Spelled::plain(text))
}

/// An ACTION at the start of `text`, and what follows it.
#[inline]
fn action(text: &str) -> (Option<Action>, &str) {
    let (action, len) = match text.as_bytes() {
        [b'A', b'L', b'L', b'O', b'W', b'E', b'D', ..] => (Action::Allowed, 7),
        [b'D', b'E', b'N', b'I', b'E', b'D', ..] => (Action::Denied, 6),
        [b'A'..=b'Z', ..] => {
            let (word, rest) = word(text);
            let action = words::action(word);
            return (action, if action.is_some() { rest } else { text });
        }
        _ => return (None, text),
    };
    match text.as_bytes().get(len) {
        None => (Some(action), ""),
        Some(b' ') => (Some(action), without_spaces(&text[len + 1..])),
        Some(_) => (None, text),
    }
}

/// The first word of `text`, and what follows it and its spaces.
#[inline]
fn word(text: &str) -> (&str, &str) {
    match scan::find(b' ', text) {
        Some(end) => (&text[..end], without_spaces(&text[end + 1..])),
        None => (text, ""),
    }
}

/// `text` without the spaces in front.
#[inline]
pub(crate) fn without_spaces(text: &str) -> &str {
    match text.as_bytes() {
        [b' ', ..] => text.trim_start_matches(' '),
        _ => text,
    }
}

/// The body cannot be read: its text is the message.
fn broken<'a>(rest: &'a str, fields: &mut Fields<'a>, body: Body) {
    fields.body = body;
    fields.message = text(rest);
}
