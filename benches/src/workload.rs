//! Seeded lines that look like a team's day: every class in realistic shares, repeated destinations,
//! a long tail of hosts and paths, a few hostile lines. The same seed gives the same bytes.

use std::fmt::Write;

/// A small seeded generator (SplitMix64): the same everywhere and for ever.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n.max(1)
    }

    /// One of `choices`, the first ones more often.
    pub fn skewed<'c, T: ?Sized>(&mut self, choices: &[&'c T]) -> &'c T {
        let most = choices.len() as u64;
        let at = self.below(most).min(self.below(most));
        choices[usize::try_from(at).unwrap_or(0)]
    }
}

const PROCESSES: &[&str] = &[
    "/usr/local/bin/node",
    "/usr/bin/curl",
    "/usr/bin/python3.12",
    "/usr/bin/git",
    "/usr/lib/git-core/git-remote-http",
    "/sandbox/.uv/python/cpython-3.14.3-linux-aarch64-gnu/bin/python3.14",
    "/usr/local/bin/claude",
    "/usr/bin/bash",
    "/opt/my app/bin (beta)/tool",
];

const HOSTS: &[&str] = &[
    "api.anthropic.com",
    "api.github.com",
    "github.com",
    "pypi.org",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "inference-api.nvidia.com",
    "objects.githubusercontent.com",
    "index.crates.io",
    "deb.debian.org",
];

const PATHS: &[&str] = &[
    "/v1/messages",
    "/repos/acme/checkout/pulls",
    "/simple/requests/",
    "/acme/checkout/git-upload-pack",
    "/v1/chat/completions",
    "/packages/3f/2e/urllib3-2.5.0-py3-none-any.whl",
    "/left-pad",
];

/// Lines of `openshell logs` text of one sandbox.
#[derive(Debug, Clone)]
pub struct Workload {
    dice: Dice,
    millis: u64,
}

impl Workload {
    /// The lines of `seed`, beginning on 2026-10-06.
    pub fn new(seed: u64) -> Workload {
        Workload {
            dice: Dice::new(seed),
            millis: 1_791_291_600_000,
        }
    }

    /// Appends the next line, with its newline.
    pub fn line(&mut self, out: &mut String) {
        self.millis += self.dice.below(4) * self.dice.below(90);
        let (secs, millis) = (self.millis / 1000, self.millis % 1000);
        let share = self.dice.below(1000);
        if share < 40 {
            let _ = write!(
                out,
                "[{secs}.{millis:03}] [sandbox] [INFO ] [openshell_supervisor] "
            );
            self.tracing(out);
        } else {
            let _ = write!(out, "[{secs}.{millis:03}] [sandbox] [OCSF ] [ocsf] ");
            self.shorthand(share, out);
        }
        out.push('\n');
    }

    /// `lines` lines as one text.
    pub fn text(seed: u64, lines: usize) -> String {
        let mut workload = Workload::new(seed);
        let mut text = String::with_capacity(lines * 160);
        for _ in 0..lines {
            workload.line(&mut text);
        }
        text
    }

    fn shorthand(&mut self, share: u64, out: &mut String) {
        match share {
            ..430 => self.net(out),
            430..800 => self.http(out),
            800..860 => self.api(out),
            860..900 => self.process(out),
            900..925 => {
                let (third, port) = (self.dice.below(250), 40_000 + self.dice.below(20_000));
                let _ = write!(
                    out,
                    "SSH:OPEN [INFO] ALLOWED 10.42.{third}.52:{port} [auth:NSSH1]"
                );
            }
            925..960 => self.config(out),
            960..975 => {
                let count = self.dice.below(9);
                let _ = write!(
                    out,
                    "FINDING:CREATE [MED] \"configured content matched\" [type:content_guard.match count:{count} middleware:content-guard]"
                );
            }
            975..985 => {
                out.push_str("LIFECYCLE:INSTALL [INFO] OpenShell Sandbox Supervisor success");
            }
            985..995 => {
                let channel = self.dice.below(500);
                let _ = write!(out, "EVENT [INFO] relay open [channel_id:\"ch-{channel}\"]");
            }
            _ => {
                let _ = write!(
                    out,
                    "NET:OPEN [INFO] [msg:relay open (channel_id=ch-{share})]"
                );
            }
        }
    }

