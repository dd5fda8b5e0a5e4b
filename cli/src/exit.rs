//! How a run ends: the exit codes that scripts rely on, and the message that goes with a failure.
//!
//! `docs/EXIT_CODES.md` says the same to people; a test holds the two together.

use std::fmt;
use std::io;

/// An exit code. Codes are a contract: one is never given another meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked is done.
    Done,
    /// It was tried and failed.
    Failed,
    /// The command line or the configuration cannot be understood.
    Usage,
    /// Something has to happen elsewhere first.
    NotReady,
    /// The answer is incomplete or cannot be proven, and that was required.
    Incomplete,
    /// What was checked is not what it claims to be.
    #[allow(dead_code, reason = "for commands that check")]
    VerificationFailed,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    /// All of them, by number.
    #[cfg(test)]
    pub(crate) const ALL: &'static [Exit] = &[
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::NotReady,
        Exit::Incomplete,
        Exit::VerificationFailed,
        Exit::Interrupted,
    ];

    /// The number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotReady => 3,
            Exit::Incomplete => 4,
            Exit::VerificationFailed => 5,
            Exit::Interrupted => 130,
        }
    }

    /// The word in `docs/EXIT_CODES.md`.
    #[cfg(test)]
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Failed => "failed",
            Exit::Usage => "usage",
            Exit::NotReady => "not ready",
            Exit::Incomplete => "incomplete",
            Exit::VerificationFailed => "verification failed",
            Exit::Interrupted => "interrupted",
        }
    }
}

/// Why a command did not finish.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// Who read our output has gone. That is how `| head` ends, not an error.
    ClosedPipe,
    /// Ctrl-C, seen by a command that tidies up first.
    Interrupted,
    /// Something to tell.
    Told(Told),
}

/// A failure that has a message.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// The code that goes with it.
    pub(crate) exit: Exit,
    /// What is wrong: lower case, no full stop, values in backticks.
    pub(crate) what: String,
    /// What to do next, when `what` does not say it already.
    pub(crate) advice: Option<String>,
}

/// The result of a command or of a part of one.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// A failure with a message.
    pub(crate) fn new(exit: Exit, what: impl fmt::Display) -> Failure {
        Failure::Told(Told {
            exit,
            what: what.to_string(),
            advice: None,
        })
    }

    /// It was tried and failed: 1.
    pub(crate) fn failed(what: impl fmt::Display) -> Failure {
        Failure::new(Exit::Failed, what)
    }

    /// It cannot be understood: 2.
    pub(crate) fn usage(what: impl fmt::Display) -> Failure {
        Failure::new(Exit::Usage, what)
    }

    /// The same failure with what to do next.
    #[must_use]
    pub(crate) fn advise(self, advice: impl fmt::Display) -> Failure {
        match self {
            Failure::Told(told) => Failure::Told(Told {
                advice: Some(advice.to_string()),
                ..told
            }),
            quiet => quiet,
        }
    }

    /// A failed write to standard output: a closed pipe is no error.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "used as `map_err(Failure::output)`"
    )]
    pub(crate) fn output(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::ClosedPipe;
        }
        Failure::failed(format_args!("cannot write to standard output: {error}"))
            .advise("write to a place that has room and ask again")
    }

    /// The code this ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::ClosedPipe => Exit::Done,
            Failure::Interrupted => Exit::Interrupted,
            Failure::Told(told) => told.exit,
        }
    }
}

/// Errors of other crates become 1 with their chain of causes on one line.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::failed(format_args!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// The document names exactly the codes that the program can end with, with the same words.
    #[test]
    fn a_code_is_not_what_the_document_says() {
        let document = include_str!("../../docs/EXIT_CODES.md");
        let told: Vec<(u8, String)> = document
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| ")?.split('|').map(str::trim);
                let code = cells.next()?.trim_matches('`').parse().ok()?;
                Some((code, cells.next()?.to_owned()))
            })
            .collect();
        let ours: Vec<(u8, String)> = Exit::ALL
            .iter()
            .map(|exit| (exit.code(), exit.word().to_owned()))
            .collect();
        assert_eq!(told, ours);
    }

    /// A reader that went away is a quiet success; every other write error is told.
    #[test]
    fn a_closed_pipe_is_reported_as_an_error() {
        let closed = Failure::output(io::ErrorKind::BrokenPipe.into());
        assert!(matches!(closed, Failure::ClosedPipe));
        assert_eq!(closed.exit(), Exit::Done);
        let full = Failure::output(io::ErrorKind::StorageFull.into());
        assert_eq!(full.exit(), Exit::Failed);
    }
}
