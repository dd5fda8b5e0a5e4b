//! The fake keeps the tables of the interface: cursors, statuses, sizes, each generation by a client
//! compiled from its own messages.

mod cursors;
mod faults;
mod sizes;
mod statuses;

use std::cell::RefCell;
use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::runtime::{Builder, Runtime};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use super::proto::{new, old};
use super::{Gateway, Line, Settings};

type NewClient = new::openshell::v1::open_shell_client::OpenShellClient<Channel>;
type OldClient = old::openshell::v1::open_shell_client::OpenShellClient<Channel>;
type NewWatch = new::openshell::v1::WatchSandboxRequest;
type OldWatch = old::openshell::v1::WatchSandboxRequest;

/// What a watch said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    Sandbox,
    Line { message: String, cursor: String },
    Event { message: String, cursor: String },
    Warning { text: String, cursor: String },
    Ended(Code, String),
}

impl Said {
    fn cursor(&self) -> &str {
        match self {
            Said::Line { cursor, .. } | Said::Event { cursor, .. } => cursor,
            said => panic!("{said:?}"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Said::Sandbox => "sandbox",
            Said::Line { message, .. } | Said::Event { message, .. } => message,
            Said::Warning { text, .. } | Said::Ended(_, text) => text,
        }
    }
}

/// A client of both generations with a runtime of its own.
struct Client {
    runtime: Runtime,
    channel: Channel,
}

impl Client {
    fn of(gateway: &Gateway) -> Client {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let channel = {
            let _inside = runtime.enter();
            Endpoint::from_shared(gateway.url()).unwrap().connect_lazy()
        };
        Client { runtime, channel }
    }

    fn new_api(&self) -> NewClient {
        NewClient::new(self.channel.clone())
    }

    fn old_api(&self) -> OldClient {
        OldClient::new(self.channel.clone())
    }

    fn run<A>(&self, work: impl Future<Output = A>) -> A {
        let patience = super::PATIENCE;
        self.runtime
            .block_on(async { tokio::time::timeout(patience, work).await })
            .expect("the gateway does not answer")
    }

    fn watch(&self, request: NewWatch) -> Watching<'_> {
        let answer = self.run(self.new_api().watch_sandbox(request));
        self.watching(answer.map(|answer| answer.into_inner().map(said_new).boxed()))
    }

    fn watch_old(&self, request: OldWatch) -> Watching<'_> {
        let answer = self.run(self.old_api().watch_sandbox(request));
        self.watching(answer.map(|answer| answer.into_inner().map(said_old).boxed()))
    }

    fn watching(
        &self,
        answer: Result<Pin<Box<dyn Stream<Item = Said> + Send>>, Status>,
    ) -> Watching<'_> {
        let stream = answer.unwrap_or_else(|status| {
            futures::stream::iter([Said::Ended(status.code(), status.message().into())]).boxed()
        });
        Watching {
            client: self,
            stream: RefCell::new(stream),
        }
    }
}

/// An open watch. After its last message comes how it ended.
struct Watching<'c> {
    client: &'c Client,
    stream: RefCell<Pin<Box<dyn Stream<Item = Said> + Send>>>,
}

impl Watching<'_> {
    fn next(&self) -> Said {
        let mut stream = self.stream.borrow_mut();
        let next = self.client.run(stream.next());
        next.unwrap_or_else(|| Said::Ended(Code::Ok, String::new()))
    }

    fn take(&self, count: usize) -> Vec<Said> {
        (0..count).map(|_| self.next()).collect()
    }

    /// The texts of the next messages.
    fn texts(&self, count: usize) -> Vec<String> {
        let taken = self.take(count);
        taken.iter().map(|said| said.text().to_owned()).collect()
    }

    /// Everything up to and with the end.
    fn to_end(&self) -> Vec<Said> {
        let mut all = Vec::new();
        loop {
            let said = self.next();
            all.push(said);
            if let Some(Said::Ended(..)) = all.last() {
                return all;
            }
        }
    }

    /// How it ends, whatever it says before.
    fn end(&self) -> (Code, String) {
        match self.to_end().pop() {
            Some(Said::Ended(code, text)) => (code, text),
            other => panic!("{other:?}"),
        }
    }

    /// Nothing more comes for a while: here time is the subject.
    fn is_silent(&self) -> bool {
        let mut stream = self.stream.borrow_mut();
        let wait = async { tokio::time::timeout(Duration::from_millis(50), stream.next()).await };
        self.client.runtime.block_on(wait).is_err()
    }
}

fn ended(status: &Status) -> Said {
    Said::Ended(status.code(), status.message().into())
}

fn said_new(event: Result<new::openshell::v1::SandboxStreamEvent, Status>) -> Said {
    use new::openshell::v1::sandbox_stream_event::Payload;
    let event = match event {
        Ok(event) => event,
        Err(status) => return ended(&status),
    };
    let cursor = event.cursor;
    match event.payload.unwrap() {
        Payload::Sandbox(_) => {
            assert_eq!(cursor, "");
            Said::Sandbox
        }
        Payload::Log(line) => Said::Line {
            message: line.message,
            cursor,
        },
        Payload::Event(event) => Said::Event {
            message: event.message,
            cursor,
        },
        Payload::Warning(warning) => Said::Warning {
            text: warning.message,
            cursor,
        },
        Payload::DraftPolicyUpdate(_) => panic!("no known code path emits it"),
    }
}

fn said_old(event: Result<old::openshell::v1::SandboxStreamEvent, Status>) -> Said {
    use old::openshell::v1::sandbox_stream_event::Payload;
    let event = match event {
        Ok(event) => event,
        Err(status) => return ended(&status),
    };
    let cursor = String::new();
    match event.payload.unwrap() {
        Payload::Sandbox(_) => Said::Sandbox,
        Payload::Log(line) => Said::Line {
            message: line.message,
            cursor,
        },
        Payload::Event(event) => Said::Event {
            message: event.message,
            cursor,
        },
        Payload::Warning(warning) => Said::Warning {
            text: warning.message,
            cursor,
        },
        Payload::DraftPolicyUpdate(_) => panic!("no known code path emits it"),
    }
}

/// A gateway whose sandboxes say nothing of their own.
fn quiet(settings: Settings) -> Gateway {
    Gateway::start(Settings {
        opening_lines: false,
        ..settings
    })
}

fn line(n: usize) -> Line {
    Line::ocsf(format!("line {n}"))
}

fn lines(numbers: std::ops::Range<usize>) -> impl Iterator<Item = Line> {
    numbers.map(line)
}

fn names(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|n| format!("line {n}")).collect()
}

/// The safe request: logs only, the whole tail.
fn logs_of(name: &str) -> NewWatch {
    NewWatch {
        sandbox: name.into(),
        follow_logs: true,
        log_tail_lines: 2_000,
        ..NewWatch::default()
    }
}

fn logs_after(name: &str, cursor: &str) -> NewWatch {
    NewWatch {
        resume_after_cursor: cursor.into(),
        ..logs_of(name)
    }
}

fn old_logs_of(id: &str) -> OldWatch {
    OldWatch {
        id: id.into(),
        follow_logs: true,
        log_tail_lines: 2_000,
        ..OldWatch::default()
    }
}
