//! What every command is given besides its own arguments.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use boundlane_record::Micros;
use boundlane_record::redact::{Redactor, Spans};

use crate::args::GlobalArgs;
use crate::config::Config;
use crate::environment::Environment;
use crate::exit::Outcome;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::state_dir::{self, From, Located};
use crate::text::colour::{self, Palette, Tone};
use crate::text::escape;
use crate::time::named::is_zone;
use crate::time::{Local, Utc, Zone};

/// How much is said on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Failures only: `-q`.
    Quiet,
    /// Notes too.
    Normal,
    /// What is done: `-v`.
    Verbose,
    /// How it is done: `-vv`.
    Debug,
}

/// The surroundings of one run, resolved once.
pub(crate) struct Context {
    /// What `config.toml` says.
    pub(crate) config: Config,
    /// How much is said.
    pub(crate) verbosity: Verbosity,
    /// Colour on standard output.
    pub(crate) stdout_palette: Palette,
    /// Colour on standard error.
    pub(crate) stderr_palette: Palette,
    /// When the run began. Commands that wait ask the clock again.
    pub(crate) now: Micros,
    /// The person's time zone.
    pub(crate) zone: Box<dyn Zone>,
    /// What `TZ` says when that is no time zone: times are in UTC then.
    unknown_zone: Option<String>,
    /// Ctrl-C.
    pub(crate) interrupt: Interrupt,
    stderr_is_terminal: bool,
    state_dir: Outcome<Located>,
}

impl Context {
    /// Resolves everything from the global arguments and the environment.
    ///
    /// # Errors
    /// When the configuration cannot be used. A missing state directory is an error only for the
    /// commands that ask for it.
    pub(crate) fn new(
        args: &GlobalArgs,
        env: &dyn Environment,
        interrupt: Interrupt,
        stdout_is_terminal: bool,
    ) -> Outcome<Context> {
        let config = Config::load(args.config.as_deref(), env)?;
        let state_dir =
            state_dir::resolve(args.state_dir.as_deref(), config.state_dir.as_deref(), env);
        install_patterns(config.redact.as_deref().unwrap_or_default());
        let stderr_is_terminal = std::io::stderr().is_terminal();
        let unknown_zone = env.text("TZ").filter(|tz| !is_zone(tz));
        let zone: Box<dyn Zone> = match unknown_zone {
            Some(_) => Box::new(Utc),
            None => Box::new(Local),
        };
        let palette = |is_terminal| Palette {
            on: colour::wanted(args.color, env, is_terminal),
        };
        Ok(Context {
            config,
            verbosity: args.verbosity(),
            stdout_palette: palette(stdout_is_terminal),
            stderr_palette: palette(stderr_is_terminal),
            now: wall_clock(),
            zone,
            unknown_zone,
            interrupt,
            stderr_is_terminal,
            state_dir,
        })
    }

    /// The state directory; it need not exist.
    ///
    /// # Errors
    /// 2 when nothing says where it is.
    pub(crate) fn state_dir(&self) -> Outcome<&Located> {
        self.state_dir.as_ref().map_err(Clone::clone)
    }

    /// The root of the local archive; it need not exist.
    ///
    /// # Errors
    /// As [`Context::state_dir`].
    pub(crate) fn archive_root(&self) -> Outcome<Located> {
        if let Some(path) = &self.config.archive_dir {
            return Ok(Located {
                path: path.clone(),
                from: From::File,
            });
        }
        let state_dir = self.state_dir()?;
        Ok(Located {
            path: state_dir.path.join("archive"),
            from: From::Default,
        })
    }

    /// Patterns besides the built-in shapes of what is taken out.
    pub(crate) fn redact_patterns(&self) -> &[String] {
        self.config.redact.as_deref().unwrap_or_default()
    }

    /// Says that times are not in the zone that was meant. Once, by the commands that show or read times.
    pub(crate) fn warn_of_zone(&self) {
        if let Some(name) = &self.unknown_zone {
            self.warn(&format!(
                "boundlane: `TZ` is `{name}`, which this machine does not know: times are in UTC"
            ));
        }
    }

    /// Says something beside the result, unless `-q`.
    pub(crate) fn note(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            stderr_line(
                &self
                    .stderr_palette
                    .painted(Tone::Dim, &escape::visible_lines(text)),
            );
        }
    }

    /// Says something that matters, also with `-q`: the answer is not what it seems to be.
    pub(crate) fn warn(&self, text: &str) {
        stderr_line(
            &self
                .stderr_palette
                .painted(Tone::Warning, &escape::visible_lines(text)),
        );
    }

    /// A bar for `total` bytes, drawn after a second when a person watches.
    pub(crate) fn progress_bytes(&self, what: &'static str, total: Option<u64>) -> Progress {
        Progress::bytes(what, total, self.draws())
    }

    /// A bar for `total` items, drawn after a second when a person watches.
    pub(crate) fn progress_items(&self, what: &'static str, total: Option<u64>) -> Progress {
        Progress::items(what, total, self.draws())
    }

    fn draws(&self) -> bool {
        self.stderr_is_terminal && self.verbosity > Verbosity::Quiet
    }
}

/// A line on standard error; when nobody listens there either, there is nothing left to do.
/// What looks like a secret is cut: a message may repeat an argument, a path or a URL.
pub(crate) fn stderr_line(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "{}", without_secrets(text));
}

/// The text without what is recognised as a secret, by the built-in shapes and the configuration's patterns.
pub(crate) fn without_secrets(text: &str) -> std::borrow::Cow<'_, str> {
    let mut spans = Spans::new();
    REDACTOR
        .get_or_init(Redactor::default)
        .line(text, &mut spans);
    spans.cut(text, 0..text.len())
}

/// For whatever is said or stored about a run: names, paths, messages. Set once, when the configuration is
/// read; what is wrong with the configuration itself is said with the built-in shapes.
static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// A pattern that cannot be used is refused by the command that reads lines.
fn install_patterns(patterns: &[String]) {
    if let (false, Ok(redactor)) = (patterns.is_empty(), Redactor::new(patterns)) {
        let _ = REDACTOR.set(redactor);
    }
}

/// Microseconds since the epoch by the machine's clock; before it, the epoch.
pub(crate) fn wall_clock() -> Micros {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// A path for a message: what a terminal would act on is spelled out.
pub(crate) fn shown(path: &std::path::Path) -> String {
    escape::visible(&PathBuf::from(path).to_string_lossy()).into_owned()
}
