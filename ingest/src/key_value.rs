//! Decisions as the gateway printed them before its shorthand: `action=deny dst_host=…`,
//! `l7_decision=deny l7_target=…`, among the fields of a tracing line.

mod pairs;

use std::sync::LazyLock;

use boundlane_record::{Action, ClassTag};
use memchr::memmem;
use pairs::Pair;

use crate::fields::{Body, Class, Fields, Spelled};

type Finder = LazyLock<memmem::Finder<'static>>;

static L7_DECISION: Finder = LazyLock::new(|| memmem::Finder::new("l7_decision="));
static ACTION: Finder = LazyLock::new(|| memmem::Finder::new("action="));
static DST_HOST: Finder = LazyLock::new(|| memmem::Finder::new("dst_host="));

/// Reads a decision. `None` for any other text: neither `l7_decision=` nor `action=` with `dst_host=`.
pub(crate) fn read(text: &str) -> Option<Fields<'_>> {
    let has = |finder: &memmem::Finder<'_>| finder.find(text.as_bytes()).is_some();
    let may_hold = has(&L7_DECISION) || has(&ACTION) && has(&DST_HOST);
    if !may_hold {
        return None;
    }
    let mut reader = Reader::default();
    for pair in pairs::pairs(text) {
        reader.take(pair);
    }
    reader.finish(pairs::text_before(text))
}

#[derive(Debug, Default)]
struct Reader<'a> {
    fields: Fields<'a>,
    decided: Option<Decided>,
    is_l7: bool,
    twice: bool,
}

/// What the word behind the decision's key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decided {
    Plain(Action),
    /// Let through, and would have been denied.
    Audited,
}

fn decided(word: &str) -> Decided {
    match word {
        "deny" | "denied" | "block" | "blocked" => Decided::Plain(Action::Denied),
        "allow" | "allowed" => Decided::Plain(Action::Allowed),
        "audit" => Decided::Audited,
        "unknown" => Decided::Plain(Action::Unknown),
        _ => Decided::Plain(Action::Other),
    }
}

impl<'a> Reader<'a> {
    fn take(&mut self, pair: Pair<'a>) {
        let Pair { key, value, .. } = pair;
        match key {
            "l7_decision" => self.decide(true, pair),
            "action" => self.decide(false, pair),
            "dst_host" => self.once(value, |fields| &mut fields.host),
            "binary" => self.once(value, |fields| &mut fields.process),
            "l7_action" => self.once(value, |fields| &mut fields.method),
            "policy" | "l7_policy" => self.once(value, |fields| &mut fields.rule),
            "engine" => self.once(value, |fields| &mut fields.engine),
            "deny_reason" | "l7_deny_reason" | "reason" => {
                self.once(value, |fields| &mut fields.reason);
            }
            "l7_target" => {
                let end = value.find(['?', '#']).unwrap_or(value.len());
                self.once(&value[..end], |fields| &mut fields.path);
            }
            "dst_port" if self.fields.port.is_none() => self.fields.set_port(value),
            "binary_pid" | "pid" if self.fields.pid.is_none() => self.fields.set_pid(value),
            "dst_port" | "binary_pid" | "pid" => self.twice = true,
            _ => self.fields.attributes.push(key, pair.spelled()),
        }
    }

    /// Keeps a value. A key that comes twice was put there by somebody else: neither is believed.
    fn once(
        &mut self,
        value: &'a str,
        column: for<'f> fn(&'f mut Fields<'a>) -> &'f mut Option<&'a str>,
    ) {
        let place = column(&mut self.fields);
        self.twice |= place.is_some();
        *place = if place.is_some() {
            Some("")
        } else {
            Some(value)
        };
    }

    /// Of two decisions a denial holds, and an L7 decision over one about the connection.
    fn decide(&mut self, is_l7: bool, pair: Pair<'a>) {
        let decided = decided(pair.value);
        if decided == Decided::Plain(Action::Other) {
            self.fields.attributes.push(pair.key, pair.spelled());
        }
        let denies = decided == Decided::Plain(Action::Denied);
        let same_kind = self.is_l7 == is_l7;
        self.twice |= self.decided.is_some() && same_kind;
        if self.decided.is_none() || denies || (is_l7 && !same_kind) {
            self.decided = Some(decided);
        }
        self.is_l7 |= is_l7;
    }

    fn finish(mut self, before: &'a str) -> Option<Fields<'a>> {
        let decided = self.decided?;
        if !self.is_l7 && self.fields.host.is_none() {
            return None;
        }
        let fields = &mut self.fields;
        fields.class = Class::Known(if self.is_l7 {
            ClassTag::Http
        } else {
            ClassTag::Net
        });
        (fields.action, fields.audited) = match decided {
            Decided::Plain(action) => (Some(action), false),
            Decided::Audited => (Some(Action::Allowed), true),
        };
        for column in [
            &mut fields.host,
            &mut fields.process,
            &mut fields.method,
            &mut fields.rule,
            &mut fields.engine,
            &mut fields.reason,
            &mut fields.path,
        ] {
            *column = column.filter(|text| !text.is_empty());
        }
        fields.rule = fields.rule.filter(|rule| *rule != "-");
        fields.host = fields
            .host
            .map(|host| host.trim_start_matches('[').trim_end_matches(']'));
        fields.message = (!before.is_empty()).then(|| Spelled::plain(before));
        if self.twice {
            fields.body = Body::Ambiguous;
        }
        Some(self.fields)
    }
}
