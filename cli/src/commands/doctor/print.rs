//! The findings for people and for programs.

use boundlane_record::Micros;
use serde_json::{Value, json};

use super::finding::{Finding, Level};
use crate::context::Context;
use crate::exit::Outcome;
use crate::output::out::Out;
use crate::text::colour::Tone;
use crate::text::escape::visible;
use crate::time::rfc3339;

/// Columns of the words at the left.
const LEVELS: usize = 9;
const CHECKS: usize = 19;

/// The worst level of all.
pub(super) fn worst(findings: &[Finding]) -> Level {
    let levels = findings.iter().map(|finding| finding.level);
    levels.max().unwrap_or(Level::Ok)
}

/// A line for each finding, and one for each fix.
pub(super) fn screen(findings: &[Finding], ctx: &Context, out: &mut Out) -> Outcome<()> {
    for finding in findings {
        let mut line = String::new();
        let level = format!("{:<LEVELS$}", finding.level.word());
        ctx.stdout_palette
            .paint(&mut line, tone(finding.level), &level);
        line += &format!("{:<CHECKS$}{}", finding.check, visible(&finding.what));
        out.line(&line)?;
        if let Some(fix) = &finding.fix {
            let indent = LEVELS + CHECKS;
            out.line(&format!("{:indent$}fix: {}", "", visible(fix)))?;
        }
    }
    out.flush_now()?;
    ctx.note(&summary(findings));
    Ok(())
}

fn tone(level: Level) -> Tone {
    match level {
        Level::Ok => Tone::Good,
        Level::Note => Tone::Dim,
        Level::Warning => Tone::Warning,
        Level::Error => Tone::Bad,
    }
}

fn summary(findings: &[Finding]) -> String {
    let count = |level| {
        let these = findings.iter().filter(|finding| finding.level == level);
        these.count()
    };
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    if errors + warnings == 0 {
        return "nothing found that hides decisions; docs/BLIND_SPOTS.md lists what no program can see"
            .to_owned();
    }
    let plural = |n: usize, word: &str| match n {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    format!(
        "{}, {}",
        plural(errors, "error"),
        plural(warnings, "warning")
    )
}

/// One document. Keys are only ever added.
pub(super) fn document(findings: &[Finding], now: Micros) -> Value {
    let checks: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "check": finding.check,
                "level": finding.level.word(),
                "what": finding.what,
                "fix": finding.fix,
            })
        })
        .collect();
    json!({
        "worst": worst(findings).word(),
        "checks": checks,
        "program": env!("CARGO_PKG_VERSION"),
        "at": rfc3339(now),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_hides_behind_what_is_well() {
        let findings = [
            Finding::ok("a", "x"),
            Finding::error("b", "y").fix("z"),
            Finding::note("c", "w"),
        ];
        assert_eq!(worst(&findings), Level::Error);
        assert_eq!(summary(&findings), "1 error, 0 warnings");
        assert!(summary(&findings[..1]).starts_with("nothing found"));
        let document = document(&findings, Micros(0));
        assert_eq!(document["worst"], "error");
        assert_eq!(document["checks"][1]["fix"], "z");
        assert_eq!(document["checks"][0]["fix"], Value::Null);
    }
}
