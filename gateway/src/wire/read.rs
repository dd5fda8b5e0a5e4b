//! Answers, read without regard to which generation filled them.

use boundlane_ingest::watch::{WatchEvent, WatchedLine};
use boundlane_record::Micros;
use prost_types::Timestamp;

use super::sandbox_stream_event::Payload;
use super::{ObjectMeta, SandboxLogLine, SandboxPhase, SandboxStreamEvent};
use crate::Sandbox;

impl From<SandboxStreamEvent> for WatchEvent {
    fn from(event: SandboxStreamEvent) -> WatchEvent {
        match event.payload {
            Some(Payload::Log(line)) => WatchEvent::Line(WatchedLine {
                cursor: event.cursor,
                ..line.into()
            }),
            Some(Payload::Warning(warning)) => WatchEvent::of_warning(warning.message),
            Some(Payload::Sandbox(_) | Payload::Event(_) | Payload::DraftPolicyUpdate(_))
            | None => WatchEvent::Other,
        }
    }
}

impl From<SandboxLogLine> for WatchedLine {
    fn from(line: SandboxLogLine) -> WatchedLine {
        WatchedLine {
            sandbox_id: line.sandbox_id,
            time: moment(line.event_time, line.timestamp_ms),
            level: line.level,
            target: line.target,
            message: line.message,
            source: line.source,
            fields: line.fields.into_iter().collect(),
            cursor: String::new(),
        }
    }
}

impl From<super::Sandbox> for Sandbox {
    fn from(sandbox: super::Sandbox) -> Sandbox {
        let meta: ObjectMeta = sandbox.metadata.unwrap_or_default();
        let (phase, policy_version) = match sandbox.status {
            Some(status) => (status.phase, status.current_policy_version),
            None => (sandbox.phase, sandbox.current_policy_version),
        };
        Sandbox {
            id: meta.id,
            name: meta.name,
            workspace: meta.workspace,
            created: moment(meta.created_time, meta.created_at_ms),
            deleting: moment(meta.deletion_time, meta.deletion_timestamp_ms),
            labels: meta.labels,
            phase: phase_word(phase),
            policy_version,
        }
    }
}

/// The newer field where there is one; in the older one 0 is what an absent field reads as.
fn moment(time: Option<Timestamp>, millis: i64) -> Option<Micros> {
    match time {
        Some(time) => time
            .seconds
            .checked_mul(1_000_000)?
            .checked_add(i64::from(time.nanos.div_euclid(1000)))
            .map(Micros),
        None if millis == 0 => None,
        None => Micros::from_millis(millis),
    }
}

fn phase_word(phase: i32) -> &'static str {
    match SandboxPhase::try_from(phase) {
        Ok(SandboxPhase::Unspecified) => "unspecified",
        Ok(SandboxPhase::Provisioning) => "provisioning",
        Ok(SandboxPhase::Ready) => "ready",
        Ok(SandboxPhase::Error) => "error",
        Ok(SandboxPhase::Deleting) => "deleting",
        Ok(SandboxPhase::Stopping) => "stopping",
        Ok(SandboxPhase::Stopped) => "stopped",
        Ok(SandboxPhase::Starting) => "starting",
        Ok(SandboxPhase::Completed) => "completed",
        Ok(SandboxPhase::Unknown) | Err(_) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both generations' times are read, the newer first, and none is invented.
    #[test]
    fn times_of_both_generations() {
        let at = |seconds, nanos| Some(Timestamp { seconds, nanos });
        for (time, millis, expected) in [
            (None, 0, None),
            (None, 1_500, Some(1_500_000)),
            (None, -1, Some(-1_000)),
            (None, i64::MAX, None),
            (at(0, 0), 7, Some(0)),
            (at(2, 999_999_999), 0, Some(2_999_999)),
            (at(-1, 500_000_000), 0, Some(-500_000)),
            (at(i64::MAX, 0), 7, None),
        ] {
            assert_eq!(
                moment(time, millis),
                expected.map(Micros),
                "{time:?} {millis}"
            );
        }
    }

    /// A phase that a newer gateway adds is no error.
    #[test]
    fn phases_of_both_layouts() {
        let status = |phase| super::super::SandboxStatus {
            phase,
            current_policy_version: 3,
        };
        let inner = super::super::Sandbox {
            status: Some(status(2)),
            ..Default::default()
        };
        let outer = super::super::Sandbox {
            phase: 2,
            current_policy_version: 3,
            ..Default::default()
        };
        for sandbox in [inner, outer] {
            let sandbox = Sandbox::from(sandbox);
            assert_eq!((sandbox.phase, sandbox.policy_version), ("ready", 3));
        }
        assert_eq!(phase_word(77), "unknown");
    }
}
