//! What an OCSF event says beyond the columns, under the names that the shorthand gives it.

use std::borrow::Cow;

use boundlane_record::ClassTag;
use boundlane_record::redact::FieldKind;

use super::Reader;
use crate::ocsf_json::{Json, Object};

/// How many named values of one line are kept; the rest is in its raw text.
const VALUES_MAX: usize = 64;

/// Collects them in the order of the line's keys. `reason_key` became the reason already.
pub(super) fn values(reader: &mut Reader<'_, '_>, reason_key: Option<&str>) {
    let event = reader.event;
    for (key, value) in event.top.iter() {
        if value.is_null() || Some(key.as_ref()) == reason_key {
            continue;
        }
        match (key.as_ref(), value.object()) {
            ("unmapped", Some(object)) => unmapped(reader, &object),
            (key, Some(object)) => members(reader, key, &object),
            (key, None) => scalar(reader, key, value),
        }
    }
}

fn push<'a>(reader: &mut Reader<'a, '_>, name: Cow<'a, str>, value: Json<'a>) {
    if reader.draft.values.len() >= VALUES_MAX {
        reader.draft.flags.cut_field = true;
        return;
    }
    let value = reader.parts.any(value);
    reader.draft.values.push(name, value);
}

fn scalar<'a>(reader: &mut Reader<'a, '_>, key: &str, value: Json<'a>) {
    let name = match key {
        "auth_type" => "auth",
        "exit_code" => "exit",
        "confidence" => "confidence",
        "launch_type" => "launch_type",
        "protocol_ver" => "protocol_ver",
        "risk_level" => "risk_level",
        "security_level" => "security_level",
        "status" => "status",
        "status_detail" => "status_detail",
        "app" => "app",
        _ => return,
    };
    push(reader, Cow::Borrowed(name), value);
}

/// The members that are worth a name, of the objects that hold them.
fn members<'a>(reader: &mut Reader<'a, '_>, key: &str, object: &Object<'a>) {
    let wanted: &[(&str, &'static str)] = match (key, reader.tag) {
        ("ai_model", _) => &[("name", "model"), ("ai_provider", "provider")],
        ("api", _) => &[("operation", "operation"), ("version", "api_version")],
        ("app", _) => &[("name", "app")],
        ("finding_info", _) => &[("uid", "type"), ("desc", "desc")],
        ("http_response", _) => &[("code", "response_code")],
        ("remediation", _) => &[("desc", "remediation")],
        ("process", Some(ClassTag::Proc)) => &[],
        _ => &[],
    };
    for (member, name) in wanted {
        if let Some(value) = object.get(member) {
            push(reader, Cow::Borrowed(name), value);
        }
    }
    match key {
        "process" => command(reader, object.get("cmd_line")),
        "actor" => {
            let process = object.get("process").and_then(Json::object);
            command(reader, process.and_then(|process| process.get("cmd_line")));
        }
        _ => (),
    }
}

fn command<'a>(reader: &mut Reader<'a, '_>, line: Option<Json<'a>>) {
    let Some(line) = line else { return };
    if let Some(text) = reader.parts.text(line, FieldKind::Command) {
        reader.draft.values.push(Cow::Borrowed("cmd"), text);
    }
}

/// Whatever the gateway could not map, under its own names; nested values as their source.
fn unmapped<'a>(reader: &mut Reader<'a, '_>, object: &Object<'a>) {
    for (key, value) in object.iter() {
        if !value.is_null() {
            let name = reader.parts.key(key);
            push(reader, name, value);
        }
    }
}
