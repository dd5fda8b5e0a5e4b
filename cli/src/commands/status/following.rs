//! Who follows which gateway, as far as it says so.

use boundlane_record::Micros;
use serde_json::{Value, json};

use super::Status;
use super::screen::named;
use crate::context::Context;
use crate::exit::Outcome;
use crate::forwarder::Forwarder;
use crate::forwarder::file::{Found, NAME};
use crate::output::out::Out;
use crate::text::clock::Clock;
use crate::text::escape::visible;
use crate::time::rfc3339;

/// Prints three lines.
pub(super) fn print(status: &Status, ctx: &Context, out: &mut Out) -> Outcome<()> {
    let clock = Clock::new(ctx.zone.as_ref(), status.now);
    let at = |micros: i64| format!("{}{}", clock.shown(Micros(micros)), clock.header());
    named("forwarder", &forwarder(&status.following, &at), out)?;
    let gateway = match &status.following {
        Found::Running(running) => gateway(running, status.now, &at),
        Found::Silent { .. } => "not known".to_owned(),
        Found::Nobody | Found::LeftBehind { .. } => "not known: nobody follows".to_owned(),
    };
    named("gateway", &gateway, out)?;
    named("server", "not enrolled", out)
}

fn forwarder(following: &Found, at: &dyn Fn(i64) -> String) -> String {
    match following {
        Found::Nobody => "not running".to_owned(),
        Found::LeftBehind { pid } => {
            format!("not running; `{NAME}` of process {pid} is left, and ignored")
        }
        Found::Silent { pid, why } => format!("process {pid} follows; {why}"),
        Found::Running(running) => {
            let sandboxes = match running.sandboxes {
                Some(listed) => format!("{} of {} sandboxes", listed.selected, listed.all),
                None => "sandboxes that are not listed yet".to_owned(),
            };
            let refused = match running.refused {
                0 => String::new(),
                refused => format!(", {refused} refused"),
            };
            format!(
                "process {} follows {sandboxes} ({} attached{refused}) since {}",
                running.pid,
                running.attached,
                at(running.since().0)
            )
        }
    }
}

fn gateway(running: &Forwarder, now: Micros, at: &dyn Fn(i64) -> String) -> String {
    let gateway = &running.gateway;
    if gateway.endpoint.is_empty() {
        return "not asked yet".to_owned();
    }
    let words = gateway.words();
    let name = visible(&words);
    let answered = |micros: i64| {
        let seconds = now.0.saturating_sub(micros).max(0) / 1_000_000;
        format!("answered {seconds} s ago")
    };
    match (&gateway.trouble, gateway.answered) {
        (None, Some(answered_at)) => format!("{name}, {}", answered(answered_at)),
        (None, None) => format!("{name}, not asked yet"),
        (Some(trouble), last) => format!(
            "{name}: {} since {}{}",
            visible(&trouble.why),
            at(trouble.since),
            last.map_or(String::new(), |last| format!("; {}", answered(last)))
        ),
    }
}

/// The same facts; what is not known is absent.
pub(super) fn document(following: &Found) -> Value {
    let note = match following {
        Found::Silent { why, .. } => Some(why.clone()),
        Found::LeftBehind { pid } => Some(format!("`{NAME}` of process {pid} is ignored")),
        Found::Nobody | Found::Running(_) => None,
    };
    let pid = match following {
        Found::Running(running) => Some(running.pid),
        Found::Silent { pid, .. } => Some(*pid),
        Found::Nobody | Found::LeftBehind { .. } => None,
    };
    let running = following.running();
    json!({
        "running": following.is_somebody(),
        "pid": pid,
        "note": note,
        "since": running.map(|running| rfc3339(running.since())),
        "sandboxes": running.and_then(|running| running.sandboxes).map(|listed| listed.all),
        "selected": running.and_then(|running| running.sandboxes).map(|listed| listed.selected),
        "attached": running.map(|running| running.attached),
        "refused": running.map(|running| running.refused),
        "archiving_failed": running.map(|running| running.archiving_failed),
        "gateway": running.map(|running| json!({
            "name": running.gateway.name,
            "endpoint": running.gateway.endpoint,
            "reachable": running.is_gateway_up(),
            "answered": running.gateway.answered.map(|at| rfc3339(Micros(at))),
            "trouble": running.gateway.trouble.as_ref().map(|trouble| json!({
                "why": trouble.why,
                "not_allowed": trouble.is_refusal,
                "since": rfc3339(Micros(trouble.since)),
            })),
        })),
    })
}
