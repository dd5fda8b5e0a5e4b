//! PROC: `name(pid) [exit:N] [cmd:TEXT]`.

use super::connection::{Actor, Ways, actors};
use super::{broken, without_spaces};
use crate::fields::{Fields, Spelled};

#[derive(Debug, Clone, Copy)]
struct Reading<'a> {
    actor: Actor<'a>,
    exit: Option<&'a str>,
    command: Option<&'a str>,
}

/// Name and command are as the sandbox chose them, so every `(digits)` is tried.
pub(super) fn read<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let rest = without_spaces(rest);
    let mut ways = Ways::none();
    for (actor, groups) in actors(rest) {
        ways.add(reading(actor, groups));
    }
    match ways.only() {
        Ok(reading) => fill(reading, fields),
        Err(body) => broken(rest, fields, body),
    }
}

fn fill<'a>(reading: &Reading<'a>, fields: &mut Fields<'a>) {
    reading.actor.fill(fields);
    for (key, value) in [("exit", reading.exit), ("cmd", reading.command)] {
        if let Some(value) = value {
            fields.attributes.push(key, Spelled::plain(value));
        }
    }
}

fn reading<'a>(actor: Actor<'a>, groups: &'a str) -> Option<Reading<'a>> {
    let mut left = groups.trim_matches(' ');
    let mut exit = None;
    if let Some(inner) = left.strip_prefix("[exit:") {
        let (code, rest) = inner.split_once(']')?;
        let digits = code.strip_prefix('-').unwrap_or(code);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        exit = Some(is_number.then_some(code)?);
        left = without_spaces(rest);
    }
    let command = match left {
        "" => None,
        _ => Some(left.strip_prefix("[cmd:")?.strip_suffix(']')?),
    };
    Some(Reading {
        actor,
        exit,
        command,
    })
}
