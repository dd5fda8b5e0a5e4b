//! LIFECYCLE, CONFIG and EVENT: free text, and named values at its end.

use super::{group, text};
use crate::escape::Spelling;
use crate::fields::{Fields, Spelled};

const STATUSES: [&str; 4] = ["success", "failure", "unknown", "other"];

/// What CONFIG prints behind its message, in this order.
const CONFIG_KEYS: [&str; 6] = [
    "auto",
    "source",
    "prover_delta",
    "resolved_from",
    "version",
    "hash",
];

/// EVENT prints at most this many.
const EVENT_VALUES_MAX: usize = 3;

/// `app [status]`; the app's name may hold spaces.
pub(super) fn lifecycle<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let rest = rest.trim_end_matches(' ');
    fields.message = text(rest);
    let (app, status) = match rest.rsplit_once(' ') {
        Some((app, status)) if STATUSES.contains(&status) => (app, Some(status)),
        _ => (rest, None),
    };
    for (key, value) in [("app", text(app)), ("status", status.map(Spelled::plain))] {
        if let Some(value) = value {
            fields.attributes.push(key, value);
        }
    }
}

/// Messages end in a group of their own, so only the last group can be the suffix, and only when
/// all its keys are the suffix's.
pub(super) fn config<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let mut allowed = CONFIG_KEYS.iter();
    suffix(rest, fields, Spelling::Context, |key| {
        allowed.any(|known| *known == key)
    });
}

/// The suffix holds one to three values in the order of their keys.
pub(super) fn event<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    let mut last = "";
    let mut count = 0;
    suffix(rest, fields, Spelling::Plain, |key| {
        count += 1;
        let fits = count <= EVENT_VALUES_MAX && key > last && is_key(key);
        last = key;
        fits
    });
}

fn is_key(key: &str) -> bool {
    key.bytes().all(|byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.')
    })
}

/// Splits the suffix off when `fits` takes all its keys; else all of `rest` is the message.
fn suffix<'a>(
    rest: &'a str,
    fields: &mut Fields<'a>,
    spelling: Spelling,
    mut fits: impl FnMut(&'a str) -> bool,
) {
    fields.message = text(rest);
    let Some((message, inner)) = group::last_group(rest) else {
        return;
    };
    let fit = inner
        .split(' ')
        .all(|token| group::named_value(token).is_some_and(|(key, _)| fits(key)));
    if !fit {
        return;
    }
    fields.message = text(message);
    for (key, value) in inner.split(' ').filter_map(group::named_value) {
        fields.attributes.push(
            key,
            Spelled {
                text: value,
                spelling,
            },
        );
    }
}
