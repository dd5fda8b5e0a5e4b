//! NET and SSH: action, actor, destination, rule, reason.

use super::address::{self, Destination};
use super::group::{self, Groups, Tail};
use super::{action, broken, text, word};
use crate::fields::{Body, Fields, Spelled};
use crate::outcome;

/// The process in front of ` -> `.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) name: &'a str,
    pub(super) pid: &'a str,
}

impl<'a> Actor<'a> {
    pub(super) fn fill(self, fields: &mut Fields<'a>) {
        fields.process = Some(self.name);
        fields.set_pid(self.pid);
    }
}

/// One way to read the text behind the action.
#[derive(Debug, Clone, Default)]
struct Reading<'a> {
    actor: Option<Actor<'a>>,
    destination: Option<(&'a str, Destination<'a>)>,
    tail: Tail<'a>,
}

/// All ways to read a text, as far as it matters: none, one, or more than one.
#[derive(Debug)]
pub(super) enum Ways<T> {
    None,
    One(T),
    Several,
}

impl<T> Ways<T> {
    pub(super) fn add(&mut self, way: Option<T>) {
        let Some(way) = way else { return };
        *self = match self {
            Ways::None => Ways::One(way),
            _ => Ways::Several,
        };
    }
}

pub(super) fn read<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let (action, rest) = action(rest.trim_start_matches(' '));
    fields.action = action;
    match ways(rest) {
        Ways::One(reading) => fill(reading, fields),
        Ways::None => broken(rest, fields, Body::Broken),
        Ways::Several => broken(rest, fields, Body::Ambiguous),
    }
}

fn fill<'a>(reading: Reading<'a>, fields: &mut Fields<'a>) {
    if let Some((printed, destination)) = reading.destination {
        fields.destination = Some(printed);
        fields.host = Some(destination.host);
        fields.protocol = destination.protocol;
        if let Some(port) = destination.port {
            fields.set_port(port);
        }
    }
    if let Some(actor) = reading.actor {
        actor.fill(fields);
    }
    fill_tail(reading.tail, fields);
}

pub(super) fn fill_tail<'a>(tail: Tail<'a>, fields: &mut Fields<'a>) {
    fields.rule = tail.rule;
    fields.engine = tail.engine;
    fields.reason = tail.reason;
    fields.message = tail.message.map(Spelled::plain);
    fields.audited = tail.message.is_some_and(outcome::is_audited);
    for attribute in tail.attributes.iter() {
        fields.attributes.push(attribute.key, attribute.value);
    }
}

/// An executable may be called `curl(1) -> good.example:443`, so every place where a destination
/// could begin is tried, and one counts only when the text is used up by it and its groups.
fn ways(text: &str) -> Ways<Reading<'_>> {
    let mut ways = Ways::None;
    if text.is_empty() || text.starts_with('[') {
        ways.add(group::tail(text, Groups::Net).map(|tail| Reading {
            tail,
            ..Reading::default()
        }));
    }
    ways.add(destination_and_tail(text, None));
    for (actor, rest) in arrows(text) {
        ways.add(destination_and_tail(rest, Some(actor)));
    }
    if matches!(ways, Ways::None) {
        for (actor, rest) in actors(text) {
            let tail = group::tail(rest, Groups::Net);
            ways.add(tail.map(|tail| Reading {
                actor: Some(actor),
                tail,
                ..Reading::default()
            }));
        }
    }
    ways
}

fn destination_and_tail<'a>(text: &'a str, actor: Option<Actor<'a>>) -> Option<Reading<'a>> {
    let (printed, rest) = word(text);
    let destination = address::destination(printed)?;
    let tail = group::tail(rest, Groups::Net)?;
    Some(Reading {
        actor,
        destination: Some((printed, destination)),
        tail,
    })
}

/// Every `name(digits) -> ` in `text`, and what follows it.
#[inline]
pub(super) fn arrows(text: &str) -> impl Iterator<Item = (Actor<'_>, &str)> {
    memchr::memchr_iter(b'>', text.as_bytes()).filter_map(move |at| {
        let before = text.get(..at)?.strip_suffix(" -")?;
        let rest = text[at + 1..].strip_prefix(' ')?;
        Some((actor(before)?, rest.trim_start_matches(' ')))
    })
}

/// Every `name(digits)` in `text` that a space or the end follows, and what follows it.
pub(super) fn actors(text: &str) -> impl Iterator<Item = (Actor<'_>, &str)> {
    memchr::memchr_iter(b')', text.as_bytes()).filter_map(move |at| {
        let (before, rest) = text.split_at(at + 1);
        (rest.is_empty() || rest.starts_with(' ')).then_some((actor(before)?, rest))
    })
}

/// `name(digits)`, all of `text`.
fn actor(text: &str) -> Option<Actor<'_>> {
    let inner = text.strip_suffix(')')?;
    let digits = inner.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (front, pid) = inner.split_at(inner.len() - digits);
    let name = front.strip_suffix('(')?;
    (!pid.is_empty() && !name.is_empty()).then_some(Actor { name, pid })
}

/// `SSH:act [SEV] [ACTION] [host[:port]] [[auth:LABEL]]`.
pub(super) fn read_ssh<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let (action, rest) = action(rest.trim_start_matches(' '));
    fields.action = action;
    if ssh_peer(rest, fields).is_none() {
        broken(rest, fields, Body::Broken);
    }
}

fn ssh_peer<'a>(rest: &'a str, fields: &mut Fields<'a>) -> Option<()> {
    let (peer, group) = if rest.starts_with("[auth:") {
        ("", rest)
    } else {
        word(rest)
    };
    let label = match group {
        "" => None,
        _ => Some(
            group
                .strip_prefix("[auth:")?
                .trim_end_matches(' ')
                .strip_suffix(']')?,
        ),
    };
    if let Some(peer) = text(peer) {
        let found = address::destination(peer.text)?;
        fields.destination = Some(peer.text);
        fields.host = Some(found.host);
        if let Some(port) = found.port {
            fields.set_port(port);
        }
    }
    if let Some(label) = label {
        fields.attributes.push("auth", Spelled::plain(label));
    }
    Some(())
}