    fn tracing(&mut self, out: &mut String) {
        let proposals = self.dice.below(5);
        let _ = write!(
            out,
            "Flushed denial analysis to gateway proposals={proposals} sandbox_name=checkout"
        );
    }

    fn host(&mut self, out: &mut String) {
        match self.dice.below(40) {
            0 => {
                let low = self.dice.below(65_536);
                let _ = write!(out, "2001:db8::{low:x}");
            }
            1..4 => {
                let tail = self.dice.below(4_000);
                let _ = write!(out, "cdn-{tail}.example.net");
            }
            _ => out.push_str(self.dice.skewed(HOSTS)),
        }
    }

    fn actor(&mut self, out: &mut String) {
        let pid = self.dice.below(3) * self.dice.below(30_000);
        let process = self.dice.skewed(PROCESSES);
        let _ = write!(out, "{process}({pid}) -> ");
    }

    fn net(&mut self, out: &mut String) {
        if self.dice.below(100) < 88 {
            out.push_str("NET:OPEN [INFO] ALLOWED ");
            self.actor(out);
            self.host(out);
            out.push_str(":443 [policy:default_egress engine:opa]");
            return;
        }
        out.push_str("NET:OPEN [MED] DENIED ");
        self.actor(out);
        let start = out.len();
        self.host(out);
        let host = out[start..].to_owned();
        match self.dice.below(3) {
            0 => out.push_str(":443 [reason:transparent_tcp_policy_denied]"),
            1 => {
                let _ = write!(
                    out,
                    ":443 [policy:- engine:opa] [reason:endpoint {host}:443 is not allowed by any policy]"
                );
            }
            _ => out.push_str(
                ":443 [policy:npm engine:opa] [reason:binary '/usr/local/bin/node' not allowed in policy 'npm' (ancestors: [/bin/bash -> /usr/loc...]",
            ),
        }
    }

    fn http(&mut self, out: &mut String) {
        let denied = self.dice.below(100) < 9;
        let method = self.dice.skewed(&["GET", "POST", "PUT", "HEAD"]);
        let (severity, action) = if denied {
            ("MED", "DENIED")
        } else {
            ("INFO", "ALLOWED")
        };
        let _ = write!(out, "HTTP:{method} [{severity}] {action} {method} http://");
        let start = out.len();
        self.host(out);
        out.push_str(":443");
        out.push_str(self.dice.skewed(PATHS));
        if self.dice.below(6) == 0 {
            let _ = write!(out, "{}", self.dice.below(100_000));
        }
        let target = out[start..].to_owned();
        if self.dice.below(200) == 0 {
            out.push_str("?page=2&token=abcdef");
        }
        out.push_str(" [policy:default_egress engine:l7]");
        if denied {
            let _ = write!(
                out,
                " [reason:L7_REQUEST deny {method} {target} reason=not permitted by policy]"
            );
        }
    }

    fn api(&mut self, out: &mut String) {
        let millis = 200 + self.dice.below(4_000);
        let _ = write!(
            out,
            "API:INFERENCE [INFO] Success claude-haiku-4-5-20251001 via https://api.anthropic.com/v1 {millis}ms [POST /v1/messages]"
        );
    }

    fn process(&mut self, out: &mut String) {
        let pid = 40 + self.dice.below(30_000);
        if self.dice.below(2) == 0 {
            let _ = write!(
                out,
                "PROC:LAUNCH [INFO] python3({pid}) [cmd:python3 /app/main.py --run {pid}]"
            );
        } else {
            let _ = write!(out, "PROC:TERMINATE [INFO] python3({pid}) [exit:0]");
        }
    }

    fn config(&mut self, out: &mut String) {
        match self.dice.below(4) {
            0 => {
                let hash = self.dice.bits();
                let _ = write!(
                    out,
                    "CONFIG:LOADED [INFO] Policy reloaded successfully [policy_hash:{hash:016x}]"
                );
            }
            1 => {
                let (old, new) = (self.dice.bits(), self.dice.bits());
                let _ = write!(
                    out,
                    "CONFIG:DETECTED [INFO] Settings poll: config change detected [old_revision:{old} new_revision:{new} policy_changed:true]"
                );
            }
            _ => out
                .push_str("CONFIG:BUILT [INFO] Landlock ruleset built [rules_applied:9 skipped:1]"),
        }
    }
}
