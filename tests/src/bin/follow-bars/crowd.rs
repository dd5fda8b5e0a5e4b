//! Many sandboxes at one gateway, and a forwarder that follows them all.

use std::collections::BTreeMap;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use boundlane_tests::Home;
use boundlane_tests::gateway::{Answer, Command, GatewayControl, Line, Published};
use boundlane_tests::world::{ChildGateway, Forwarder};

/// How long attaching and reading what is left may take, in milliseconds.
const PATIENCE_MS: u64 = 60_000;

/// The gateway, its sandboxes, and who follows them.
pub(crate) struct Crowd {
    gateway: ChildGateway,
    pub(crate) names: Vec<String>,
    pub(crate) home: Home,
    pub(crate) forwarder: Forwarder,
    /// Lines made so far: each has a host of its own.
    pub(crate) made: u64,
}

impl Crowd {
    /// `count` sandboxes, all of them followed.
    pub(crate) fn gather(program: &str, count: usize) -> Crowd {
        let mut gateway = ChildGateway::start(&mut Process::new(program));
        let names: Vec<String> = (0..count).map(|n| format!("sandbox-{n}")).collect();
        for name in &names {
            gateway.call(Command::Create {
                name: name.clone(),
                workspace: "default".into(),
                labels: BTreeMap::new(),
            });
        }
        let home = Home::new();
        let forwarder = Forwarder::start_paced(&home, &gateway.url(), "1");
        let mut crowd = Crowd {
            gateway,
            names,
            home,
            forwarder,
            made: 0,
        };
        crowd.settle();
        crowd
    }

    pub(crate) fn url(&self) -> String {
        self.gateway.url()
    }

    /// Waits until each sandbox is followed and everything was handed over.
    pub(crate) fn settle(&mut self) {
        let answer = self.gateway.call(Command::WaitIdle { ms: PATIENCE_MS });
        assert!(matches!(answer, Answer::Came(true)), "not all is read");
    }

    /// How many watches of the sandboxes are open.
    pub(crate) fn watches(&mut self) -> usize {
        match self.gateway.call(Command::Watches) {
            Answer::Watches(views) => views.len(),
            other => panic!("no watches: {other:?}"),
        }
    }

    /// Publishes `count` decisions of one sandbox.
    pub(crate) fn publish(&mut self, sandbox: usize, count: u64) -> Vec<Published> {
        let name = self.names[sandbox].clone();
        let lines = (self.made..self.made + count).map(line).collect();
        self.made += count;
        let publish = Command::Publish {
            name,
            lines,
            replica: 0,
            burst: true,
        };
        match self.gateway.call(publish) {
            Answer::Published(published) => published,
            other => panic!("not published: {other:?}"),
        }
    }

    /// Lets time go by.
    pub(crate) fn wait_until(&mut self, then: Instant) {
        while let Some(left) = then.checked_duration_since(Instant::now())
            && left > Duration::ZERO
        {
            self.forwarder.wait_word(left);
        }
    }
}

/// One decision in three is a refusal.
fn line(n: u64) -> Line {
    let host = host(n);
    Line::ocsf(match n % 3 {
        0 => format!(
            "NET:OPEN [MED] DENIED /usr/bin/node({n}) -> {host}:443/tcp [policy:- engine:opa] \
             [reason:endpoint {host}:443 is not allowed by any policy]"
        ),
        1 => format!(
            "HTTP:GET [INFO] ALLOWED /usr/bin/curl({n}) -> GET http://{host}:443/v1/items \
             [policy:api engine:l7]"
        ),
        _ => format!(
            "NET:OPEN [INFO] ALLOWED /usr/bin/curl({n}) -> {host}:443/tcp [policy:web engine:opa]"
        ),
    })
}

/// The host of a line.
fn host(n: u64) -> String {
    format!("h-{n}.example.net")
}

/// The number of the line that `text` shows.
pub(crate) fn number(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("h-")?;
    let (digits, _) = rest.split_once(".example.net")?;
    digits.parse().ok()
}
