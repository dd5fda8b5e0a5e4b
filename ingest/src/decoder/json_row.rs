//! The row of an OCSF JSON line.

mod named;
mod parts;

use std::borrow::Cow;

use boundlane_record::redact::{FieldKind, Redactor, Spans};
use boundlane_record::{Action, ClassTag, Disposition, Kind, Micros, Outcome, Row, Severity};

use super::Draft;
use crate::ocsf_json::{Event, Json};
use crate::outcome::{self, Evidence};
use parts::Parts;

/// Milliseconds of the last moment of the year 9999.
const LAST_MILLI: i64 = 253_402_300_799_999;

/// Fills in what `event` says, whose values are slices of `text`.
pub(super) fn fill<'a>(
    event: &Event<'a>,
    text: &'a str,
    redactor: &Redactor,
    spans: &mut Spans,
    draft: &mut Draft<'a>,
) {
    redactor.json(text, spans);
    draft.kind = Kind::Event;
    draft.framed = true;
    let tag = ClassTag::from_uid(event.class_uid);
    let mut reader = Reader {
        event,
        tag,
        parts: Parts {
            text,
            redactor,
            spans,
        },
        draft,
    };
    reader.head();
    reader.time();
    reader.place();
    reader.endpoint();
    reader.request();
    reader.rule();
    let reason_key = reader.texts();
    reader.decide();
    named::values(&mut reader, reason_key);
}

struct Reader<'a, 'r> {
    event: &'r Event<'a>,
    tag: Option<ClassTag>,
    parts: Parts<'a, 'r>,
    draft: &'r mut Draft<'a>,
}

