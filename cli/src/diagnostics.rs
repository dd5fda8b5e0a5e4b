//! What goes wrong, on standard error: failures, panics and, with `-v`, what is done.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::context::{Verbosity, stderr_line};
use crate::exit::{Exit, Failure};
use crate::text::escape;

/// Prints a failure as `boundlane: …`, with what to do on a line of its own.
pub(crate) fn report(failure: &Failure) -> Exit {
    if let Failure::Told(told) = failure {
        stderr_line(&format!("boundlane: {}", escape::visible_lines(&told.what)));
        if let Some(advice) = &told.advice {
            stderr_line(&format!("  {}", escape::visible_lines(advice)));
        }
    }
    failure.exit()
}

/// A panic's message can hold a piece of a line, and with it a secret: only the place is printed.
pub(crate) fn keep_panics_to_themselves() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(
            || "an unknown place".to_owned(),
            |location| format!("`{}:{}`", location.file(), location.line()),
        );
        stderr_line(&format!(
            "boundlane: a fault in the program at {place}, please report it"
        ));
        stderr_line("  what was recorded before is safe; `boundlane fsck` checks it");
    }));
}

/// Shows our own events as `-v` asks; other crates get no further than warnings, whatever it says.
pub(crate) fn log_to_stderr(verbosity: Verbosity, colour: bool) {
    let (ours, theirs) = match verbosity {
        Verbosity::Quiet => (LevelFilter::ERROR, LevelFilter::OFF),
        Verbosity::Normal => (LevelFilter::WARN, LevelFilter::ERROR),
        Verbosity::Verbose => (LevelFilter::INFO, LevelFilter::WARN),
        Verbosity::Debug => (LevelFilter::DEBUG, LevelFilter::WARN),
    };
    let targets = Targets::new()
        .with_default(theirs)
        .with_target("boundlane", ours);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(colour);
    // A second initialisation, as in a test that runs twice in one process, changes nothing.
    let _ = tracing_subscriber::registry()
        .with(targets)
        .with(lines)
        .try_init();
}
