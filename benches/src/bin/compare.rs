//! `compare BASELINE CRITERION_DIR [WHOLE_PROCESS_OUTPUT]`: prints what was measured beside the baseline.
//!
//! Exits with 1 when something is over by more than the baseline's tolerance. A missed bar is printed and
//! changes nothing: it is a fact of the machine, too.

use std::collections::BTreeMap;
use std::io::{Result, Write};
use std::path::Path;
use std::process::ExitCode;

use boundlane_benches::compare::{Baseline, Bench, Compared, Runs, bench, measures};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [baseline, criterion, runs @ ..] = &arguments[..] else {
        return usage();
    };
    let done = read(baseline, criterion, runs.first()).and_then(|(baseline, compared)| {
        print(&compared, baseline.tolerance)?;
        let is_over = |compared: &Compared| compared.is_over(baseline.tolerance);
        Ok(compared.iter().any(is_over))
    });
    match done {
        Ok(over) => ExitCode::from(u8::from(over)),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "compare: {error}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> ExitCode {
    let usage = "usage: compare BASELINE CRITERION_DIR [WHOLE_PROCESS_OUTPUT]";
    let _ = writeln!(std::io::stderr(), "{usage}");
    ExitCode::from(2)
}

fn read(
    baseline: &str,
    criterion: &str,
    runs: Option<&String>,
) -> Result<(Baseline, Vec<Compared>)> {
    let text = std::fs::read_to_string(baseline)?;
    let baseline = Baseline::read(&text).map_err(|bad| std::io::Error::other(bad.0))?;
    let benches = benches(Path::new(criterion))?;
    let runs = runs.map(std::fs::read_to_string).transpose()?;
    let runs = Runs::read(runs.as_deref().unwrap_or_default());
    let compared = measures().filter_map(|measure| measure.compare(&benches, &runs, &baseline));
    let compared = compared.collect();
    Ok((baseline, compared))
}

/// Every bench below Criterion's directory, as `group/bench`.
fn benches(criterion: &Path) -> Result<BTreeMap<String, Bench>> {
    let mut found = BTreeMap::new();
    for group in directories(criterion)? {
        for name in directories(&criterion.join(&group))? {
            let new = criterion.join(&group).join(&name).join("new");
            let text = |file| std::fs::read_to_string(new.join(file)).unwrap_or_default();
            let read = bench(&text("estimates.json"), &text("benchmark.json"));
            found.extend(read.map(|read| (format!("{group}/{name}"), read)));
        }
    }
    Ok(found)
}

fn directories(path: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

fn print(compared: &[Compared], tolerance: f64) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:<32} {:>20} {:>12} {:>12} {:>8}",
        "what", "measured", "value", "baseline", "change"
    )?;
    for compared in compared {
        writeln!(out, "{compared}")?;
    }
    for compared in compared
        .iter()
        .filter(|compared| compared.is_over(tolerance))
    {
        let percent = tolerance * 100.0;
        writeln!(out, "over by more than {percent:.0} %: {}", compared.name)?;
    }
    for compared in compared {
        if let Some(bar) = &compared.missed {
            writeln!(out, "bar missed: {}: {bar}", compared.name)?;
        }
    }
    Ok(())
}
