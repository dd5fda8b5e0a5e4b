//! One entry in the words of a table.

use std::borrow::Cow;

use boundlane_record::{Extent, GapCause, Kind, Outcome, Row};

use crate::text::colour::Tone;
use crate::time::rfc3339;

/// The column `action`: the outcome, or what kind of line it is.
pub(crate) fn action<'r>(row: &'r Row<'_>) -> (Tone, Cow<'r, str>) {
    if let Some(outcome) = row.outcome.as_deref() {
        let tone = match Outcome::from_word(outcome) {
            Some(Outcome::Allowed) => Tone::Good,
            Some(Outcome::Denied) => Tone::Bad,
            Some(Outcome::Reset | Outcome::WouldDeny) => Tone::Warning,
            _ => Tone::Plain,
        };
        return (tone, Cow::Borrowed(outcome));
    }
    match (
        row.class_tag.as_deref(),
        row.activity.as_deref(),
        row.kind.as_deref(),
    ) {
        (Some(class), Some(activity), _) => (Tone::Dim, Cow::Owned(format!("{class}:{activity}"))),
        (Some(word), None, _) | (None, _, Some(word)) => (Tone::Dim, Cow::Borrowed(word)),
        (None, _, None) => (Tone::Dim, Cow::Borrowed("")),
    }
}

/// The column `process`: the base name, which is what people look for.
pub(crate) fn process<'r>(row: &'r Row<'_>) -> &'r str {
    let path = row.process.as_deref().unwrap_or_default();
    path.rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or(path)
}

/// The column `destination`: where to, or what the line says when it is not about a destination.
pub(crate) fn destination(row: &Row<'_>) -> String {
    let target = match (row.destination.as_deref(), row.host.as_deref(), row.port) {
        (Some(printed), ..) => Some(printed.to_owned()),
        (None, Some(host), Some(port)) if host.contains(':') => Some(format!("[{host}]:{port}")),
        (None, Some(host), Some(port)) => Some(format!("{host}:{port}")),
        (None, Some(host), None) => Some(host.to_owned()),
        (None, None, _) => None,
    };
    let is_unparsed = row.kind.as_deref() == Some(Kind::Unparsed.word());
    let text = match (row.method.as_deref(), target, row.message.as_deref()) {
        (Some(method), Some(target), _) => format!("{method} {target}"),
        (None, Some(target), _) => target,
        (_, None, Some(message)) => message.to_owned(),
        (_, None, None) if is_unparsed => row.raw.as_deref().unwrap_or_default().to_owned(),
        (_, None, None) => String::new(),
    };
    if row.continuation == Some(true) {
        return format!("{text} [may continue the record before]");
    }
    text
}

/// A loss as a sentence: how many, what happened to them, why, when.
pub(crate) fn loss(row: &Row<'_>) -> String {
    let extent = Extent::from_columns(row.extent.as_deref(), row.count);
    let cause = row.cause.as_deref().unwrap_or("unknown cause");
    let lines = if extent == Extent::Exact(1) {
        "line"
    } else {
        "lines"
    };
    let mut sentence = match row.kind.as_deref().and_then(Kind::from_word) {
        Some(Kind::Drops) => format!("{extent} {lines} shed here ({cause})"),
        Some(Kind::Rejected) => format!("refused by the receiver ({cause})"),
        _ if cause == GapCause::Damaged.word() => {
            let why = row
                .reason
                .as_deref()
                .map(|why| format!(": {why}"))
                .unwrap_or_default();
            let entries = match extent {
                Extent::Unknown => "an unknown number".to_owned(),
                known => known.to_string(),
            };
            format!("{entries} of the record's entries cannot be read{why}")
        }
        _ => format!("{extent} {lines} never reached us ({cause})"),
    };
    if let Some(denied) = row.denied.filter(|denied| *denied > 0) {
        sentence.push_str(&format!(", {denied} of them denials"));
    }
    match (row.from, row.to) {
        (Some(from), Some(to)) => {
            sentence.push_str(&format!(", from {} to {}", rfc3339(from), rfc3339(to)));
        }
        (Some(from), None) => sentence.push_str(&format!(", from {} on", rfc3339(from))),
        (None, Some(to)) => sentence.push_str(&format!(", up to {}", rfc3339(to))),
        (None, None) => {}
    }
    sentence
}

