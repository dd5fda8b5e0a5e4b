//! Lines as sandboxes say them, each with a host that no other line has.

use crate::gateway::{Line, now};

use super::random::Random;

/// Makes lines.
#[derive(Debug, Default)]
pub struct Lines {
    made: u64,
}

impl Lines {
    /// The next line: mostly decisions, some events, one tracing line in sixteen.
    pub fn next(&mut self, random: &mut Random) -> Line {
        self.made += 1;
        let n = self.made;
        let pid = random.within(1..40_000);
        match random.below(16) {
            0 => Line::tracing(
                "INFO",
                "openshell_sandbox::proxy",
                format!("keepalive of h-{n}.example.net answered"),
            ),
            1 => Line::ocsf(format!(
                "CONFIG:LOADED [INFO] Policy reloaded for h-{n}.example.net [policy_hash:0cc0c2b525573c07]"
            )),
            2..=4 => Line::ocsf(format!(
                "HTTP:GET [INFO] ALLOWED /usr/bin/curl({pid}) -> GET \
                 http://h-{n}.example.net:443/v1/items [policy:api engine:l7]"
            )),
            5..=8 => Line::ocsf(format!(
                "NET:OPEN [MED] DENIED /usr/bin/node({pid}) -> h-{n}.example.net:443/tcp \
                 [policy:- engine:opa] [reason:endpoint h-{n}.example.net:443 is not allowed by any policy]"
            )),
            _ => Line::ocsf(format!(
                "NET:OPEN [INFO] ALLOWED /usr/bin/curl({pid}) -> h-{n}.example.net:443/tcp \
                 [policy:web engine:opa]"
            )),
        }
    }

    /// So many lines.
    pub fn some(&mut self, count: usize, random: &mut Random) -> Vec<Line> {
        (0..count).map(|_| self.next(random)).collect()
    }

    /// The same line so many times, in one millisecond: as a loop that retries at once says it.
    pub fn same(&mut self, count: usize) -> Vec<Line> {
        self.made += 1;
        let line = Line::ocsf(format!(
            "NET:REFUSE [MED] DENIED node(7) -> h-{}.example.net:443/tcp [policy:- engine:opa]",
            self.made
        ));
        vec![line.at(now() / 1000); count]
    }

    /// A decision line: the last word of a sandbox, by which its end in the journal is known.
    pub fn last(&mut self) -> Line {
        self.made += 1;
        Line::ocsf(format!(
            "NET:OPEN [INFO] ALLOWED last(1) -> h-{}.example.net:443/tcp [policy:web engine:opa]",
            self.made
        ))
    }
}

/// Whether a follower stores the line: it passes over tracing, and counts it.
pub fn is_stored(line: &Line) -> bool {
    line.level == "OCSF"
}
