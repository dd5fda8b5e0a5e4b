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
pub(crate) use group::{named_value, trailing_groups};
use head::Head;
pub(crate) use head::{begins, begins_with_class};
pub(crate) use words::{action_of_word, severity_of_letter};

/// The text has no `CLASS:ACTIVITY [SEV]` at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoHead;

/// Reads one event as OpenShell 0.0.25 and later print it.
///
/// # Errors
/// [`NoHead`]; anything else is read as far as it goes.
pub(crate) fn read(text: &str) -> Result<Fields<'_>, NoHead> {
    Ok(body(head::head(text).ok_or(NoHead)?))
}

/// Reads one event as the first shorthand printed it, from the class on.
///
/// # Errors
/// [`NoHead`], as [`read`].
pub(crate) fn read_letter<'a>(severity: &'a str, text: &'a str) -> Result<Fields<'a>, NoHead> {
    Ok(body(head::letter_head(severity, text).ok_or(NoHead)?))
}

fn body(head: Head<'_>) -> Fields<'_> {
    let fields = parse(head);
    if fields.body == Body::Clear {
        return fields;
    }
    trailing::parse_without_trailing_fields(head).unwrap_or(fields)
}

fn parse(head: Head<'_>) -> Fields<'_> {
    let mut fields = Fields {
        class: head.class,
        activity: head.activity,
        severity: Some(head.severity),
        ..Fields::default()
    };
    let Class::Known(tag) = head.class else {
        fields.message = text(head.rest);
        return fields;
    };
    match tag {
        ClassTag::Net => connection::read(head.rest, &mut fields),
        ClassTag::Http => request::read(head.word, head.rest, &mut fields),
        ClassTag::Ssh => connection::read_ssh(head.rest, &mut fields),
        ClassTag::Api => api::read(head.rest, &mut fields),
        ClassTag::Proc => process::read(head.rest, &mut fields),
        ClassTag::Finding => finding::read(head.word, head.rest, &mut fields),
        ClassTag::Lifecycle => event::lifecycle(head.rest, &mut fields),
        ClassTag::Config => event::config(head.rest, &mut fields),
        ClassTag::Event => event::event(head.rest, &mut fields),
    }
    fields
}

/// `text` as a message; nothing when there is none.
fn text(text: &str) -> Option<Spelled<'_>> {
    (!text.is_empty()).then(|| Spelled::plain(text))
}

/// An ACTION at the start of `text`, and what follows it.
fn action(text: &str) -> (Option<Action>, &str) {
    let (word, rest) = word(text);
    match action_of_word(word) {
        Some(action) => (Some(action), rest),
        None => (None, text),
    }
}

/// The first word of `text`, and what follows it and its spaces.
fn word(text: &str) -> (&str, &str) {
    match memchr::memchr(b' ', text.as_bytes()) {
        Some(end) => (&text[..end], text[end..].trim_start_matches(' ')),
        None => (text, ""),
    }
}

/// The body cannot be read: its text is the message.
fn broken<'a>(rest: &'a str, fields: &mut Fields<'a>, body: Body) {
    fields.body = body;
    fields.message = text(rest);
}
