//! The control protocol: one JSON object a line in, one JSON object a line out. What the handle does,
//! for whoever is another process.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::book::{Book, Published};
use super::connection::Cut;
use super::handle::Gateway;
use super::model::{Line, PlatformEvent};
use super::observe::are_idle;
use super::settings::Settings;
use super::watches::WatchView;

/// What can be asked of a gateway: `{"do":"create","name":"demo"}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the methods of the handle")]
pub enum Command {
    Create {
        name: String,
        #[serde(default = "default_workspace")]
        workspace: String,
        #[serde(default)]
        labels: BTreeMap<String, String>,
    },
    Delete {
        name: String,
    },
    /// `burst`: under one lock, so that no watch runs meanwhile.
    Publish {
        name: String,
        lines: Vec<Line>,
        #[serde(default)]
        replica: usize,
        #[serde(default)]
        burst: bool,
    },
    Push {
        name: String,
        lines: Vec<Line>,
    },
    PublishEvents {
        name: String,
        events: Vec<PlatformEvent>,
    },
    Stall {
        name: String,
        stalled: bool,
    },
    Gate {
        is_open: bool,
    },
    /// Without a name, every connection.
    Cut {
        name: Option<String>,
        how: Cut,
    },
    Refuse {
        refusing: bool,
    },
    Stop,
    Start {
        version: Option<String>,
    },
    Route {
        replicas: Vec<usize>,
    },
    /// All of them: what is not named is the default again.
    Settings {
        settings: Settings,
    },
    /// So many of the next calls are over the rate limit.
    RefuseCalls {
        calls: u32,
    },
    /// Waits until each living sandbox is watched and all is handed over.
    WaitIdle {
        ms: u64,
    },
    /// Waits until so many lines of the sandbox were handed to its watches, all of them together.
    WaitDelivered {
        name: String,
        lines: u64,
        ms: u64,
    },
    Watches,
    Book,
}

fn default_workspace() -> String {
    "default".into()
}

/// What a gateway says to a [`Command`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named as what they answer")]
pub enum Answer {
    Done,
    /// Whether it came within the time.
    Came(bool),
    Id(String),
    Published(Vec<Published>),
    Watches(Vec<WatchView>),
    Book(Book),
    /// It could not be done.
    Error(String),
}

/// A gateway that can be told what to do, wherever it runs.
pub trait GatewayControl: Send {
    /// Where it listens.
    fn url(&self) -> String;

    /// Does it.
    fn call(&mut self, command: Command) -> Answer;
}

impl GatewayControl for Gateway {
    fn url(&self) -> String {
        Gateway::url(self)
    }

    fn call(&mut self, command: Command) -> Answer {
        self.obey(command)
    }
}

impl Gateway {
    /// Does what `command` says. A sandbox that is not there is an answer, not a panic.
    pub fn obey(&self, command: Command) -> Answer {
        if let Some(name) = command.names()
            && !self.has(name)
        {
            return Answer::Error(format!("no sandbox `{name}`"));
        }
        if let Command::Create { name, .. } = &command
            && self.has(name)
        {
            return Answer::Error(format!("there is a sandbox `{name}`"));
        }
        match command {
            Command::Publish {
                name,
                lines,
                replica,
                burst,
            } => Answer::Published(match burst {
                true => self.burst(&name, lines.len(), |n| lines[n].clone()),
                false => self.publish_at(replica, &name, lines),
            }),
            Command::Push { name, lines } => Answer::Published(self.push(&name, lines)),
            Command::WaitIdle { ms } => {
                let patience = Duration::from_millis(ms);
                let ready = |state: &_| are_idle(state).then_some(());
                Answer::Came(self.shared.wait(patience, ready).is_some())
            }
            Command::WaitDelivered { name, lines, ms } => self.await_lines(&name, lines, ms),
            Command::Create {
                name,
                workspace,
                labels,
            } => Answer::Id(self.create_in(&workspace, &name, &labels)),
            Command::Watches => Answer::Watches(self.watches()),
            Command::Book => Answer::Book(self.book()),
            other => {
                self.do_quietly(other);
                Answer::Done
            }
        }
    }

    /// What answers nothing.
    fn do_quietly(&self, command: Command) {
        match command {
            Command::Delete { name } => self.delete(&name),
            Command::PublishEvents { name, events } => self.publish_events(&name, events),
            Command::Stall { name, stalled } => {
                self.stall(&name, stalled);
            }
            Command::Gate { is_open } => self.gate(is_open),
            Command::Cut { name: None, how } => self.cut(how),
            Command::Cut {
                name: Some(name),
                how,
            } => self.cut_of(&name, how),
            Command::Refuse { refusing } => self.refuse(refusing),
            Command::Stop => self.stop(),
            Command::Start { version } => self.start_again(version.as_deref()),
            Command::Route { replicas } => self.route(&replicas),
            Command::RefuseCalls { calls } => self.settings(|now| now.refused_calls = calls),
            Command::Settings { settings } => self.settings(|now| *now = settings),
            _ => unreachable!("answered by `obey`"),
        }
    }

    fn has(&self, name: &str) -> bool {
        let state = self.shared.look();
        state.sandboxes.iter().any(|one| one.name == name)
    }

    fn await_lines(&self, name: &str, lines: u64, ms: u64) -> Answer {
        let id = self.id(name);
        let ready = |state: &super::state::State| {
            let of_sandbox = state.watches.views().filter(|view| view.sandbox_id == id);
            let delivered: u64 = of_sandbox.map(|view| view.delivered_lines).sum();
            (delivered >= lines).then_some(())
        };
        let came = self.shared.wait(Duration::from_millis(ms), ready);
        Answer::Came(came.is_some())
    }
}

impl Command {
    /// The living sandbox that it is about.
    fn names(&self) -> Option<&str> {
        match self {
            Command::Delete { name }
            | Command::Publish { name, .. }
            | Command::Push { name, .. }
            | Command::PublishEvents { name, .. }
            | Command::Stall { name, .. }
            | Command::WaitDelivered { name, .. } => Some(name),
            Command::Cut { name, .. } => name.as_deref(),
            _ => None,
        }
    }
}
