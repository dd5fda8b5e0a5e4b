//! Events as the gateway prints them: the grammar of every class, with names, commands, reasons and
//! messages that were chosen to be misread.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// What a row must say, unless it is flagged.
pub(super) type Columns = Vec<(&'static str, Option<String>)>;

/// One event: its text, what must be right about it always, and what must be right or flagged.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) text: String,
    pub(super) head: Columns,
    pub(super) body: Columns,
}

/// Pieces that end groups, begin destinations or look like actors; `|` stands between two.
const PIECES: &str = "/|a| |  |(1)|(|)|-| -> |GET |GET http://x.example/y|:443|good.example:443|\
    [policy:p engine:opa]| [policy:- engine:opa]| [policy:| [reason:|[reason:r]| [msg:|[msg:m]|]|[|\
    \\|\u{1b}[2J|é|\"|\t| [cmd:| [exit:0]|ALLOWED ";

/// Text that a sandbox could choose.
pub(super) fn hostile() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.split('|').collect();
    prop::collection::vec(select(pieces), 0..8).prop_map(|parts| parts.concat())
}

fn name() -> impl Strategy<Value = String> {
    hostile().prop_map(|text| format!("/{text}"))
}

fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_.-]{0,8}"
}

fn actor() -> impl Strategy<Value = Option<(String, u16)>> {
    option::of((name(), any::<u16>()))
}

/// (printed, host, port): every address has a port.
fn destination() -> impl Strategy<Value = (String, String, Option<u16>)> {
    let named = ("[a-s]{2,6}(\\.[a-z]{2,5}){0,2}", option::of(1u16..));
    let v4 = (any::<std::net::Ipv4Addr>(), 1u16..);
    let v6 = (any::<std::net::Ipv6Addr>(), 1u16..);
    prop_oneof![
        named.prop_map(|(host, port)| (with_port(&host, port), host, port)),
        v4.prop_map(|(host, port)| (format!("{host}:{port}"), host.to_string(), Some(port))),
        v6.prop_map(|(host, port)| (format!("{host}:{port}"), host.to_string(), Some(port))),
    ]
}

