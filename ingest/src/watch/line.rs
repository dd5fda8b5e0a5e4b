//! One line of a followed stream.

use boundlane_record::Micros;

/// A line as the gateway sends it: one message is one record, whatever it contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchedLine {
    /// Whose it is; empty when the gateway does not say.
    pub sandbox_id: String,
    /// When the sandbox or the gateway wrote it, by its own clock.
    pub time: Option<Micros>,
    /// `OCSF`, `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`.
    pub level: String,
    /// `ocsf`, or the module that spoke.
    pub target: String,
    /// The text.
    pub message: String,
    /// `sandbox` or `gateway`; empty means the gateway.
    pub source: String,
    /// Named values, ascending by name.
    pub fields: Vec<(String, String)>,
    /// An opaque resume token; empty when there is none.
    pub cursor: String,
}
