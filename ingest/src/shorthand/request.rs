//! HTTP: action, actor, method, URL, rule, named values, reason.

use boundlane_record::Action;

use super::address::{self, Url};
use super::connection::{ARROWS_MAX, Actor, Ways, arrows, fill_tail};
use super::group::{self, Groups, Tail};
use super::{action, broken, without_spaces, word};
use crate::fields::{Body, Fields};

/// One way to read the text behind the action.
#[derive(Debug, Clone, Copy)]
struct Reading<'a> {
    actor: Option<Actor<'a>>,
    method: &'a str,
    printed: &'a str,
    url: Option<Url<'a>>,
    tail: Tail<'a>,
}

/// `head_method` is the token in `HTTP:TOKEN`. The client chose it, and it is printed once more in
/// front of the URL: that place tells an action from a method called like one.
pub(super) fn read<'a>(head_method: &'a str, rest: &'a str, fields: &mut Fields<'a>) {
    let rest = without_spaces(rest);
    let (found, after) = action(rest);
    if found.is_some() {
        let ways = ways(head_method, after);
        if !ways.is_none() {
            return settle(found, after, &ways, fields);
        }
    }
    let ways = ways(head_method, rest);
    if ways.is_none() {
        // Neither reads: what is printed where an action stands is one.
        return settle(found, after, &ways, fields);
    }
    settle(None, rest, &ways, fields);
}

fn settle<'a>(
    action: Option<Action>,
    rest: &'a str,
    ways: &Ways<Reading<'a>>,
    fields: &mut Fields<'a>,
) {
    fields.action = action;
    match ways.only() {
        Ok(reading) => fill(reading, fields),
        Err(body) => broken(rest, fields, body),
    }
}

fn fill<'a>(reading: &Reading<'a>, fields: &mut Fields<'a>) {
    fields.method = Some(reading.method);
    if !reading.printed.is_empty() {
        fields.destination = Some(reading.printed);
    }
    match &reading.url {
        Some(url) => fill_url(url, fields),
        None if reading.printed.is_empty() => (),
        None => fields.body = Body::Broken,
    }
    if let Some(actor) = reading.actor {
        actor.fill(fields);
    }
    fill_tail(&reading.tail, fields);
}

fn fill_url<'a>(url: &Url<'a>, fields: &mut Fields<'a>) {
    fields.scheme = Some(url.scheme);
    fields.host = Some(url.host);
    fields.path = url.path;
    if let Some(port) = url.port {
        fields.set_port(port);
    }
    if url.open {
        fields.body = Body::Ambiguous;
    }
}

/// Every reading with a real URL or none; where there is no such reading, those with something else in
/// its place, as people write when they shorten a line.
fn ways<'a>(method: &str, text: &'a str) -> Ways<Reading<'a>> {
    let mut strict = Ways::none();
    let mut loose = Ways::none();
    let direct = std::iter::once((None, text));
    let acted = arrows(text).map(|(actor, rest)| (Some(actor), rest));
    for (number, (actor, rest)) in direct.chain(acted).enumerate() {
        if number > ARROWS_MAX {
            strict.stop();
            loose.stop();
            break;
        }
        match request(method, actor, rest) {
            Some(reading) if reading.url.is_none() && !reading.printed.is_empty() => {
                loose.add(Some(reading));
            }
            reading => strict.add(reading),
        }
    }
    if strict.is_none() { loose } else { strict }
}

/// `METHOD [url] groups`.
fn request<'a>(method: &str, actor: Option<Actor<'a>>, text: &'a str) -> Option<Reading<'a>> {
    let (printed_method, rest) = word(text);
    if printed_method != method {
        return None;
    }
    let (printed, groups) = if rest.starts_with('[') {
        ("", rest)
    } else {
        word(rest)
    };
    let tail = group::tail(groups, Groups::Http)?;
    let url = address::url(printed);
    Some(Reading {
        actor,
        method: printed_method,
        printed,
        url,
        tail,
    })
}
