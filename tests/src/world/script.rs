//! What happens in one run: made from a seed alone.

use crate::gateway::{Cut, Generation, Settings, Spread, WarningPlace};

use super::random::Random;

/// One thing that happens. Sandboxes go by name; a step about one that is not there does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A sandbox is made.
    Create(String),
    /// It is deleted with its buffers.
    Delete(String),
    /// Lines come, one by one.
    Publish(String, usize),
    /// Lines come faster than anybody reads.
    Burst(String, usize),
    /// The same line comes several times in one millisecond.
    Same(String, usize),
    /// A supervisor pushes: the first hundred lines are kept.
    Push(String, usize),
    /// Its watches are not read until they have lost so many messages.
    Lag(String, usize),
    /// So many lines come while nobody can connect.
    Unreachable(String, usize, Cut),
    /// Its connections are cut.
    CutOf(String, Cut),
    /// All connections are cut.
    CutAll(Cut),
    /// The gateway starts anew; lines that come while it is down reach nobody.
    Restart(usize),
    /// The same, as a newer version.
    Upgrade(String),
    /// The next calls go to these replicas.
    Route(Vec<usize>),
    /// The next so many calls are over the rate limit.
    RateLimit(u32),
    /// The forwarder is killed, and started again after so many steps' worth of lines.
    Kill(usize),
    /// So many milliseconds go by, fewer when all is quiet before.
    Breathe(u64),
    /// Everything that was published is read.
    Settle,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Script {
    /// What it was made from.
    pub seed: u64,
    /// The gateway as it starts.
    pub settings: Settings,
    /// What happens.
    pub steps: Vec<Step>,
}

const NAMES: [&str; 3] = ["anvil", "bellows", "crucible"];
const STEPS: std::ops::Range<usize> = 8..30;

impl Script {
    /// The script of a seed. Two thirds are of the new generation.
    pub fn of(seed: u64) -> Script {
        let mut random = Random::new(seed);
        let settings = settings(&mut random);
        let mut steps = vec![Step::Create(NAMES[0].into())];
        for _ in 0..random.within(STEPS) {
            let name = (*random.one_of(&NAMES)).to_owned();
            step(&mut random, name, &settings, &mut steps);
            if random.once_in(2) {
                steps.push(Step::Breathe(random.below(30)));
            }
        }
        Script {
            seed,
            settings,
            steps,
        }
    }

    /// The same script for a gateway that can only be of `version`.
    #[must_use]
    pub fn for_version(mut self, version: &str) -> Script {
        self.settings.version = version.to_owned();
        self.steps.retain(|step| !matches!(step, Step::Upgrade(_)));
        if self.settings.generation() == Generation::Old {
            // Without cursors nobody can tell replicas apart.
            self.settings.replicas = 1;
            self.settings.spread = Spread::PerConnection;
            self.steps.retain(|step| !matches!(step, Step::Route(_)));
        }
        self
    }
}

fn settings(random: &mut Random) -> Settings {
    let mut settings = match random.once_in(3) {
        true => Settings::old(),
        false => Settings::default(),
    };
    if random.once_in(2) {
        settings.warning_place = WarningPlace::AfterDrain;
    }
    // A tail without cursors is no known gateway's.
    settings.tail_with_floor = random.once_in(3);
    if settings.generation() == Generation::New && random.once_in(6) {
        settings.replicas = 2;
        settings.spread = Spread::PerCall;
    }
    settings
}

fn step(random: &mut Random, name: String, settings: &Settings, steps: &mut Vec<Step>) {
    let next = match random.below(32) {
        0..=8 => Step::Publish(name, random.within(1..60)),
        9 | 10 => Step::Create(name),
        11 => Step::Delete(name),
        12 => {
            steps.push(Step::Delete(name.clone()));
            Step::Create(name)
        }
        13 | 14 => Step::Burst(name, random.within(100..1_500)),
        15 | 16 => Step::Same(name, random.within(2..40)),
        17 => Step::Push(name, random.within(50..200)),
        18 | 19 => Step::Lag(name, random.within(1..2_500)),
        20 => Step::Unreachable(name, random.within(1..400), cut(random)),
        21 => Step::Unreachable(name, random.within(1_900..2_600), cut(random)),
        22 | 23 => Step::CutOf(name, cut(random)),
        24 => Step::CutAll(cut(random)),
        25 => Step::Restart(0),
        26 => Step::Restart(random.within(1..80)),
        27 if settings.generation() == Generation::Old => Step::Upgrade("0.1.5".into()),
        27 if settings.replicas > 1 => {
            let replicas = 0..random.within(1..6);
            Step::Route(replicas.map(|_| random.within(0..2)).collect())
        }
        28 => Step::RateLimit(u32::try_from(random.below(3) + 1).unwrap()),
        29 | 30 => Step::Kill(random.within(0..2_200)),
        _ => Step::Settle,
    };
    steps.push(next);
}

fn cut(random: &mut Random) -> Cut {
    *random.one_of(&[Cut::Close, Cut::Reset])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_script_and_seeds_make_all_kinds_of_steps() {
        let said = |seed| format!("{:?}", Script::of(seed));
        assert_eq!(said(7), said(7));
        assert_ne!(said(7), said(8));
        let all: String = (0..300).map(said).collect();
        let words = "Create Delete Publish Burst Same Push Lag Unreachable CutOf CutAll Restart Upgrade \
                     Route RateLimit Kill Breathe Settle AfterDrain 0.0.116";
        for word in words.split_whitespace() {
            assert!(all.contains(word), "{word}");
        }
    }
}
