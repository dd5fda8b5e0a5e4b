//! What is compared, against which yardstick, and the bars of the design.

use std::collections::BTreeMap;

use super::{Baseline, Bench, Compared, Run, Runs};

const SCAN: &str = "parse/newline_scan";
const ROW_LOOP: &str = "durable/row_an_entry";

/// One thing that is measured. Smaller values are better, whatever it is.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// What the baseline calls it.
    pub name: &'static str,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// A bench against a yardstick, and the elements a second that it must reach.
    Rate(&'static str, &'static str, f64),
    /// How many times faster a bench must be than its yardstick.
    Times(&'static str, &'static str, f64),
    /// CPU time a line against the row loop, and the wall seconds that a run may take.
    Time(&'static str, Option<f64>),
    /// Memory, and the most that it may be, in MiB.
    Memory(&'static str, f64),
    /// Bytes of the archive an entry, and the most that there may be.
    Archive(f64),
}

const MEASURES: [Measure; 10] = [
    measure(
        "parse, fields",
        What::Rate("parse/borrowed_fields", SCAN, 4e6),
    ),
    measure(
        "parse, entries",
        What::Rate("parse/canonical_entries", SCAN, 1e6),
    ),
    measure(
        "journal, rate",
        What::Rate("durable/journal", ROW_LOOP, 5e5),
    ),
    measure(
        "journal, times",
        What::Times("durable/journal", ROW_LOOP, 3.0),
    ),
    measure(
        "ingest alone, time",
        What::Time("ingest, no archive", Some(3.0)),
    ),
    measure(
        "ingest alone, memory",
        What::Memory("ingest, no archive", 64.0),
    ),
    measure("archive alone, time", What::Time("archive", None)),
    measure(
        "ingest and archive, time",
        What::Time("ingest with archive", Some(5.0)),
    ),
    measure(
        "ingest and archive, memory",
        What::Memory("ingest with archive", 128.0),
    ),
    measure("archive, size", What::Archive(50.0)),
];

const fn measure(name: &'static str, what: What) -> Measure {
    Measure { name, what }
}

/// Everything that is measured, in the order in which it is printed.
pub fn measures() -> impl Iterator<Item = &'static Measure> {
    MEASURES.iter()
}

impl Measure {
    /// Compares it; `None` when it, or its yardstick, was not measured.
    pub fn compare(
        &self,
        benches: &BTreeMap<String, Bench>,
        runs: &Runs,
        baseline: &Baseline,
    ) -> Option<Compared> {
        let found = match self.what {
            What::Rate(bench, yardstick, least) => rate(benches, bench, yardstick, least),
            What::Times(bench, yardstick, least) => times(benches, bench, yardstick, least),
            What::Time(run, most) => time(benches, runs, runs.of(run)?, most),
            What::Memory(run, most) => Some(memory(runs.of(run)?, most)),
            What::Archive(most) => Some(archive(runs.archive_bytes?, most)),
        };
        let (value, printed, missed) = found?;
        Some(Compared {
            name: self.name,
            value,
            before: baseline.of(self.name),
            printed,
            missed,
        })
    }
}

type Value = (f64, String, Option<String>);

fn rate(benches: &BTreeMap<String, Bench>, bench: &str, yard: &str, least: f64) -> Option<Value> {
    let (bench, yardstick) = (benches.get(bench)?, benches.get(yard)?);
    let millions = bench.per_second() / 1e6;
    let missed = bench.per_second() < least;
    Some((
        bench.nanos / yardstick.nanos,
        format!("{millions:.2} M/s"),
        missed.then(|| format!("at least {:.2} M/s", least / 1e6)),
    ))
}

fn times(benches: &BTreeMap<String, Bench>, bench: &str, yard: &str, least: f64) -> Option<Value> {
    let ratio = benches.get(bench)?.nanos / benches.get(yard)?.nanos;
    Some((
        ratio,
        format!("{:.1} x", 1.0 / ratio),
        (1.0 / ratio < least).then(|| format!("at least {least:.1} x")),
    ))
}

fn time(
    benches: &BTreeMap<String, Bench>,
    runs: &Runs,
    run: Run,
    most: Option<f64>,
) -> Option<Value> {
    let nanos = run.cpu_seconds * 1e9 / runs.lines?;
    let missed = most.filter(|most| run.wall_seconds > *most);
    Some((
        nanos / benches.get(ROW_LOOP)?.nanos,
        format!("{:.2} s, {:.2} s CPU", run.wall_seconds, run.cpu_seconds),
        missed.map(|most| format!("at most {most:.2} s")),
    ))
}

fn memory(run: Run, most: f64) -> Value {
    let mib = run.memory_kib / 1024.0;
    let missed = (mib > most).then(|| format!("at most {most:.0} MiB"));
    (mib, format!("{mib:.0} MiB"), missed)
}

fn archive(bytes: f64, most: f64) -> Value {
    let missed = (bytes > most).then(|| format!("at most {most:.0} B"));
    (bytes, format!("{bytes:.1} B an entry"), missed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn compare(name: &str, output: &str) -> Compared {
        let bench = |name: &str, nanos| (name.to_owned(), Bench { nanos });
        let benches = BTreeMap::from([bench(ROW_LOOP, 8000.0), bench("durable/journal", 4000.0)]);
        let baseline = "tolerance = 0.2\n[values]\n\"journal, rate\" = 0.4\n";
        let baseline = Baseline::read(baseline).unwrap();
        let measure = measures().find(|measure| measure.name == name).unwrap();
        let runs = Runs::read(output);
        measure.compare(&benches, &runs, &baseline).unwrap()
    }

    #[test]
    fn a_ratio_is_over_only_beyond_the_tolerance() {
        let found = compare("journal, rate", "");
        assert_eq!((found.value, found.before), (0.5, Some(0.4)));
        assert!(found.is_over(0.2) && !found.is_over(0.3));
        assert_eq!(found.missed.as_deref(), Some("at least 0.50 M/s"));
        assert_eq!(
            compare("journal, times", "").missed.as_deref(),
            Some("at least 3.0 x")
        );
    }

    #[test]
    fn a_run_is_measured_in_cpu_time_a_line_and_judged_by_its_wall_time() {
        let output = "lines: 1000000\n\
             ingest with archive: 4.00 s wall, 7.00 s user, 1.00 s system, 132096 KiB\n";
        let found = compare("ingest and archive, time", output);
        assert_eq!((found.value, found.missed), (1.0, None));
        let found = compare("ingest and archive, memory", output);
        assert_eq!(found.missed.as_deref(), Some("at most 128 MiB"));
        assert!(!found.is_over(0.0), "it has no baseline here");
    }
}
