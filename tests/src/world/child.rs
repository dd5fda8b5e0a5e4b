//! A gateway in another process that speaks the control protocol: `interop/gateway` over the stubs of a
//! released wheel.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::gateway::{self, Answer, GatewayControl};

/// That process.
#[derive(Debug)]
pub struct ChildGateway {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
    url: String,
}

impl ChildGateway {
    /// Starts it; its first line says where it listens.
    ///
    /// # Panics
    /// It says nothing of the kind.
    pub fn start(command: &mut Command) -> ChildGateway {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut answer = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        answer.read_line(&mut url).unwrap();
        assert!(url.starts_with("http://"), "not a gateway: {url}");
        ChildGateway {
            ask: child.stdin.take().unwrap(),
            child,
            answer,
            url: url.trim_end().to_owned(),
        }
    }
}

impl GatewayControl for ChildGateway {
    fn url(&self) -> String {
        self.url.clone()
    }

    fn call(&mut self, command: gateway::Command) -> Answer {
        let mut line = serde_json::to_string(&command).unwrap();
        line.push('\n');
        self.ask.write_all(line.as_bytes()).unwrap();
        let mut said = String::new();
        self.answer.read_line(&mut said).unwrap();
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

impl Drop for ChildGateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
