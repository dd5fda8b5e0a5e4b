//! API: `[Status] [model] [via provider] [Nms] [operation]`.

use super::{broken, word};
use crate::escape::Spelling;
use crate::fields::{Body, Fields, Spelled};

const STATUSES: [&str; 4] = ["Unknown", "Success", "Failure", "Other"];

pub(super) fn read<'a>(rest: &'a str, fields: &mut Fields<'a>) {
    if parts(rest, fields).is_none() {
        broken(rest, fields, Body::Broken);
    }
}

/// Model, provider and operation are escaped and hold no spaces, so words are parts.
fn parts<'a>(rest: &'a str, fields: &mut Fields<'a>) -> Option<()> {
    let rest = rest.trim_matches(' ');
    let (mut left, operation) = operation(rest.strip_suffix(']')?)?;
    let mut found: [(&str, Option<&str>); 4] = [
        ("status", None),
        ("model", None),
        ("provider", None),
        ("latency_ms", None),
    ];
    let (first, after) = word(left);
    if STATUSES.contains(&first) {
        found[0].1 = Some(first);
        left = after;
    }
    let (first, after) = word(left);
    if !first.is_empty() && first != "via" && millis(first, after).is_none() {
        found[1].1 = Some(first);
        left = after;
    }
    if let ("via", after) = word(left) {
        let (provider, after) = word(after);
        found[2].1 = Some(provider).filter(|provider| !provider.is_empty());
        left = after;
    }
    if let ((first, ""), false) = (word(left), left.is_empty()) {
        found[3].1 = Some(millis(first, "")?);
        left = "";
    }
    if !left.is_empty() {
        return None;
    }
    for (key, text) in found {
        if let Some(text) = text {
            fields.attributes.push(
                key,
                Spelled {
                    text,
                    spelling: Spelling::Context,
                },
            );
        }
    }
    fields.attributes.push(
        "operation",
        Spelled {
            text: operation,
            spelling: Spelling::Context,
        },
    );
    Some(())
}

/// What stands before the operation, and the operation. A bracket in a part is escaped, so that the
/// first one behind a space opens it.
fn operation(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(operation) => Some(("", operation)),
        None => text.split_once(" ["),
    }
}

/// The digits of `Nms`, when it is the last word.
fn millis<'a>(word: &'a str, after: &str) -> Option<&'a str> {
    let digits = word.strip_suffix("ms")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && after.is_empty()).then_some(digits)
}
