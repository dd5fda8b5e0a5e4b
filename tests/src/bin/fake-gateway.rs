//! A gateway to play with: `fake-gateway [PORT] [VERSION]`. Its first line on standard output is where it
//! listens; then each line on standard input is a command and each answer is a line:
//!
//! ```text
//! {"do":"create","name":"demo"}
//! {"do":"publish","name":"demo","lines":[{"message":"NET:OPEN [MED] DENIED x.example.net:443"}]}
//! {"do":"watches"}
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::io::BufRead;
use std::process::ExitCode;

use boundlane_tests::gateway::{Answer, Gateway, Settings};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map(|port| port.parse());
    let Ok(port) = port.transpose() else {
        eprintln!("usage: fake-gateway [PORT] [VERSION]");
        return ExitCode::from(2);
    };
    let mut settings = Settings::default();
    if let Some(version) = arguments.next() {
        settings.version = version;
    }
    match Gateway::start_on(port, settings) {
        Ok(gateway) => serve(&gateway),
        Err(error) => {
            eprintln!("fake-gateway: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(gateway: &Gateway) -> ExitCode {
    println!("{}", gateway.url());
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let answer = match serde_json::from_str(&line) {
            Ok(command) => gateway.obey(command),
            Err(error) => Answer::Error(error.to_string()),
        };
        match serde_json::to_string(&answer) {
            Ok(answer) => println!("{answer}"),
            Err(error) => eprintln!("fake-gateway: {error}"),
        }
    }
    ExitCode::SUCCESS
}
