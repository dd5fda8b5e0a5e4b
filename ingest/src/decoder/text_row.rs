//! The row of a line of text.

use std::borrow::Cow;

use boundlane_record::redact::{FieldKind, Redactor, Spans};
use boundlane_record::{Disposition, Kind, Outcome, Row};

use super::redaction::{cut, cut_meant, find, find_meant};
use super::{Draft, Flags};
use crate::attributes::NamedValues;
use crate::fields::{Body, Class, Fields};
use crate::outcome::{self, Evidence};

/// Fills in what `fields` say, which are slices of `text`, without what `spans` has of it.
pub(super) fn fill<'a>(fields: &Fields<'a>, text: &'a str, spans: &Spans, draft: &mut Draft<'a>) {
    draft.outcome = outcome(fields);
    draft.kind = if draft.outcome.is_some() {
        Kind::Decision
    } else {
        Kind::Event
    };
    draft.flags = Flags::of(fields);
    fill_head(fields, text, spans, &mut draft.row);
    fill_body(fields, text, spans, &mut draft.row);
    draft.values = values(fields, text, spans);
    if draft.outcome == Some(Outcome::Reset) {
        draft.row.disposition = Some(Cow::Borrowed(Disposition::Reset.word()));
    }
}

/// Finds what must not be written of a line that could not be parsed, and keeps its head where it has
/// one.
pub(super) fn fill_unparsed<'a>(
    fields: &Fields<'a>,
    text: &'a str,
    redactor: &Redactor,
    spans: &mut Spans,
    draft: &mut Draft<'a>,
) {
    match text.trim_start().starts_with('{') {
        true => redactor.json(text, spans),
        false => redactor.line(text, spans),
    }
    fill_head(fields, text, spans, &mut draft.row);
}

fn outcome(fields: &Fields<'_>) -> Option<Outcome> {
    let action = fields.action.filter(|_| fields.is_decision())?;
    let is_certain = fields.body == Body::Clear;
    Some(outcome::of(Evidence {
        class: fields.tag(),
        action,
        reason: fields.reason.filter(|_| is_certain),
        audited: fields.audited && is_certain,
    }))
}

/// Finds what must not be written of a line and its `fields`.
pub(super) fn find_all(fields: &Fields<'_>, text: &str, redactor: &Redactor, spans: &mut Spans) {
    redactor.line(text, spans);
    let url = if fields.scheme.is_some() {
        fields.destination
    } else {
        fields.path
    };
    find(redactor, text, url, FieldKind::Url, spans);
    for attribute in fields.attributes.iter() {
        if attribute.key == "cmd" {
            find(
                redactor,
                text,
                Some(attribute.value.text),
                FieldKind::Command,
                spans,
            );
        }
        find_meant(redactor, text, attribute.key, attribute.value, spans);
    }
    if let Some(message) = fields.message {
        find_meant(redactor, text, "", message, spans);
    }
}

fn fill_head<'a>(fields: &Fields<'a>, text: &'a str, spans: &Spans, row: &mut Row<'a>) {
    match fields.class {
        Class::Known(tag) => {
            row.class = Some(Cow::Borrowed(tag.caption()));
            row.class_uid = Some(tag.uid());
            row.class_tag = Some(Cow::Borrowed(tag.word()));
        }
        Class::Unknown(word) => row.class_tag = Some(cut(text, word, spans)),
        Class::None => (),
    }
    row.activity = fields.activity.map(|word| cut(text, word, spans));
    row.severity = fields.severity.map(|word| cut(text, word, spans));
    row.action = fields.action.map(|action| Cow::Borrowed(action.word()));
    row.disposition = fields.disposition.map(|known| Cow::Borrowed(known.word()));
}

fn fill_body<'a>(fields: &Fields<'a>, text: &'a str, spans: &Spans, row: &mut Row<'a>) {
    let cut = |part: Option<&'a str>| part.map(|part| cut(text, part, spans));
    row.process = cut(fields.process);
    row.pid = fields.pid;
    row.host = cut(fields.host);
    row.port = fields.port;
    row.protocol = cut(fields.protocol);
    row.method = cut(fields.method);
    row.scheme = cut(fields.scheme);
    row.path = cut(fields.path);
    row.destination = cut(fields.destination);
    row.rule = cut(fields.rule);
    row.engine = cut(fields.engine);
    row.reason = cut(fields.reason);
    row.message = fields
        .message
        .map(|message| cut_meant(text, message, spans));
}

fn values<'a>(fields: &Fields<'a>, text: &'a str, spans: &Spans) -> NamedValues<'a> {
    let mut values = NamedValues::default();
    for attribute in fields.attributes.iter() {
        let name = crate::fields::Spelled {
            text: attribute.key,
            ..attribute.value
        };
        values.push(
            cut_meant(text, name, spans),
            cut_meant(text, attribute.value, spans),
        );
    }
    values
}
