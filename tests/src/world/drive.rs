//! Makes the steps of a script happen.

use std::time::{Duration, Instant};

use super::forwarder::Forwarder;
use super::lines::Lines;
use super::random::Random;
use super::script::{Script, Step};
use super::testimony::Testimony;
use crate::Home;
use crate::gateway::{
    Answer, BROADCAST_MESSAGES_MAX, Book, Command, GatewayControl, Line, Moment,
    WATCH_QUEUE_MESSAGES_MAX, now,
};

/// How long a run may take to come to rest.
const REST_WITHIN: Duration = Duration::from_secs(60);
/// How long the end of a deleted sandbox is waited for: the oracle does not need it.
const END_WITHIN: Duration = Duration::from_secs(3);
/// How often the journal is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A run under way.
pub(super) struct Driver<'g> {
    gateway: &'g mut dyn GatewayControl,
    home: &'g Home,
    /// None only while there is none: between a kill and the next start.
    forwarder: Option<Forwarder>,
    random: Random,
    lines: Lines,
    replicas: usize,
    pub(super) kills: Vec<Moment>,
    /// What the program said, its killed predecessors included.
    pub(super) log: Vec<String>,
}

impl<'g> Driver<'g> {
    pub(super) fn new(
        script: &Script,
        gateway: &'g mut dyn GatewayControl,
        home: &'g Home,
    ) -> Driver<'g> {
        let forwarder = Forwarder::start(home, &gateway.url());
        Driver {
            gateway,
            home,
            forwarder: Some(forwarder),
            random: Random::new(!script.seed),
            lines: Lines::default(),
            replicas: script.settings.replicas,
            kills: Vec::new(),
            log: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
        match step {
            Step::Create(name) => self.create(name),
            Step::Delete(name) => self.order(Command::Delete { name: name.clone() }),
            Step::Publish(name, count) => self.publish(name, *count, false),
            Step::Burst(name, count) => self.publish(name, *count, true),
            Step::Same(name, count) => {
                let lines = self.lines.same(*count);
                self.publish_lines(name, lines, false);
            }
            Step::Push(name, count) => {
                let lines = self.lines.some(*count, &mut self.random);
                let name = name.clone();
                self.order(Command::Push { name, lines });
            }
            Step::Lag(name, past) => self.lag(name, *past),
            Step::Unreachable(name, count, how) => {
                self.order(Command::Refuse { refusing: true });
                self.order(Command::Cut {
                    name: None,
                    how: *how,
                });
                self.publish(name, *count, true);
                self.order(Command::Refuse { refusing: false });
            }
            Step::CutOf(name, how) => self.order(Command::Cut {
                name: Some(name.clone()),
                how: *how,
            }),
            Step::CutAll(how) => self.order(Command::Cut {
                name: None,
                how: *how,
            }),
            Step::Restart(lines) => self.restart(*lines, None),
            Step::Upgrade(version) => self.restart(0, Some(version.clone())),
            Step::Route(replicas) => self.order(Command::Route {
                replicas: replicas.clone(),
            }),
            Step::RateLimit(calls) => self.order(Command::RefuseCalls { calls: *calls }),
            Step::Kill(lines) => self.kill(*lines),
            Step::Breathe(ms) => {
                self.gateway.call(Command::WaitIdle { ms: *ms });
            }
            Step::Settle => {
                self.gateway.call(Command::WaitIdle { ms: 2_000 });
            }
        }
    }

    /// Does what may not be possible: a step about a sandbox that is not there does nothing.
    fn order(&mut self, command: Command) {
        self.gateway.call(command);
    }

    fn create(&mut self, name: &str) {
        let create = Command::Create {
            name: name.to_owned(),
            workspace: "default".into(),
            labels: std::collections::BTreeMap::new(),
        };
        self.order(create);
    }

    fn publish(&mut self, name: &str, count: usize, burst: bool) {
        let lines = self.lines.some(count, &mut self.random);
        self.publish_lines(name, lines, burst);
    }

    fn publish_lines(&mut self, name: &str, lines: Vec<Line>, burst: bool) {
        let replica = self.random.within(0..self.replicas.max(1));
        self.order(Command::Publish {
            name: name.to_owned(),
            lines,
            replica: if burst { 0 } else { replica },
            burst,
        });
    }

