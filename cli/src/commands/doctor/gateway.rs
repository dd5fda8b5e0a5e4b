//! Whether the gateway answers, who it is, and whether it lets us read.

use boundlane_gateway::{GatewayError, Generation, Kind, Sandbox};

use super::asking::{Answer, Asked, is_live};
use super::finding::{Finding, Level, some_of};
use super::streams::Stream;
use crate::text::escape::visible;

const GATEWAY: &str = "gateway";
const SANDBOXES: &str = "sandboxes";

/// `recorded`: whether the journal has lines of a gateway, so that one belongs to this machine.
pub(super) fn reachable(asked: &Asked, recorded: bool) -> Finding {
    match &asked.answer {
        Ok(answer) => answered(answer),
        Err(error) if error.kind() == Kind::NotInstalled => not_installed(error, recorded),
        Err(error) => Finding::told(GATEWAY, Level::Error, &error.to_string()),
    }
}

fn not_installed(error: &GatewayError, recorded: bool) -> Finding {
    let message = error.to_string();
    let (what, fix) = message.split_once(": ").unwrap_or((&message, ""));
    match recorded {
        true => Finding::error(GATEWAY, format!("{what}, and the journal has lines of one")),
        false => Finding::note(GATEWAY, what),
    }
    .fix(fix)
}

fn answered(answer: &Answer) -> Finding {
    let identity = &answer.identity;
    let name = identity.name.as_deref().map(visible);
    let name = name.map(|name| format!(" (`{name}`)")).unwrap_or_default();
    let what = format!(
        "version {} at {}{name}, signed in by {}",
        visible(&answer.health.version),
        identity.endpoint,
        identity.authenticated
    );
    if identity.verification_skipped {
        return Finding::warning(
            GATEWAY,
            format!("{what}; its certificate is not verified: anyone can answer for it"),
        )
        .fix("unset `OPENSHELL_GATEWAY_INSECURE`");
    }
    if !matches!(answer.health.status, "healthy" | "unspecified") {
        return Finding::warning(
            GATEWAY,
            format!("{what}; it calls itself {}", answer.health.status),
        )
        .fix("look at the gateway's own log");
    }
    match answer.health.generation {
        Generation::New => Finding::ok(GATEWAY, what),
        Generation::Old => Finding::note(
            GATEWAY,
            format!(
                "{what}; it has no cursors: after a break the place is found by comparing lines"
            ),
        )
        .fix("a gateway from 0.1.0 on has them"),
    }
}

/// Whether its sandboxes may be listed, and which of them are in no stream of the record.
pub(super) fn sandboxes(asked: &Asked, streams: &[Stream]) -> Option<Finding> {
    let answer = asked.answer.as_ref().ok()?;
    let workspace = visible(&answer.workspace);
    let sandboxes = match &answer.sandboxes {
        Ok(sandboxes) => sandboxes,
        Err(error) => return Some(Finding::told(SANDBOXES, Level::Error, &error.to_string())),
    };
    let live: Vec<&Sandbox> = sandboxes.iter().filter(|one| is_live(one)).collect();
    let missing: Vec<&str> = live
        .iter()
        .filter(|one| !streams.iter().any(|stream| stream.sandbox_id == one.id))
        .map(|one| one.name.as_str())
        .collect();
    let what = format!(
        "{} in workspace `{workspace}`, {} of them live",
        sandboxes.len(),
        live.len()
    );
    Some(match missing.is_empty() {
        true => Finding::ok(SANDBOXES, what),
        false => Finding::note(
            SANDBOXES,
            format!(
                "{what}; no line of the record is from {}",
                some_of(missing.into_iter())
            ),
        )
        .fix("follow them with `boundlane forward --all`"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use boundlane_gateway::{DiscoverError, Health, Identity};

    use super::*;

    fn answer() -> Answer {
        let sandbox = |name: &str, phase| Sandbox {
            id: format!("id-{name}"),
            name: name.to_owned(),
            workspace: "default".to_owned(),
            created: None,
            deleting: None,
            labels: BTreeMap::new(),
            phase,
            policy_version: 0,
        };
        Answer {
            identity: Identity {
                endpoint: "https://127.0.0.1:17670".to_owned(),
                name: Some("local".to_owned()),
                version: Some("0.1.5".to_owned()),
                certificate_sha256: None,
                authenticated: "mtls",
                verification_skipped: false,
            },
            health: Health {
                status: "healthy",
                version: "0.1.5".to_owned(),
                generation: Generation::New,
            },
            workspace: "default".to_owned(),
            sandboxes: Ok(vec![sandbox("a", "ready"), sandbox("b", "stopped")]),
            newest_line: None,
        }
    }

    fn asked(answer: Result<Answer, GatewayError>) -> Asked {
        Asked {
            endpoint: None,
            answer,
        }
    }

    /// None is a note while nothing came from one, and an error once something did.
    #[test]
    fn a_machine_without_a_gateway_is_broken() {
        let none = || {
            asked(Err(GatewayError::Discover(DiscoverError::NotInstalled {
                looked: vec!["/x".into()],
            })))
        };
        let finding = reachable(&none(), false);
        assert_eq!(finding.level, Level::Note);
        assert_eq!(finding.what, "no gateway is known here, `/x` is not there");
        assert!(
            finding
                .fix
                .is_some_and(|fix| fix.starts_with("install OpenShell"))
        );
        assert_eq!(reachable(&none(), true).level, Level::Error);
        let down = asked(Err(GatewayError::NotRunning {
            endpoint: "http://x".to_owned(),
            why: "refused".to_owned(),
        }));
        let finding = reachable(&down, false);
        assert_eq!(finding.level, Level::Error);
        assert_eq!(
            finding.fix.as_deref(),
            Some("start it, or name another with `--gateway`")
        );
    }

    #[test]
    fn an_answer_hides_what_is_wrong_with_it() {
        assert_eq!(
            reachable(&asked(Ok(answer())), true),
            Finding::ok(
                "gateway",
                "version 0.1.5 at https://127.0.0.1:17670 (`local`), signed in by mtls"
            )
        );
        let level = |change: &dyn Fn(&mut Answer)| {
            let mut answer = answer();
            change(&mut answer);
            reachable(&asked(Ok(answer)), true).level
        };
        let skipped = |answer: &mut Answer| answer.identity.verification_skipped = true;
        assert_eq!(level(&skipped), Level::Warning);
        assert_eq!(
            level(&|answer| answer.health.status = "unhealthy"),
            Level::Warning
        );
        assert_eq!(
            level(&|answer| answer.health.generation = Generation::Old),
            Level::Note
        );
    }

    /// A live sandbox that nobody has read is named; a stopped one is not asked for.
    #[test]
    fn a_sandbox_is_missing_from_the_record() {
        let all = asked(Ok(answer()));
        let finding = sandboxes(&all, &[]);
        let what = finding.map(|finding| finding.what);
        assert_eq!(
            what.as_deref(),
            Some("2 in workspace `default`, 1 of them live; no line of the record is from `a`")
        );
        let recorded = Stream {
            sandbox_id: "id-a".to_owned(),
            ..Stream::default()
        };
        let finding = sandboxes(&all, &[recorded]);
        assert_eq!(finding.map(|finding| finding.level), Some(Level::Ok));
        let none = asked(Err(GatewayError::TooLarge {
            call: "x",
            bytes_max: 1,
        }));
        assert_eq!(sandboxes(&none, &[]), None);
    }
}
