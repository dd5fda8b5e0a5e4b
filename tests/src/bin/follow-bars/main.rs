//! Measures what following costs: `follow-bars GATEWAY lines|idle|latency SECONDS`, where GATEWAY is the
//! `fake-gateway` program and `BOUNDLANE_BINARY` the program under test. Each is a process of its own, so
//! memory and CPU time are of the program alone. `benches/follow` builds and runs all three.

#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

mod crowd;
mod gauge;
mod idle;
mod latency;
mod lines;

use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [gateway, what, seconds] = &arguments[..] else {
        return usage();
    };
    let Ok(seconds) = seconds.parse() else {
        return usage();
    };
    let span = Duration::from_secs(seconds);
    match what.as_str() {
        "lines" => lines::measure(gateway, span),
        "idle" => idle::measure(gateway, span),
        "latency" => latency::measure(gateway, span),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: follow-bars GATEWAY lines|idle|latency SECONDS");
    ExitCode::from(2)
}
