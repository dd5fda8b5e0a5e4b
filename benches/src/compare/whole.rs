//! What `benches/whole-process` prints.

use std::collections::BTreeMap;

/// The best of a program's runs, each figure for itself: noise only ever adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// From start to end.
    pub wall_seconds: f64,
    /// Of all threads, in user and system.
    pub cpu_seconds: f64,
    /// Resident at most.
    pub memory_kib: f64,
}

impl Run {
    fn best(self, other: Run) -> Run {
        Run {
            wall_seconds: self.wall_seconds.min(other.wall_seconds),
            cpu_seconds: self.cpu_seconds.min(other.cpu_seconds),
            memory_kib: self.memory_kib.min(other.memory_kib),
        }
    }
}

/// All programs by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Runs {
    runs: BTreeMap<String, Run>,
    /// How many lines each run read.
    pub lines: Option<f64>,
    /// Bytes of the archive an entry.
    pub archive_bytes: Option<f64>,
}

impl Runs {
    /// Reads the output; lines that say something else are passed over.
    pub fn read(text: &str) -> Runs {
        let mut runs = Runs::default();
        for line in text.lines() {
            let Some((name, figures)) = line.split_once(": ") else {
                continue;
            };
            match name {
                "lines" => runs.lines = figures.parse().ok(),
                "archive bytes an entry" => runs.archive_bytes = figures.parse().ok(),
                _ => runs.add(name, figures),
            }
        }
        runs
    }

    fn add(&mut self, name: &str, figures: &str) {
        let Some(run) = figures_of(figures) else {
            return;
        };
        let best = self.runs.get(name).map_or(run, |before| before.best(run));
        self.runs.insert(name.to_owned(), best);
    }

    /// The runs of this name.
    pub fn of(&self, name: &str) -> Option<Run> {
        self.runs.get(name).copied()
    }
}

/// `3.50 s wall, 5.10 s user, 0.40 s system, 27000 KiB`.
fn figures_of(text: &str) -> Option<Run> {
    let mut figures = text.split(", ");
    let mut figure = |unit| figures.next()?.strip_suffix(unit)?.parse::<f64>().ok();
    let (wall, user, system) = (figure(" s wall")?, figure(" s user")?, figure(" s system")?);
    Some(Run {
        wall_seconds: wall,
        cpu_seconds: user + system,
        memory_kib: figure(" KiB")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_several_runs_is_kept_figure_by_figure() {
        let runs = Runs::read(
            "lines: 1000\n\
             ingest: 3.50 s wall, 5.00 s user, 0.50 s system, 27000 KiB\n\
             warning: something else\n\
             ingest: 3.00 s wall, 5.25 s user, 0.50 s system, 28000 KiB\n\
             archive bytes an entry: 30.4\n",
        );
        let best = Run {
            wall_seconds: 3.0,
            cpu_seconds: 5.5,
            memory_kib: 27000.0,
        };
        assert_eq!(runs.of("ingest"), Some(best));
        assert_eq!(runs.of("warning"), None);
        assert_eq!((runs.lines, runs.archive_bytes), (Some(1000.0), Some(30.4)));
    }
}
