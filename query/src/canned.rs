//! Questions with names. Each is one SQL statement over the views, which is printed on request and can
//! be changed from there. Columns are only added, at the end.

/// A question that is asked often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Canned {
    /// Lines that never reached us, and why.
    Gaps,
    /// Lines that we shed, and why.
    Drops,
    /// What was watched, from when to when.
    Sessions,
    /// What each host was allowed and denied.
    Hosts,
    /// Who was denied what, and why.
    Denied,
    /// What each rule decided.
    Rules,
    /// What each executable was allowed and denied.
    Processes,
    /// Changes of policy that were proposed, approved or rejected.
    Approvals,
    /// What is recorded of each sandbox, source by source.
    Sandboxes,
    /// Connections that were closed because the policy changed.
    Resets,
    /// Requests that change something elsewhere.
    Writes,
}

impl Canned {
    /// All of them, in the order of the help.
    pub const ALL: &'static [Canned] = &[
        Canned::Gaps,
        Canned::Drops,
        Canned::Sessions,
        Canned::Hosts,
        Canned::Denied,
        Canned::Rules,
        Canned::Processes,
        Canned::Approvals,
        Canned::Sandboxes,
        Canned::Resets,
        Canned::Writes,
    ];

    /// Its name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Canned::Gaps => "gaps",
            Canned::Drops => "drops",
            Canned::Sessions => "sessions",
            Canned::Hosts => "hosts",
            Canned::Denied => "denied",
            Canned::Rules => "rules",
            Canned::Processes => "processes",
            Canned::Approvals => "approvals",
            Canned::Sandboxes => "sandboxes",
            Canned::Resets => "resets",
            Canned::Writes => "writes",
        }
    }

    /// The question called `word`.
    pub fn from_word(word: &str) -> Option<Canned> {
        Canned::ALL
            .iter()
            .copied()
            .find(|canned| canned.word() == word)
    }

    /// What it answers, for the help.
    pub const fn about(self) -> &'static str {
        match self {
            Canned::Gaps => "lines that never reached this program, and why",
            Canned::Drops => "lines that this program shed, and why",
            Canned::Sessions => "what was watched, from when to when",
            Canned::Hosts => "what each host was allowed and denied",
            Canned::Denied => "who was denied what, and why",
            Canned::Rules => "what each rule decided",
            Canned::Processes => "what each executable was allowed and denied",
            Canned::Approvals => "policy changes proposed, approved or rejected",
            Canned::Sandboxes => "what is recorded of each sandbox, by source",
            Canned::Resets => "connections closed because the policy changed",
            Canned::Writes => "requests that change something elsewhere",
        }
    }

    /// Whether it counts decisions, and so must not count two testimonies about one sandbox.
    pub const fn counts_decisions(self) -> bool {
        matches!(
            self,
            Canned::Hosts
                | Canned::Denied
                | Canned::Rules
                | Canned::Processes
                | Canned::Resets
                | Canned::Writes
        )
    }

    /// Its SQL; `testimony` is the condition that leaves one source per sandbox.
    pub(crate) fn sql(self, testimony: &str) -> String {
        match self {
            Canned::Gaps => losses("gaps", ""),
            Canned::Drops => losses("drops", "denied, "),
            Canned::Sessions => SESSIONS.to_owned(),
            Canned::Hosts => by_outcome("host", testimony),
            Canned::Rules => by_outcome("rule", testimony),
            Canned::Processes => by_outcome("process", testimony),
            Canned::Denied => of_outcome("denied", testimony),
            Canned::Resets => of_outcome("reset", testimony),
            Canned::Approvals => APPROVALS.to_owned(),
            Canned::Sandboxes => sandboxes(),
            Canned::Writes => writes(testimony),
        }
    }
}

/// When a decision happened, or else when it was read.
const MOMENT: &str = "coalesce(time, observed)";

/// Counts by outcome; together they are all decisions.
const OUTCOMES: &str = "\
count(*) FILTER (WHERE outcome = 'allowed') AS allowed, \
count(*) FILTER (WHERE outcome = 'denied') AS denied, \
count(*) FILTER (WHERE outcome = 'reset') AS reset, \
count(*) FILTER (WHERE outcome IS NULL OR outcome NOT IN ('allowed', 'denied', 'reset')) AS other";

const SESSIONS: &str = "\
SELECT observed, sandbox, sandbox_id, source, cause, \"from\", \"to\", \"count\", evidence, journal, seq \
FROM sessions ORDER BY observed, journal, seq";

const APPROVALS: &str = "\
SELECT coalesce(time, observed) AS at, sandbox, sandbox_id, source, activity, message, \
policy_version, policy_hash, attributes, journal, seq \
FROM approvals ORDER BY at, journal, seq";

fn losses(view: &str, more: &str) -> String {
    format!(
        "SELECT \"from\", \"to\", sandbox, sandbox_id, source, cause, extent, \"count\", {more}observed, \
         evidence, journal, seq FROM {view} ORDER BY observed, journal, seq"
    )
}

fn span() -> String {
    format!("min({MOMENT}) AS first_seen, max({MOMENT}) AS last_seen")
}

fn by_outcome(column: &str, testimony: &str) -> String {
    format!(
        "SELECT {column}, {OUTCOMES}, count(DISTINCT coalesce(sandbox, sandbox_id)) AS sandboxes, {} \
         FROM decisions{} GROUP BY {column} ORDER BY denied DESC, allowed DESC, {column}",
        span(),
        filter(&[testimony]),
    )
}

fn of_outcome(outcome: &str, testimony: &str) -> String {
    format!(
        "SELECT process, host, port, rule, reason, count(*) AS decisions, \
         count(DISTINCT coalesce(sandbox, sandbox_id)) AS sandboxes, {} \
         FROM decisions{} GROUP BY process, host, port, rule, reason \
         ORDER BY decisions DESC, process, host, port, rule, reason",
        span(),
        filter(&[&format!("outcome = '{outcome}'"), testimony]),
    )
}

fn sandboxes() -> String {
    format!(
        "SELECT sandbox, sandbox_id, source, count(*) AS decisions, {OUTCOMES}, {} \
         FROM decisions GROUP BY sandbox, sandbox_id, source \
         ORDER BY last_seen DESC, sandbox, sandbox_id, source",
        span()
    )
}

fn writes(testimony: &str) -> String {
    format!(
        "SELECT method, host, process, outcome, count(*) AS decisions, \
         count(DISTINCT coalesce(sandbox, sandbox_id)) AS sandboxes, {} \
         FROM decisions{} GROUP BY method, host, process, outcome \
         ORDER BY decisions DESC, method, host, process, outcome",
        span(),
        filter(&["method IN ('POST', 'PUT', 'PATCH', 'DELETE')", testimony]),
    )
}

fn filter(conditions: &[&str]) -> String {
    let told: Vec<_> = conditions
        .iter()
        .filter(|condition| **condition != "TRUE")
        .copied()
        .collect();
    match told.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", told.join(" AND ")),
    }
}