impl<'a> Reader<'a, '_> {
    fn row(&mut self) -> &mut Row<'a> {
        &mut self.draft.row
    }

    fn text_at(&mut self, path: &[&str]) -> Option<Cow<'a, str>> {
        let value = self.event.at(path)?;
        self.parts
            .text(value, FieldKind::Text)
            .filter(|text| !text.is_empty())
    }

    /// A value that does not fit its column goes to the named ones.
    fn misfit(&mut self, name: &'static str, value: Json<'a>) {
        let value = self.parts.any(value);
        self.draft.values.push(Cow::Borrowed(name), value);
    }

    fn head(&mut self) {
        let class = self.text_at(&["class_name"]);
        match self.tag {
            Some(tag) => {
                self.row().class = Some(Cow::Borrowed(tag.caption()));
                self.row().class_tag = Some(Cow::Borrowed(tag.word()));
            }
            None => self.row().class = class,
        }
        match i32::try_from(self.event.class_uid) {
            Ok(uid) => self.row().class_uid = Some(uid),
            Err(_) => {
                if let Some(uid) = self.event.top.get("class_uid") {
                    self.misfit("class_uid", uid);
                }
            }
        }
        let state = match self.tag {
            Some(ClassTag::Config) => self.text_at(&["state"]),
            _ => None,
        };
        let activity = state.or_else(|| self.text_at(&["activity_name"]));
        self.row().activity = activity;
        let by_id = self
            .id("severity_id")
            .and_then(|id| captioned(Severity::ALL, Severity::id, id));
        let severity = by_id.map(|known| Cow::Borrowed(known.word()));
        self.row().severity = severity.or_else(|| self.text_at(&["severity"]));
        let disposition = self
            .id("disposition_id")
            .and_then(|id| captioned(Disposition::ALL, Disposition::id, id))
            .map(|known| Cow::Borrowed(known.word()));
        self.row().disposition = disposition.or_else(|| self.text_at(&["disposition"]));
    }

    fn id(&self, key: &str) -> Option<i64> {
        self.event.top.get(key)?.integer()
    }

    fn time(&mut self) {
        let Some(value) = self.event.top.get("time") else {
            return;
        };
        let millis = value.integer().filter(|millis| *millis <= LAST_MILLI);
        match millis.and_then(Micros::from_millis) {
            Some(moment) => self.row().time = Some(moment),
            None => self.misfit("time", value),
        }
    }

    /// Who spoke, and about which sandbox.
    fn place(&mut self) {
        self.draft.origin = Some(self.event.origin().word());
        let id = self
            .event
            .sandbox_id()
            .and_then(|id| self.parts.text(id, FieldKind::Text));
        if let Some(uid) = self.text_at(&["metadata", "uid"])
            && Some(&uid) != id.as_ref()
        {
            self.draft.values.push(Cow::Borrowed("event_uid"), uid);
        }
        self.row().sandbox_id = id;
        self.draft.stated = self.event.stated_sandbox();
    }

    fn endpoint(&mut self) {
        let (process, first, second) = match self.tag {
            Some(ClassTag::Proc) => (&["process"][..], "dst_endpoint", "src_endpoint"),
            Some(ClassTag::Ssh) => (&["actor", "process"][..], "src_endpoint", "dst_endpoint"),
            _ => (&["actor", "process"][..], "dst_endpoint", ""),
        };
        let process_key = |key| [process, &[key]].concat();
        let name = self.text_at(&process_key("name"));
        self.row().process = name;
        if let Some(pid) = self.event.at(&process_key("pid")) {
            match pid.integer().and_then(|pid| i32::try_from(pid).ok()) {
                Some(pid) => self.row().pid = Some(pid),
                None => self.misfit("pid", pid),
            }
        }
        let endpoint = if self.event.top.get(first).is_some() {
            first
        } else {
            second
        };
        let host = self
            .text_at(&[endpoint, "domain"])
            .or_else(|| self.text_at(&[endpoint, "hostname"]))
            .or_else(|| self.text_at(&[endpoint, "ip"]));
        self.row().host = host.map(without_brackets);
        self.port(&[endpoint, "port"]);
        let protocol = self.text_at(&["connection_info", "protocol_name"]);
        self.row().protocol = protocol;
        let row = self.row();
        row.destination = row.host.as_deref().map(|host| {
            let port = row.port.map(|port| format!(":{port}")).unwrap_or_default();
            let protocol = row
                .protocol
                .as_deref()
                .map(|word| format!("/{word}"))
                .unwrap_or_default();
            Cow::Owned(format!("{host}{port}{protocol}"))
        });
    }

    fn port(&mut self, path: &[&str]) {
        let Some(value) = self.event.at(path) else {
            return;
        };
        match value.integer().and_then(|port| u16::try_from(port).ok()) {
            Some(port) => self.row().port = Some(i32::from(port)),
            None => self.misfit("port", value),
        }
    }

    /// Method and URL; the URL spelled as the shorthand spells it.
    fn request(&mut self) {
        let method = self.text_at(&["http_request", "http_method"]);
        self.row().method = method;
        let url = |key| ["http_request", "url", key];
        let Some(scheme) = self.text_at(&url("scheme")) else {
            return;
        };
        if let Some(host) = self.text_at(&url("hostname")) {
            self.row().host = Some(without_brackets(host));
        }
        self.port(&url("port"));
        let path = self.event.at(&url("path"));
        let target = path
            .and_then(|path| self.parts.text(path, FieldKind::Url))
            .unwrap_or_default();
        let row = self.row();
        let host = row.host.as_deref().unwrap_or_default();
        let port = match (row.port, scheme.as_ref()) {
            (None, _) | (Some(80), "http") | (Some(443), "https") => String::new(),
            (Some(port), _) => format!(":{port}"),
        };
        row.destination = Some(Cow::Owned(format!("{scheme}://{host}{port}{target}")));
        row.scheme = Some(scheme);
        row.path = without_query(target);
    }

    fn rule(&mut self) {
        let rule = self.text_at(&["firewall_rule", "name"]);
        self.row().rule = rule.filter(|rule| rule != "-");
        let engine = self.text_at(&["firewall_rule", "type"]);
        self.row().engine = engine;
    }

    /// Action, reason and message. Gives the key that became the reason.
    fn texts(&mut self) -> Option<&'static str> {
        let word = self.text_at(&["action"]);
        let by_word = word.as_deref().and_then(action_of_caption);
        let by_id = self
            .id("action_id")
            .and_then(|id| captioned(Action::ALL, Action::id, id));
        let action = by_id.or(by_word).or(word.as_ref().map(|_| Action::Other));
        self.row().action = action.map(|action| Cow::Borrowed(action.word()));
        if let Some(word) = word.filter(|_| by_word.is_none()) {
            self.draft.values.push(Cow::Borrowed("action"), word);
        }
        let message = self.text_at(&["message"]);
        let title = match self.tag {
            Some(ClassTag::Finding) => self.text_at(&["finding_info", "title"]),
            _ => None,
        };
        if let (Some(title), Some(message)) = (&title, &message)
            && title != message
        {
            self.draft
                .values
                .push(Cow::Borrowed("message"), message.clone());
        }
        let reason = (action == Some(Action::Denied)).then(|| self.text_at(&["status_detail"]));
        let (key, reason) = match reason {
            Some(Some(detail)) => (Some("status_detail"), Some(detail)),
            Some(None) => (None, message.clone()),
            None => (None, None),
        };
        self.row().message = title.or(message);
        self.row().reason = reason;
        key
    }

    fn decide(&mut self) {
        let can_decide = matches!(
            self.tag,
            Some(ClassTag::Net | ClassTag::Http | ClassTag::Ssh)
        );
        let row = &mut self.draft.row;
        let action = row
            .action
            .as_deref()
            .and_then(Action::from_word)
            .filter(|_| can_decide);
        let Some(action) = action else { return };
        let outcome = outcome::of(Evidence {
            class: self.tag,
            action,
            reason: row.reason.as_deref(),
            audited: row.message.as_deref().is_some_and(outcome::is_audited),
        });
        if outcome == Outcome::Reset {
            row.disposition = Some(Cow::Borrowed(Disposition::Reset.word()));
        }
        self.draft.kind = Kind::Decision;
        self.draft.outcome = Some(outcome);
    }
}

/// The value of a fixed set whose OCSF number is `id`.
fn captioned<T: Copy>(all: &[T], number: fn(T) -> i32, id: i64) -> Option<T> {
    all.iter()
        .copied()
        .find(|value| i64::from(number(*value)) == id)
}

fn action_of_caption(word: &str) -> Option<Action> {
    Action::ALL
        .iter()
        .copied()
        .find(|action| action.word().eq_ignore_ascii_case(word))
}

fn without_brackets(host: Cow<'_, str>) -> Cow<'_, str> {
    match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(inner) => Cow::Owned(inner.to_owned()),
        None => host,
    }
}

fn without_query(target: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let end = target.find(['?', '#']).unwrap_or(target.len());
    let path = match target {
        Cow::Borrowed(target) => Cow::Borrowed(&target[..end]),
        Cow::Owned(mut target) => {
            target.truncate(end);
            Cow::Owned(target)
        }
    };
    (!path.is_empty()).then_some(path)
}
