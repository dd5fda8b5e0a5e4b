//! Counting the crash points of a scenario, and failing at each.

use std::collections::BTreeMap;
use std::fs;

use boundlane_powercut::Disk;
use boundlane_store::StateDir;

use crate::check::{assert_laws, rows_of_tables};
use crate::feed::state;
use crate::script::{Step, run};

/// Crash points of one scenario that every test run tries.
const SAMPLE: usize = 30;
/// Set, all of them are tried, so many times each: what is left behind is a matter of the seed.
const SEEDS: &str = "BOUNDLANE_POWER_SEEDS";

/// A journal that scenarios begin with, and what they do with it.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) base: StateDir,
    pub(crate) steps: Vec<Step>,
}

/// The directory as it was when the base's writer had closed it.
fn copy(base: &StateDir) -> (tempfile::TempDir, StateDir) {
    let (parent, dir) = state();
    dir.create().unwrap();
    for file in fs::read_dir(base.path()).unwrap() {
        let file = file.unwrap();
        if !file.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
    }
    (parent, dir)
}

impl Scenario {
    /// Counts, then cuts at each.
    pub(crate) fn prove(&self) {
        let states = self.states();
        let points = self.count();
        let (every, seeds) = match std::env::var(SEEDS) {
            Ok(seeds) => (1, seeds.parse::<u64>().unwrap()),
            Err(_) => (points.div_ceil(SAMPLE), 1),
        };
        let mut runs = 0;
        for point in (1..=points).step_by(every) {
            for seed in 0..seeds {
                self.cut(point, seed << 32 | point as u64, &states);
                runs += 1;
            }
        }
        println!("{}: seeds run: {runs}", self.name);
    }

    /// What is in the tables before the first step and after each, where no power goes.
    fn states(&self) -> Vec<Vec<String>> {
        let (_parent, dir) = copy(&self.base);
        let mut states = vec![rows_of_tables(&dir)];
        run(&dir, &self.steps, 0, &mut |_| {
            states.push(rows_of_tables(&dir));
            assert_laws(&dir);
        })
        .unwrap();
        states
    }

    fn count(&self) -> usize {
        let (_parent, dir) = copy(&self.base);
        let disk = Disk::watch(dir.path()).unwrap();
        let (mut by_step, mut before) = (BTreeMap::<_, usize>::new(), 0);
        run(&dir, &self.steps, 0, &mut |done| {
            let word = match done {
                0 => "open",
                _ => self.steps[done - 1].word(),
            };
            *by_step.entry(word).or_default() += disk.operations() - before;
            before = disk.operations();
        })
        .unwrap();
        *by_step.entry("close").or_default() += disk.operations() - before;
        println!(
            "{}: crash points: {} {by_step:?}",
            self.name,
            disk.operations()
        );
        disk.operations()
    }

    /// The power goes at this point; what is left is whole, and the script goes on from there.
    fn cut(&self, point: usize, seed: u64, states: &[Vec<String>]) {
        let (_parent, dir) = copy(&self.base);
        let disk = Disk::watch(dir.path()).unwrap();
        disk.cut_at(point);
        let mut taken = 0;
        let ended = run(&dir, &self.steps, 0, &mut |done| taken = done + 1);
        assert!(disk.is_off(), "point {point} is met in each run");
        // The last thing that a script does is to close the journal, which cannot fail.
        assert_eq!(ended.is_ok(), taken == states.len() - 1, "{ended:?}");
        let at = format!(
            "{}: point {point} ({}), seed {seed}, after step {taken}: {ended:?}",
            self.name,
            disk.log().last().unwrap()
        );
        let _said = SaidOnFailure(at);
        disk.lose(seed).unwrap();

        let left = rows_of_tables(&dir);
        let mut possible = states[taken..].iter().take(2);
        let Some(step) = possible.position(|state| *state == left) else {
            panic!("{}", difference(&states[taken], &left));
        };
        let step = taken + step;
        assert_laws(&dir);
        // The opening numbers what was open, so from here on the journals differ; the laws are the same.
        run(&dir, &self.steps, step.saturating_sub(1), &mut |_| {}).unwrap();
        assert_laws(&dir);
        self.assert_goals(&dir);
    }

    /// Each stream has come to the last of its lines.
    fn assert_goals(&self, dir: &StateDir) {
        let goals = self.steps.iter().filter_map(|step| match step {
            Step::Shed(goals) | Step::Wait(goals) => Some(*goals),
            _ => None,
        });
        let goals: BTreeMap<_, _> = goals.flatten().copied().collect();
        let reader = crate::feed::reader(dir);
        for (name, goal) in goals {
            let place = reader.stream(name).unwrap().unwrap().place;
            assert_eq!(place, goal.to_string(), "{name}");
        }
    }
}

/// What a failing test says about where it was.
struct SaidOnFailure(String);

impl Drop for SaidOnFailure {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0);
        }
    }
}

fn difference(before: &[String], left: &[String]) -> String {
    let gone = before.iter().filter(|row| !left.contains(row));
    let come = left.iter().filter(|row| !before.contains(row));
    let gone = gone.map(|row| format!("- {row}\n"));
    gone.chain(come.map(|row| format!("+ {row}\n"))).collect()
}
