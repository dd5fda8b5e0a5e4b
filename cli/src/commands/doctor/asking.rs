//! The one conversation with the gateway: its version, its sandboxes, their newest lines.

use std::time::Duration;

use boundlane_gateway::{
    Client, Discover, GatewayError, Health, Identity, Limits, Sandbox, Selection, Surroundings,
    Target, discover,
};
use boundlane_record::Micros;

use crate::args::DoctorArgs;
use crate::context::wall_clock;
use crate::exit::{Failure, Outcome};

/// Sandboxes whose newest line is asked for.
const LINES_ASKED_MAX: usize = 20;
/// For a connection, and for each answer.
const ANSWER: Duration = Duration::from_secs(5);
/// For all newest lines together: a gateway that is slow is told by its first answers.
const LINES: Duration = Duration::from_secs(10);
/// Phases in which a sandbox says nothing more.
const OVER: [&str; 4] = ["deleting", "stopped", "completed", "error"];

/// Which gateway, and what it said.
pub(super) struct Asked {
    /// Its address, once it was found.
    pub(super) endpoint: Option<String>,
    pub(super) answer: Result<Answer, GatewayError>,
}

/// What a gateway that answers said.
pub(super) struct Answer {
    pub(super) identity: Identity,
    pub(super) health: Health,
    pub(super) workspace: String,
    pub(super) sandboxes: Result<Vec<Sandbox>, GatewayError>,
    pub(super) newest_line: Option<NewestLine>,
}

/// The newest line that the gateway holds of the sandboxes that were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NewestLine {
    /// When it was written, by the clock of who wrote it.
    pub(super) time: Micros,
    /// When it was received, by ours.
    pub(super) received: Micros,
}

impl Asked {
    /// Finds the gateway and asks it.
    ///
    /// # Errors
    /// Only when this machine refuses a thread or a socket to the runtime.
    pub(super) fn ask(args: &DoctorArgs, around: &dyn Surroundings) -> Outcome<Asked> {
        let wanted = Discover {
            gateway: args.gateway.as_deref(),
            workspace: args.workspace.as_deref(),
            ..Discover::default()
        };
        let target = match discover(&wanted, around) {
            Ok(target) => target,
            Err(error) => return Ok(Asked::unknown(error.into())),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::failed(format_args!("no runtime: {error}")))?;
        Ok(Asked {
            endpoint: Some(target.endpoint.clone()),
            answer: runtime.block_on(Answer::of(target)),
        })
    }

    fn unknown(error: GatewayError) -> Asked {
        Asked {
            endpoint: None,
            answer: Err(error),
        }
    }

    /// Whether the gateway is on this machine, `None` when none was found.
    pub(super) fn is_here(&self) -> Option<bool> {
        let host = self.endpoint.as_deref()?.split_once("://")?.1;
        let here = ["127.", "localhost:", "[::1]:"];
        Some(here.iter().any(|loopback| host.starts_with(loopback)))
    }

    /// Sandboxes that may say something; `None` when the gateway could not be asked.
    pub(super) fn live(&self) -> Option<usize> {
        let answer = self.answer.as_ref().ok()?;
        let sandboxes = answer.sandboxes.as_ref().ok()?;
        Some(sandboxes.iter().filter(|sandbox| is_live(sandbox)).count())
    }

    pub(super) fn newest_line(&self) -> Option<NewestLine> {
        self.answer.as_ref().ok()?.newest_line
    }
}

/// Whether a sandbox may say something.
pub(super) fn is_live(sandbox: &Sandbox) -> bool {
    !OVER.contains(&sandbox.phase)
}

impl Answer {
    async fn of(target: Target) -> Result<Answer, GatewayError> {
        let limits = Limits {
            connect: ANSWER,
            unary: ANSWER,
            ..Limits::default()
        };
        let workspace = target.workspace.clone();
        let client = Client::new(target, limits)?;
        let health = client.health().await?;
        let selection = Selection {
            workspace: Some(workspace.clone()),
            labels: None,
        };
        let sandboxes = client.sandboxes(&selection).await;
        let newest_line = match &sandboxes {
            Ok(sandboxes) => newest_line(&client, sandboxes).await,
            Err(_) => None,
        };
        Ok(Answer {
            identity: client.identity(),
            health,
            workspace,
            sandboxes,
            newest_line,
        })
    }
}

/// A sandbox that cannot be asked for its line says nothing about the clock: it is passed over.
async fn newest_line(client: &Client, sandboxes: &[Sandbox]) -> Option<NewestLine> {
    let mut newest: Option<NewestLine> = None;
    let asking = async {
        let live = sandboxes.iter().filter(|sandbox| is_live(sandbox));
        for sandbox in live.take(LINES_ASKED_MAX) {
            let Ok(snapshot) = client.snapshot(sandbox, 1).await else {
                continue;
            };
            let received = wall_clock();
            let times = snapshot.lines.iter().filter_map(|line| line.time);
            for time in times {
                if newest.is_none_or(|newest| time > newest.time) {
                    newest = Some(NewestLine { time, received });
                }
            }
        }
    };
    // What was learnt until then is enough.
    let _ = tokio::time::timeout(LINES, asking).await;
    newest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_elsewhere_is_taken_for_one_here() {
        let at = |endpoint: &str| {
            let asked = Asked {
                endpoint: Some(endpoint.to_owned()),
                ..Asked::unknown(GatewayError::TooLarge {
                    call: "x",
                    bytes_max: 1,
                })
            };
            asked.is_here()
        };
        for endpoint in [
            "https://127.0.0.1:17670",
            "http://localhost:80",
            "https://[::1]:443",
        ] {
            assert_eq!(at(endpoint), Some(true), "{endpoint}");
        }
        for endpoint in [
            "https://gateway.example:443",
            "https://localhost.example:443",
            "http://10.0.0.1:80",
        ] {
            assert_eq!(at(endpoint), Some(false), "{endpoint}");
        }
    }
}
