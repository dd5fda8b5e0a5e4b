//! What a gateway holds, whichever generation shows it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Microseconds since 1970, by this machine's clock: the journal's observed times are of the same one.
pub type Moment = i64;

/// Now.
pub fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Moment::try_from(since.as_micros()).unwrap()
}

/// The two shapes of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generation {
    /// Up to 0.0.116: sandboxes by id, no cursors.
    Old,
    /// 0.1.0 and later: sandboxes by name, cursors.
    New,
}

impl Generation {
    /// The generation of a released version.
    pub fn of(version: &str) -> Generation {
        match version.strip_prefix("0.0.") {
            Some(_) => Generation::Old,
            None => Generation::New,
        }
    }
}

/// One log line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    /// The writer's clock in milliseconds; none is an absent `event_time`, which the old wire shows as 0.
    pub time_ms: Option<i64>,
    /// `OCSF`, `ERROR`, `WARN`, `INFO`, `DEBUG`, `TRACE`.
    pub level: String,
    /// `ocsf` or a module path.
    pub target: String,
    /// The text.
    pub message: String,
    /// `sandbox`, `gateway`, or empty for the gateway.
    pub source: String,
    /// Fields of a tracing line.
    pub fields: BTreeMap<String, String>,
}

impl Default for Line {
    fn default() -> Line {
        Line::ocsf("")
    }
}

impl Line {
    /// A decision line of the sandbox, written now.
    pub fn ocsf(message: impl Into<String>) -> Line {
        Line {
            time_ms: Some(now() / 1000),
            level: "OCSF".into(),
            target: "ocsf".into(),
            message: message.into(),
            source: "sandbox".into(),
            fields: BTreeMap::new(),
        }
    }

    /// A tracing line of the sandbox, written now.
    pub fn tracing(level: &str, target: &str, message: impl Into<String>) -> Line {
        Line {
            level: level.into(),
            target: target.into(),
            ..Line::ocsf(message)
        }
    }

    /// The same line, written at `time_ms`.
    #[must_use]
    pub fn at(self, time_ms: i64) -> Line {
        Line {
            time_ms: Some(time_ms),
            ..self
        }
    }

    /// The same line, spoken by `source`.
    #[must_use]
    pub fn from(self, source: &str) -> Line {
        Line {
            source: source.into(),
            ..self
        }
    }

    /// Who speaks: an empty source is the gateway.
    pub fn spoken_by(&self) -> &str {
        match self.source.as_str() {
            "" => "gateway",
            source => source,
        }
    }

    /// The line as `openshell logs` prints it.
    pub fn cli_text(&self) -> String {
        let ms = self.time_ms.unwrap_or(0);
        let mut text = format!(
            "[{}.{:03}] [{:<7}] [{:<5}] [{}] {}",
            ms / 1000,
            ms % 1000,
            self.spoken_by(),
            self.level,
            self.target,
            self.message
        );
        for (key, value) in &self.fields {
            let _ = write!(text, " {key}={value}");
        }
        text
    }
}

/// An event of the platform that runs the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlatformEvent {
    /// The platform's clock in milliseconds.
    pub time_ms: Option<i64>,
    /// Who reports.
    pub source: String,
    /// `Normal` or `Warning`.
    pub kind: String,
    /// Why, in one word.
    pub reason: String,
    /// The text.
    pub message: String,
}

impl Default for PlatformEvent {
    fn default() -> PlatformEvent {
        PlatformEvent::new("Scheduled", "")
    }
}

impl PlatformEvent {
    /// An event of now.
    pub fn new(reason: &str, message: impl Into<String>) -> PlatformEvent {
        PlatformEvent {
            time_ms: Some(now() / 1000),
            source: "kubelet".into(),
            kind: "Normal".into(),
            reason: reason.into(),
            message: message.into(),
        }
    }
}

/// A sandbox's phase, by its number on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the wire's words")]
pub enum Phase {
    Provisioning = 1,
    Ready = 2,
    Error = 3,
    Deleting = 4,
    Unknown = 5,
    Stopping = 6,
    Stopped = 7,
    Starting = 8,
    Completed = 9,
}

impl Phase {
    /// Whether `stop_on_terminal` ends a watch here.
    pub fn is_terminal(self, generation: Generation) -> bool {
        match generation {
            Generation::Old => self == Phase::Ready,
            Generation::New => matches!(
                self,
                Phase::Ready | Phase::Completed | Phase::Stopped | Phase::Error
            ),
        }
    }
}

/// A sandbox's record: in the gateway's database, so it outlives a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// The UUID.
    pub id: String,
    /// The name, which another sandbox can get after this one is deleted.
    pub name: String,
    /// Whose it is.
    pub workspace: String,
    /// What selectors look at.
    pub labels: BTreeMap<String, String>,
    /// What it does.
    pub phase: Phase,
    /// The policy's version.
    pub policy_version: u32,
    /// When it was made, in milliseconds.
    pub created_ms: i64,
}

/// A random UUID.
pub(super) fn uuid() -> String {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).unwrap();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_prints_as_the_command_line_prints_it() {
        let line = Line::ocsf("NET:OPEN [INFO] ALLOWED x").at(1_775_014_132_018);
        assert_eq!(
            line.cli_text(),
            "[1775014132.018] [sandbox] [OCSF ] [ocsf] NET:OPEN [INFO] ALLOWED x"
        );
        let mut line = Line::tracing("INFO", "a::b", "hello").at(5).from("");
        line.fields.insert("b".into(), "2".into());
        line.fields.insert("a".into(), "1".into());
        assert_eq!(
            line.cli_text(),
            "[0.005] [gateway] [INFO ] [a::b] hello a=1 b=2"
        );
    }

    #[test]
    fn versions_belong_to_generations() {
        assert_eq!(Generation::of("0.0.116"), Generation::Old);
        assert_eq!(Generation::of("0.1.0"), Generation::New);
    }
}
