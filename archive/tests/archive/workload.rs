//! A seeded day of agents at work: canonical entries as the text parsers make them, in realistic shares.

use boundlane_record::canonical::encode;
use boundlane_record::{Micros, Row};

/// Where the workload's clock starts: 2026-04-01T04:04:13.058Z.
const START: i64 = 1_775_016_253_058_000;

const HOSTS: &[&str] = &[
    "api.github.com",
    "api.anthropic.com",
    "pypi.org",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "github.com",
    "httpbin.org",
    "example.com",
    "api.openai.com",
    "crates.io",
    "static.crates.io",
    "inference-api.nvidia.com",
    "integrate.api.nvidia.com",
    "api.telegram.org",
    "arxiv.org",
    "open.feishu.cn",
    "graph.instagram.com",
    "www.iana.org",
    "audit.ext-log.com",
    "huggingface.co",
    "169.254.169.254",
    "93.184.216.34",
    "2001:db8::1",
    "imap.gmail.com",
    "api.moonshot.cn",
    "cdn.jsdelivr.net",
    "deb.debian.org",
    "security.debian.org",
    "proxy.golang.org",
    "sum.golang.org",
];
const PROCESSES: &[&str] = &[
    "/usr/bin/curl",
    "/usr/local/bin/node",
    "/usr/bin/python3",
    "/usr/bin/git",
    "/usr/lib/git-core/git-remote-http",
    "/usr/bin/bash",
    "/sandbox/.uv/python/cpython-3.14.3-linux-x86_64-gnu/bin/python3.14",
    "/usr/local/bin/ant",
];
const METHODS: &[(&str, &str)] = &[
    ("GET", "Get"),
    ("POST", "Post"),
    ("PUT", "Put"),
    ("HEAD", "Head"),
];

/// Entries without end, the same for the same seed.
pub(crate) struct Workload {
    random: u64,
    time: i64,
    pids: Vec<i32>,
}

impl Workload {
    /// The workload of this seed.
    pub(crate) fn new(seed: u64) -> Workload {
        Workload {
            random: seed,
            time: START,
            pids: (0..40).map(|n| 58 + n * 37).collect(),
        }
    }

    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    /// Small numbers much more often than large ones.
    fn skewed(&mut self, n: usize) -> usize {
        let (a, b, c) = (self.below(n), self.below(n), self.below(n));
        a.min(b).min(c)
    }

    /// Appends the next entry's canonical bytes to `out`.
    pub(crate) fn entry(&mut self, out: &mut Vec<u8>) {
        let pause = if self.below(4) == 0 {
            self.below(900)
        } else {
            self.below(12)
        };
        self.time += i64::try_from(pause).unwrap() * 1000;
        let sandbox = format!("agent-{}", self.skewed(12));
        let stream = format!("import/{sandbox}/1");
        let line = self.line();
        let observed = self.time + 2_000 + i64::try_from(self.below(40_000)).unwrap();
        let (seconds, millis) = (self.time / 1_000_000, self.time / 1000 % 1000);
        let raw = format!(
            "[{seconds}.{millis:03}] [sandbox] [OCSF ] [ocsf] {}",
            line.raw
        );
        let is_decision = line.row.outcome.is_some();
        let row = Row {
            kind: Some(if is_decision { "decision" } else { "event" }.into()),
            time: Some(Micros(self.time)),
            observed: Some(Micros(observed)),
            time_from: Some("line".into()),
            stream: Some(stream.as_str().into()),
            sandbox: Some(sandbox.as_str().into()),
            source: Some("import".into()),
            origin: Some("sandbox".into()),
            trust: Some("text".into()),
            policy_known: Some(true),
            policy_hash: Some("0cc0c2b525573c07".into()),
            raw: Some(raw.into()),
            ..line.row
        };
        encode(&row, out);
    }

    fn line(&mut self) -> Line {
        match self.below(100) {
            0..=44 => self.net(),
            45..=84 => self.http(),
            85..=92 => self.launch(),
            93..=96 => Line::event(
                "CONFIG",
                5019,
                "Device Config State Change",
                "LOADED",
                "Policy reloaded successfully",
                "[policy_hash:0cc0c2b525573c07]",
            ),
            97 => Line::event(
                "SSH",
                4007,
                "SSH Activity",
                "OPEN",
                "",
                "ALLOWED 10.42.0.52:42706 [auth:NSSH1]",
            ),
            98 => Line::event(
                "NET",
                4001,
                "Network Activity",
                "FAIL",
                "TLS relay error: unexpected eof",
                "[msg:TLS relay error: unexpected eof]",
            ),
            _ => Line::event(
                "FINDING",
                2004,
                "Detection Finding",
                "BLOCKED",
                "NSSH1 Nonce Replay Attack",
                "[confidence:high]",
            ),
        }
    }