/// A session entry as a sentence.
pub(crate) fn session(row: &Row<'_>) -> String {
    let what = row.cause.as_deref().unwrap_or("session");
    let mut sentence = what.replace('_', " ");
    for part in [&row.source, &row.stream].into_iter().flatten() {
        sentence.push_str(&format!(" {part}"));
    }
    if let Some(count) = row.count {
        sentence.push_str(&format!(" ({count})"));
    }
    let evidence = row.evidence.as_deref().unwrap_or_default();
    let evidence: serde_json::Value = serde_json::from_str(evidence).unwrap_or_default();
    let doubt = &evidence["may_repeat"];
    if let (Some(stream), Some(byte)) = (doubt["stream"].as_str(), doubt["from_byte"].as_u64()) {
        sentence.push_str(&format!(
            ": from byte {byte} on it may repeat lines of {stream}"
        ));
    }
    if let Some(bytes) = evidence["confirmed_bytes"].as_u64() {
        sentence.push_str(&format!(
            ": it broke off, and no checksum confirms the lines from byte {bytes} on"
        ));
    }
    sentence
}

#[cfg(test)]
mod tests {
    use boundlane_record::Micros;

    use super::*;

    #[test]
    fn a_row_is_called_something_else() {
        let word = |outcome: &'static str| Row {
            outcome: Some(outcome.into()),
            ..Row::default()
        };
        assert_eq!(action(&word("allowed")), (Tone::Good, "allowed".into()));
        assert_eq!(action(&word("denied")), (Tone::Bad, "denied".into()));
        assert_eq!(action(&word("reset")), (Tone::Warning, "reset".into()));
        assert_eq!(action(&word("newer")), (Tone::Plain, "newer".into()));
        let event = Row {
            kind: Some("event".into()),
            class_tag: Some("CONFIG".into()),
            activity: Some("LOADED".into()),
            ..Row::default()
        };
        assert_eq!(action(&event), (Tone::Dim, "CONFIG:LOADED".into()));
        let unparsed = Row {
            kind: Some("unparsed".into()),
            ..Row::default()
        };
        assert_eq!(action(&unparsed), (Tone::Dim, "unparsed".into()));
    }

    #[test]
    fn a_process_is_shown_with_its_folders_or_not_at_all() {
        let named = |path: &'static str| Row {
            process: Some(path.into()),
            ..Row::default()
        };
        assert_eq!(process(&named("/usr/bin/curl")), "curl");
        assert_eq!(process(&named("curl")), "curl");
        assert_eq!(process(&named("/opt/my app/")), "my app");
        assert_eq!(process(&named("/")), "/");
        assert_eq!(process(&Row::default()), "");
    }

    #[test]
    fn a_destination_is_lost() {
        let host = |host: &'static str| Row {
            host: Some(host.into()),
            ..Row::default()
        };
        assert_eq!(
            destination(&Row {
                port: Some(443),
                ..host("pypi.org")
            }),
            "pypi.org:443"
        );
        assert_eq!(
            destination(&Row {
                port: Some(443),
                ..host("::1")
            }),
            "[::1]:443"
        );
        assert_eq!(destination(&host("pypi.org")), "pypi.org");
        let http = Row {
            method: Some("GET".into()),
            destination: Some("http://a/b".into()),
            ..Row::default()
        };
        assert_eq!(destination(&http), "GET http://a/b");
        let message = Row {
            message: Some("ready".into()),
            ..Row::default()
        };
        assert_eq!(destination(&message), "ready");
        let unparsed = Row {
            kind: Some("unparsed".into()),
            raw: Some("??".into()),
            ..Row::default()
        };
        assert_eq!(destination(&unparsed), "??");
        let rest = Row {
            continuation: Some(true),
            ..host("a")
        };
        assert_eq!(destination(&rest), "a [may continue the record before]");
    }

    #[test]
    fn a_loss_is_told_with_less_than_is_known() {
        let gap = Row {
            kind: Some("gap".into()),
            cause: Some("lagged".into()),
            extent: Some("at_most".into()),
            count: Some(12),
            from: Some(Micros(0)),
            ..Row::default()
        };
        let since = "1970-01-01T00:00:00.000000Z";
        assert_eq!(
            loss(&gap),
            format!("at most 12 lines never reached us (lagged), from {since} on")
        );
        let both = Row {
            to: Some(Micros(0)),
            ..gap.clone()
        };
        assert!(loss(&both).ends_with(&format!("from {since} to {since}")));
        let drops = Row {
            kind: Some("drops".into()),
            cause: Some("disk_full".into()),
            extent: Some("exact".into()),
            count: Some(1),
            denied: Some(1),
            ..Row::default()
        };
        assert_eq!(
            loss(&drops),
            "1 line shed here (disk_full), 1 of them denials"
        );
        let unknown = Row {
            kind: Some("gap".into()),
            ..Row::default()
        };
        assert_eq!(
            loss(&unknown),
            "an unknown number of lines never reached us (unknown cause)"
        );
    }

    #[test]
    fn a_session_entry_is_told_without_its_stream() {
        let row = Row {
            cause: Some("journal_start".into()),
            source: Some("import".into()),
            stream: Some("import/a/1".into()),
            count: Some(3),
            ..Row::default()
        };
        assert_eq!(session(&row), "journal start import import/a/1 (3)");
    }
}
