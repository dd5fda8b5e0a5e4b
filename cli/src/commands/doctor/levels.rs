//! Variables that make a supervisor or a gateway say less.

use boundlane_gateway::Surroundings;

use super::finding::Finding;
use crate::text::escape::visible;

const PUSH: &str = "push level";
const CONSOLE: &str = "log level";

/// What a filter does to lines that are written at INFO, as every decision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Passes,
    Hides,
    /// It is no filter that is known here.
    Unknown,
}

/// `OPENSHELL_LOG_PUSH_LEVEL`: above `info`, a supervisor that was started with it sends no decision.
pub(super) fn push(around: &dyn Surroundings) -> Finding {
    let name = "OPENSHELL_LOG_PUSH_LEVEL";
    let Some(value) = set(around, name) else {
        return Finding::ok(
            PUSH,
            format!("`{name}` is not set here: supervisors send from `info` on"),
        );
    };
    let shown = visible(&value);
    match effect(&value) {
        Effect::Passes => Finding::ok(PUSH, format!("`{name}` is `{shown}` here")),
        Effect::Hides => Finding::warning(
            PUSH,
            format!("`{name}` is `{shown}` here: a supervisor that is started with it sends no decision at all"),
        ),
        Effect::Unknown => Finding::warning(
            PUSH,
            format!("`{name}` is `{shown}` here, which is no level that is known"),
        ),
    }
    .advised(name)
}

/// `OPENSHELL_LOG_LEVEL` and `RUST_LOG`, and `log_level` of `gateway.toml`: the gateway's own lines pass
/// through this filter before they reach a stream.
pub(super) fn console(around: &dyn Surroundings, in_file: Option<&str>) -> Finding {
    let variables = ["OPENSHELL_LOG_LEVEL", "RUST_LOG"];
    let set = variables
        .into_iter()
        .filter_map(|name| Some((name, set(around, name)?)));
    let in_file = in_file.map(|value| ("log_level", value.to_owned()));
    let all: Vec<(&str, String)> = set.chain(in_file).collect();
    for (name, value) in &all {
        if effect(value) == Effect::Hides {
            let shown = visible(value);
            return Finding::warning(
                CONSOLE,
                format!("`{name}` is `{shown}`: a gateway with it does not say what it merged, approved or refused"),
            )
            .advised(name);
        }
    }
    match all.first() {
        None => Finding::ok(CONSOLE, "no filter is set here"),
        Some((name, value)) => Finding::ok(CONSOLE, format!("`{name}` is `{}`", visible(value))),
    }
}

impl Finding {
    /// What to do about a level that is not as it should be.
    fn advised(self, name: &str) -> Finding {
        match self.level {
            super::Level::Warning => self.fix(format!(
                "take `{name}` away or set it to `info`, then restart what was started with it"
            )),
            _ => self,
        }
    }
}

fn set(around: &dyn Surroundings, name: &str) -> Option<String> {
    let value = around.var(name)?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// Reads a level, or directives separated by commas: the one for `ocsf` decides, else the bare level.
fn effect(filter: &str) -> Effect {
    let mut bare = Effect::Unknown;
    for directive in filter.split(',').map(str::trim) {
        match directive.split_once('=') {
            Some(("ocsf", level)) => return of_level(level),
            Some(_) => {}
            None => bare = of_level(directive),
        }
    }
    bare
}

fn of_level(level: &str) -> Effect {
    match level.trim().to_ascii_lowercase().as_str() {
        "trace" | "debug" | "info" => Effect::Passes,
        "warn" | "warning" | "error" | "off" => Effect::Hides,
        _ => Effect::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::super::gateway_file::tests::Machine;
    use super::*;

    fn machine(variables: &[(&'static str, &'static str)]) -> Machine {
        Machine {
            variables: variables.to_vec(),
            ..Machine::default()
        }
    }

    #[test]
    fn a_filter_is_misread() {
        for passes in ["info", "DEBUG", "warn,ocsf=info", "h2=error,info"] {
            assert_eq!(effect(passes), Effect::Passes, "{passes}");
        }
        for hides in ["warn", "Error", "off", "info,ocsf=warn", "h2=debug,warn"] {
            assert_eq!(effect(hides), Effect::Hides, "{hides}");
        }
        for unknown in ["", "loud", "h2=debug"] {
            assert_eq!(effect(unknown), Effect::Unknown, "{unknown}");
        }
    }

    /// A level that hides every decision is not passed over; a blank variable is none.
    #[test]
    fn a_level_hides_decisions_unnoticed() {
        let push = |value| push(&machine(&[("OPENSHELL_LOG_PUSH_LEVEL", value)]));
        assert_eq!(push("warn").level, Level::Warning);
        assert!(push("warn").fix.is_some());
        assert_eq!(push("nonsense").level, Level::Warning);
        assert_eq!(push("debug").level, Level::Ok);
        assert_eq!(push(" ").level, Level::Ok);
        let console = |variables: &[_], file| console(&machine(variables), file).level;
        assert_eq!(console(&[], None), Level::Ok);
        assert_eq!(
            console(&[("OPENSHELL_LOG_LEVEL", "warn")], None),
            Level::Warning
        );
        assert_eq!(
            console(&[("RUST_LOG", "error")], Some("info")),
            Level::Warning
        );
        assert_eq!(console(&[], Some("warn")), Level::Warning);
        assert_eq!(
            console(&[("RUST_LOG", "h2=debug")], Some("info")),
            Level::Ok
        );
    }
}
