//! NET and SSH: action, actor, destination, rule, reason.

use super::address::{self, Destination};
use super::group::{self, Groups, Tail};
use super::{action, broken, text, without_spaces, word};
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
#[derive(Debug, Clone, Copy, Default)]
struct Reading<'a> {
    actor: Option<Actor<'a>>,
    destination: Option<(&'a str, Destination<'a>)>,
    tail: Tail<'a>,
}

/// All ways to read a text, as far as it matters: none, one, or more than one.
#[derive(Debug)]
pub(super) struct Ways<T> {
    first: Option<T>,
    several: bool,
}

impl<T> Ways<T> {
    pub(super) const fn none() -> Ways<T> {
        Ways {
            first: None,
            several: false,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, way: Option<T>) {
        if self.first.is_none() {
            self.first = way;
        } else {
            self.several |= way.is_some();
        }
    }

    /// There may be more, which were not tried.
    pub(super) fn stop(&mut self) {
        self.several = true;
    }

    pub(super) fn is_none(&self) -> bool {
        self.first.is_none()
    }

    /// The one way.
    ///
    /// # Errors
    /// How much of the body can be read, when there is not exactly one.
    #[inline]
    pub(super) fn only(&self) -> Result<&T, Body> {
        match &self.first {
            None => Err(Body::Broken),
            Some(_) if self.several => Err(Body::Ambiguous),
            Some(way) => Ok(way),
        }
    }
}

/// A text with more places than this where a process could end is not tried further: somebody wants
/// it to be ambiguous, and so it is.
pub(super) const ARROWS_MAX: usize = 64;

pub(super) fn read<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let (action, rest) = action(without_spaces(rest));
    fields.action = action;
    match ways(rest).only() {
        Ok(reading) => fill(reading, fields),
        Err(body) => broken(rest, fields, body),
    }
}

fn fill<'a>(reading: &Reading<'a>, fields: &mut Fields<'a>) {
    if let Some((printed, destination)) = &reading.destination {
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
    fill_tail(&reading.tail, fields);
}

pub(super) fn fill_tail<'a>(tail: &Tail<'a>, fields: &mut Fields<'a>) {
    fields.rule = tail.rule;
    fields.engine = tail.engine;
    fields.reason = tail.reason;
    fields.message = tail.message.map(Spelled::plain);
    fields.audited = tail.message.is_some_and(outcome::is_audited);
    tail.name_values(&mut fields.attributes);
}

/// An executable may be called `curl(1) -> good.example:443`, so every place where a destination
/// could begin is tried, and one counts only when the text is used up by it and its groups.
fn ways(text: &str) -> Ways<Reading<'_>> {
    let mut ways = Ways::none();
    if text.is_empty() || text.starts_with('[') {
        ways.add(group::tail(text, Groups::Net).map(|tail| Reading {
            tail,
            ..Reading::default()
        }));
    }
    // Most texts begin with the path of an executable, and a host never does.
    if !text.starts_with('/') {
        ways.add(destination_and_tail(text, None));
    }
    for (number, (actor, rest)) in arrows(text).enumerate() {
        if number == ARROWS_MAX {
            ways.stop();
            break;
        }
        ways.add(destination_and_tail(rest, Some(actor)));
    }
    if ways.is_none() {
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

#[inline]
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
        Some((actor(before)?, without_spaces(rest)))
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
    let (action, rest) = action(without_spaces(rest));
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