    fn lag(&mut self, name: &str, past: usize) {
        let stall = |stalled| Command::Stall {
            name: name.to_owned(),
            stalled,
        };
        self.order(stall(true));
        self.publish(name, WATCH_QUEUE_MESSAGES_MAX + 1, false);
        self.gateway.call(Command::WaitIdle { ms: 5 });
        self.publish(name, BROADCAST_MESSAGES_MAX + past, true);
        self.order(stall(false));
    }

    fn restart(&mut self, lines: usize, version: Option<String>) {
        self.order(Command::Stop);
        // To the first sandbox, if it lives: what reaches no gateway is nobody's.
        self.publish("anvil", lines, false);
        self.order(Command::Start { version });
    }

    /// Kills the program, publishes while nobody follows, and starts it again.
    fn kill(&mut self, lines: usize) {
        if let Some(killed) = self.forwarder.take() {
            self.kills.push(now());
            self.log.extend(killed.kill());
        }
        self.publish("anvil", lines, true);
        self.forwarder = Some(Forwarder::start(self.home, &self.gateway.url()));
    }

    /// Ends the run: everything is read and in the journal, and the program ends when it is asked to.
    pub(super) fn rest(mut self) -> Rested {
        let mut faults = self.come_to_rest();
        if let Some(mut forwarder) = self.forwarder.take() {
            if let Err(fault) = forwarder.end() {
                faults.push(format!("the forwarder {fault}"));
            }
            self.log.extend(forwarder.kill());
        }
        Rested {
            book: self.book(),
            testimony: Testimony::read(&self.home.state()),
            kills: self.kills,
            log: self.log,
            faults,
        }
    }

    fn come_to_rest(&mut self) -> Vec<String> {
        let living: Vec<(String, String)> = self.living();
        let mut wanted = Vec::new();
        for (id, name) in living {
            let last = self.lines.last();
            wanted.push((id, last.cli_text()));
            // To all replicas: the one that is watched has it.
            for replica in 0..self.replicas.max(1) {
                let lines = vec![last.clone()];
                self.order(Command::Publish {
                    name: name.clone(),
                    lines,
                    replica,
                    burst: false,
                });
            }
        }
        let deadline = Instant::now() + REST_WITHIN;
        while Instant::now() < deadline {
            let heard = Testimony::read(&self.home.state());
            wanted.retain(|(id, text)| {
                let records = heard.sandboxes.get(id).map(|heard| &heard.records);
                !records.is_some_and(|all| all.iter().any(|one| one.raw == *text))
            });
            if wanted.is_empty() {
                self.wait_for_ends();
                return Vec::new();
            }
            self.wait_word();
        }
        let faults = wanted.iter().map(|(id, _)| {
            format!("{id}: its last line is not in the journal after {REST_WITHIN:?}")
        });
        faults.collect()
    }

    /// Gives the program time to write down which sandboxes have ended.
    fn wait_for_ends(&mut self) {
        let book = self.book();
        let was_watched = |id: &str| book.attachments.iter().any(|one| one.sandbox_id == id);
        let deleted = book.sandboxes.iter().filter(|one| one.deleted.is_some());
        let deleted: Vec<&str> = deleted
            .map(|one| one.id.as_str())
            .filter(|id| was_watched(id))
            .collect();
        let deadline = Instant::now() + END_WITHIN;
        while Instant::now() < deadline {
            let heard = Testimony::read(&self.home.state()).sandboxes;
            let is_over = |id: &&str| heard.get(*id).is_some_and(super::testimony::Heard::is_over);
            if deleted.iter().all(is_over) {
                return;
            }
            self.wait_word();
        }
    }

    fn wait_word(&mut self) {
        if let Some(forwarder) = &mut self.forwarder {
            forwarder.wait_word(LOOK_EVERY);
        }
    }

    fn living(&mut self) -> Vec<(String, String)> {
        let book = self.book();
        let living = book
            .sandboxes
            .into_iter()
            .filter(|one| one.deleted.is_none());
        living.map(|one| (one.id, one.name)).collect()
    }

    fn book(&mut self) -> Book {
        match self.gateway.call(Command::Book) {
            Answer::Book(book) => book,
            other => panic!("no book: {other:?}"),
        }
    }
}

/// A run that is over.
pub(super) struct Rested {
    pub(super) book: Book,
    pub(super) testimony: Testimony,
    pub(super) kills: Vec<Moment>,
    pub(super) log: Vec<String>,
    /// What went wrong before the journal was looked at.
    pub(super) faults: Vec<String>,
}