fn with_port(host: &str, port: Option<u16>) -> String {
    port.map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

fn rule() -> impl Strategy<Value = Option<(String, String)>> {
    option::of((prop_oneof![Just("-".to_owned()), word()], word()))
}

fn severity() -> impl Strategy<Value = (&'static str, &'static str)> {
    select(vec![
        ("INFO", "Informational"),
        ("LOW", "Low"),
        ("MED", "Medium"),
        ("CRIT", "Critical"),
    ])
}

fn action() -> impl Strategy<Value = Option<(&'static str, &'static str)>> {
    option::of(select(vec![
        ("ALLOWED", "Allowed"),
        ("DENIED", "Denied"),
        ("OTHER", "Other"),
        ("UNKNOWN", "Unknown"),
    ]))
}

fn some<T: ToString + ?Sized>(text: &T) -> Option<String> {
    Some(text.to_string())
}

fn head(
    tag: &'static str,
    severity: (&str, &str),
    action: Option<(&str, &'static str)>,
) -> Columns {
    let kind = if action.is_some() {
        "decision"
    } else {
        "event"
    };
    vec![
        ("kind", some(kind)),
        ("class_tag", some(tag)),
        ("severity", some(severity.1)),
        ("action", action.map(|action| action.1.to_owned())),
    ]
}

fn group_of_rule(rule: &Option<(String, String)>) -> String {
    rule.as_ref().map_or(String::new(), |(name, engine)| {
        format!(" [policy:{name} engine:{engine}]")
    })
}

fn rule_columns(rule: &Option<(String, String)>) -> Columns {
    let name = rule
        .as_ref()
        .map(|(name, _)| name.clone())
        .filter(|name| name != "-");
    vec![
        ("rule", name),
        ("engine", rule.as_ref().map(|(_, engine)| engine.clone())),
    ]
}

fn actor_columns(actor: &Option<(String, u16)>) -> Columns {
    let pid = actor.as_ref().map(|(_, pid)| pid.to_string());
    vec![
        ("process", actor.as_ref().map(|(name, _)| name.clone())),
        ("pid", pid),
    ]
}

fn net() -> impl Strategy<Value = Event> {
    let parts = (
        severity(),
        action(),
        actor(),
        option::of(destination()),
        rule(),
        option::of(hostile()),
    );
    parts.prop_map(|(severity, action, actor, destination, rule, reason)| {
        let actor = actor.filter(|_| destination.is_some());
        let mut text = format!("NET:OPEN [{}]", severity.0);
        text += &action.map_or(String::new(), |(word, _)| format!(" {word}"));
        if let Some((printed, ..)) = &destination {
            let actor = actor
                .as_ref()
                .map(|(name, pid)| format!("{name}({pid}) -> "));
            text += &format!(" {}{printed}", actor.unwrap_or_default());
        }
        text += &group_of_rule(&rule);
        let reason = reason.filter(|_| action.is_some_and(|(word, _)| word == "DENIED"));
        text += &reason
            .as_ref()
            .map_or(String::new(), |reason| format!(" [reason:{reason}]"));
        let port = destination.as_ref().and_then(|found| found.2);
        let mut body = vec![
            ("host", destination.as_ref().map(|found| found.1.clone())),
            ("port", port.map(|port| port.to_string())),
            ("reason", reason),
        ];
        body.extend(rule_columns(&rule));
        body.extend(actor_columns(&actor));
        Event {
            text,
            head: head("NET", severity, action),
            body,
        }
    })
}

fn http() -> impl Strategy<Value = Event> {
    let method = select(vec!["GET", "POST", "UNKNOWN", "DENIED", "ALLOWED", "x-odd"]);
    let url = option::of((
        select(vec!["http", "https"]),
        destination(),
        "(/[p-z0-9]{2,5}){1,3}",
    ));
    let values = prop::collection::vec((word(), word()), 0..3);
    let parts = (
        severity(),
        action(),
        actor(),
        method,
        url,
        rule(),
        values,
        option::of(hostile()),
    );
    parts.prop_map(
        |(severity, action, actor, method, url, rule, values, reason)| {
            let mut text = format!("HTTP:{method} [{}]", severity.0);
            text += &action.map_or(String::new(), |(word, _)| format!(" {word}"));
            text += &actor
                .as_ref()
                .map_or(String::new(), |(name, pid)| format!(" {name}({pid}) ->"));
            text += &format!(" {method} ");
            if let Some((scheme, (printed, ..), path)) = &url {
                text += &format!("{scheme}://{printed}{path}");
            }
            text += &group_of_rule(&rule);
            let reason = reason.filter(|_| action.is_some_and(|(word, _)| word == "DENIED"));
            let mut group: Vec<_> = values
                .iter()
                .map(|(key, value)| format!("{key}:{value}"))
                .collect();
            group.extend(reason.as_ref().map(|reason| format!("reason:{reason}")));
            if !group.is_empty() {
                text += &format!(" [{}]", group.join(" "));
            }
            let mut body = vec![
                ("method", some(method)),
                ("host", url.as_ref().map(|(_, found, _)| found.1.clone())),
                (
                    "scheme",
                    url.as_ref().map(|(scheme, ..)| scheme.to_string()),
                ),
                ("path", url.as_ref().map(|(.., path)| path.clone())),
                ("reason", reason),
            ];
            body.extend(rule_columns(&rule));
            body.extend(actor_columns(&actor));
            Event {
                text,
                head: head("HTTP", severity, action),
                body,
            }
        },
    )
}

fn ssh() -> impl Strategy<Value = Event> {
    let parts = (
        severity(),
        action(),
        option::of(destination()),
        option::of(word()),
    );
    parts.prop_map(|(severity, action, peer, label)| {
        let mut text = format!("SSH:OPEN [{}]", severity.0);
        text += &action.map_or(String::new(), |(word, _)| format!(" {word}"));
        text += &peer
            .as_ref()
            .map_or(String::new(), |(printed, ..)| format!(" {printed}"));
        text += &label
            .as_ref()
            .map_or(String::new(), |label| format!(" [auth:{label}]"));
        let body = vec![
            ("host", peer.map(|peer| peer.1)),
            (
                "attributes",
                label.map(|label| format!("{{\"auth\":\"{label}\"}}")),
            ),
        ];
        Event {
            text,
            head: head("SSH", severity, action),
            body,
        }
    })
}

fn process() -> impl Strategy<Value = Event> {
    let parts = (
        severity(),
        name(),
        any::<u16>(),
        option::of(any::<i8>()),
        option::of(hostile()),
    );
    parts.prop_map(|(severity, name, pid, exit, command)| {
        let mut text = format!("PROC:LAUNCH [{}] {name}({pid})", severity.0);
        text += &exit.map_or(String::new(), |code| format!(" [exit:{code}]"));
        text += &command
            .as_ref()
            .map_or(String::new(), |command| format!(" [cmd:{command}]"));
        let body = vec![("process", some(&name)), ("pid", some(&pid))];
        Event {
            text,
            head: head("PROC", severity, None),
            body,
        }
    })
}

/// `\`, brackets, whitespace and controls, escaped as context fields are.
fn context(text: &str) -> String {
    text.chars().fold(String::new(), |escaped, c| match c {
        '\\' | '[' | ']' => format!("{escaped}\\{c}"),
        c if c.is_whitespace() || c.is_control() => format!("{escaped}\\u{{{:x}}}", u32::from(c)),
        c => format!("{escaped}{c}"),
    })
}

fn title(text: &str) -> String {
    text.chars().fold(String::new(), |escaped, c| match c {
        '\\' | '"' => format!("{escaped}\\{c}"),
        '\t' => format!("{escaped}\\t"),
        c if c.is_control() => format!("{escaped}\\u{{{:x}}}", u32::from(c)),
        c => format!("{escaped}{c}"),
    })
}

fn finding() -> impl Strategy<Value = Event> {
    let parts = (
        severity(),
        hostile(),
        hostile(),
        select(vec!["BLOCKED", "CREATE", "NO ACTION"]),
    );
    parts.prop_map(|(severity, said, uid, what)| {
        let text = format!(
            "FINDING:{what} [{}] \"{}\" [type:{} confidence:high]",
            severity.0,
            title(&said),
            context(&uid)
        );
        let object = serde_json::json!({ "type": uid, "confidence": "high" });
        let body = vec![("message", some(&said)), ("attributes", some(&object))];
        Event {
            text,
            head: head("FINDING", severity, None),
            body,
        }
    })
}

fn api() -> impl Strategy<Value = Event> {
    let parts = (
        severity(),
        "x[a-z]{0,5}",
        hostile(),
        hostile(),
        any::<u16>(),
    );
    parts.prop_map(|(severity, model, provider, operation, latency)| {
        let provider = format!("p{provider}");
        let text = format!(
            "API:INFERENCE [{}] Success {model} via {} {latency}ms [{}]",
            severity.0,
            context(&provider),
            context(&operation)
        );
        let object = serde_json::json!({
            "status": "Success", "model": model, "provider": provider,
            "latency_ms": latency.to_string(), "operation": operation,
        });
        let body = vec![("attributes", some(&object))];
        Event {
            text,
            head: head("API", severity, None),
            body,
        }
    })
}

/// Classes that end in free text: what is read is the text again.
fn free() -> impl Strategy<Value = Event> {
    let class = select(vec![
        ("CONFIG", ":LOADED"),
        ("EVENT", ""),
        ("LIFECYCLE", ":START"),
        ("AUDIT", ":NEW"),
    ]);
    (severity(), class, hostile()).prop_map(|(severity, (tag, activity), said)| {
        let said = format!("x{said}");
        let text = format!("{tag}{activity} [{}] {said}", severity.0);
        Event {
            text,
            head: head(tag, severity, None),
            body: vec![("text", some(&said))],
        }
    })
}

/// Any event.
pub(super) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => net(), 4 => http(), 1 => ssh(), 2 => process(), 1 => finding(), 1 => api(), 2 => free(),
    ]
}
