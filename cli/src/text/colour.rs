//! Colour, decided once for each stream: the flag, then the environment, then whether a person reads.

use clap::ValueEnum;

use crate::environment::Environment;

/// What `--color` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless the environment objects.
    #[default]
    Auto,
    /// Also in pipes and files.
    Always,
    /// Not at all.
    Never,
}

/// Whether a stream gets colour.
///
/// `NO_COLOR` counts even when it is empty, as this program's users are used to; `CLICOLOR_FORCE`
/// counts unless it is empty or `0`; a terminal that calls itself `dumb` gets none.
pub(crate) fn wanted(choice: ColourChoice, env: &dyn Environment, is_terminal: bool) -> bool {
    match choice {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto if env.var("NO_COLOR").is_some() => false,
        ColourChoice::Auto if forced(env) => true,
        ColourChoice::Auto => is_terminal && env.text("TERM").as_deref() != Some("dumb"),
    }
}

fn forced(env: &dyn Environment) -> bool {
    env.text("CLICOLOR_FORCE")
        .is_some_and(|force| !force.is_empty() && force != "0")
}

/// What a piece of text means; how that looks is decided here alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// Allowed, healthy.
    Good,
    /// Denied, losing.
    Bad,
    /// Losses, degraded.
    Warning,
    /// Beside the matter.
    Dim,
    /// Headers.
    Strong,
}

/// Paints, or leaves alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    /// Whether there is colour at all.
    pub(crate) on: bool,
}

impl Palette {
    /// Appends `text` in `tone` to `line`.
    pub(crate) fn paint(self, line: &mut String, tone: Tone, text: &str) {
        let code = match tone {
            _ if !self.on => "",
            Tone::Plain => "",
            Tone::Good => "\x1b[32m",
            Tone::Bad => "\x1b[31m",
            Tone::Warning => "\x1b[33m",
            Tone::Dim => "\x1b[2m",
            Tone::Strong => "\x1b[1m",
        };
        line.push_str(code);
        line.push_str(text);
        if !code.is_empty() {
            line.push_str("\x1b[0m");
        }
    }

    /// `text` in `tone`.
    pub(crate) fn painted(self, tone: Tone, text: &str) -> String {
        let mut line = String::with_capacity(text.len() + 8);
        self.paint(&mut line, tone, text);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Fixed;

    /// Flag beats environment beats terminal, for each stream by itself.
    #[test]
    fn colour_is_decided_by_the_wrong_thing() {
        let nothing = Fixed::new(&[]);
        assert!(wanted(ColourChoice::Auto, &nothing, true));
        assert!(!wanted(ColourChoice::Auto, &nothing, false));
        for objection in [("NO_COLOR", "1"), ("NO_COLOR", ""), ("TERM", "dumb")] {
            let env = Fixed::new(&[objection]);
            assert!(!wanted(ColourChoice::Auto, &env, true), "{objection:?}");
            assert!(wanted(ColourChoice::Always, &env, false), "{objection:?}");
        }
        let forced = Fixed::new(&[("CLICOLOR_FORCE", "1")]);
        assert!(wanted(ColourChoice::Auto, &forced, false));
        assert!(!wanted(ColourChoice::Never, &forced, true));
        let not_forced = Fixed::new(&[("CLICOLOR_FORCE", "0")]);
        assert!(!wanted(ColourChoice::Auto, &not_forced, false));
        let both = Fixed::new(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
        assert!(!wanted(ColourChoice::Auto, &both, true));
    }
}