    fn actor(&mut self) -> (&'static str, i32) {
        let at = self.below(self.pids.len());
        if self.below(6) == 0 {
            self.pids[at] += 1 + i32::try_from(self.below(400)).unwrap();
        }
        (PROCESSES[self.skewed(PROCESSES.len())], self.pids[at])
    }

    fn net(&mut self) -> Line {
        let (process, pid) = self.actor();
        let host = HOSTS[self.skewed(HOSTS.len())];
        let denied = self.below(5) == 0;
        let rule = format!("allow_{}_443", host.replace(['.', ':'], "_"));
        let destination = format!("{host}:443");
        let reason = "no matching policy";
        let (word, tail) = if denied {
            (
                "[MED] DENIED",
                format!("[policy:- engine:opa] [reason:{reason}]"),
            )
        } else {
            ("[INFO] ALLOWED", format!("[policy:{rule} engine:opa]"))
        };
        Line {
            raw: format!("NET:OPEN {word} {process}({pid}) -> {destination} {tail}"),
            row: Row {
                process: Some(process.into()),
                pid: Some(pid),
                host: Some(host.into()),
                port: Some(443),
                destination: Some(destination.into()),
                rule: (!denied).then(|| rule.into()),
                engine: Some("opa".into()),
                reason: denied.then(|| reason.into()),
                ..decided(denied, "NET", 4001, "Network Activity", "Open")
            },
        }
    }

    fn http(&mut self) -> Line {
        let host = HOSTS[self.skewed(HOSTS.len())];
        let denied = self.below(8) == 0;
        let (method, activity) = METHODS[self.skewed(METHODS.len())];
        let id = self.below(30_000);
        let path = match self.skewed(6) {
            0 => "/v1/messages".to_owned(),
            1 => "/simple/requests/".to_owned(),
            2 => format!("/repos/octocat/hello-world/issues/{id}"),
            3 => format!("/packages/package-{}/-/package-{}.tgz", id % 700, id % 700),
            4 => "/v1/chat/completions".to_owned(),
            _ => format!("/api/v2/items/{id:08x}/parts/{}", id % 13),
        };
        let destination = format!("http://{host}:443{path}");
        let rule = format!("allow_{}_443", host.replace(['.', ':'], "_"));
        let reason = format!(
            "L7_REQUEST deny {method} {host}:443{path} reason={method} {path} not permitted by policy"
        );
        let (word, tail) = if denied {
            (
                "[MED] DENIED",
                format!("[policy:{rule} engine:l7] [reason:{reason}]"),
            )
        } else {
            ("[INFO] ALLOWED", format!("[policy:{rule} engine:l7]"))
        };
        Line {
            raw: format!("HTTP:{method} {word} {method} {destination} {tail}"),
            row: Row {
                host: Some(host.into()),
                port: Some(443),
                method: Some(method.into()),
                scheme: Some("http".into()),
                path: Some(path.into()),
                destination: Some(destination.into()),
                rule: Some(rule.into()),
                engine: Some("l7".into()),
                reason: denied.then(|| reason.into()),
                ..decided(denied, "HTTP", 4002, "HTTP Activity", activity)
            },
        }
    }

    fn launch(&mut self) -> Line {
        let (process, pid) = self.actor();
        let command = format!("{process} /workspace/step-{}.py", self.below(90));
        Line {
            raw: format!("PROC:LAUNCH [INFO] {process}({pid}) [cmd:{command}]"),
            row: Row {
                process: Some(process.into()),
                pid: Some(pid),
                attributes: Some(format!("{{\"cmd\":\"{command}\"}}").into()),
                ..happened("PROC", 1007, "Process Activity", "Launch")
            },
        }
    }
}

struct Line {
    raw: String,
    row: Row<'static>,
}

impl Line {
    fn event(
        tag: &'static str,
        uid: i32,
        class: &'static str,
        activity: &'static str,
        message: &'static str,
        tail: &str,
    ) -> Line {
        Line {
            raw: format!("{tag}:{activity} [INFO] {message} {tail}"),
            row: Row {
                message: (!message.is_empty()).then(|| message.into()),
                ..happened(tag, uid, class, activity)
            },
        }
    }
}

fn happened(
    tag: &'static str,
    uid: i32,
    class: &'static str,
    activity: &'static str,
) -> Row<'static> {
    Row {
        severity: Some("Informational".into()),
        class: Some(class.into()),
        class_uid: Some(uid),
        class_tag: Some(tag.into()),
        activity: Some(activity.into()),
        ..Row::default()
    }
}

fn decided(
    denied: bool,
    tag: &'static str,
    uid: i32,
    class: &'static str,
    activity: &'static str,
) -> Row<'static> {
    Row {
        outcome: Some(if denied { "denied" } else { "allowed" }.into()),
        action: Some(if denied { "Denied" } else { "Allowed" }.into()),
        severity: Some(if denied { "Medium" } else { "Informational" }.into()),
        ..happened(tag, uid, class, activity)
    }
}
