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
        let ways = HttpWays::of(head_method, after);
        if !ways.best().is_none() {
            return settle(found, after, ways.best(), fields);
        }
    }
    let ways = HttpWays::of(head_method, rest);
    if ways.best().is_none() {
        // Neither reads: what is printed where an action stands is one.
        return settle(found, after, ways.best(), fields);
    }
    settle(None, rest, ways.best(), fields);
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

/// All readings of a text.
struct HttpWays<'a> {
    /// Those with a real URL or none.
    strict: Ways<Reading<'a>>,
    /// Those with something else in its place, as people write when they shorten a line.
    loose: Ways<Reading<'a>>,
}

impl<'a> HttpWays<'a> {
    fn of(method: &str, text: &'a str) -> HttpWays<'a> {
        let mut ways = HttpWays {
            strict: Ways::none(),
            loose: Ways::none(),
        };
        ways.add(request(method, None, text));
        for (number, (actor, rest)) in arrows(text).enumerate() {
            if number == ARROWS_MAX {
                ways.strict.stop();
                ways.loose.stop();
                break;
            }
            ways.add(request(method, Some(actor), rest));
        }
        ways
    }

    #[inline]
    fn add(&mut self, way: Option<Reading<'a>>) {
        let is_loose = |way: &Reading<'_>| way.url.is_none() && !way.printed.is_empty();
        match way.as_ref().is_some_and(is_loose) {
            true => self.loose.add(way),
            false => self.strict.add(way),
        }
    }

    /// The loose ones only where there is no other.
    fn best(&self) -> &Ways<Reading<'a>> {
        match self.strict.is_none() {
            true => &self.loose,
            false => &self.strict,
        }
    }
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
