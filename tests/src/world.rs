//! The scripted world: a gateway to which everything happens that happens to gateways, a real
//! `boundlane forward` that follows it, and an oracle that compares its journal with the book of what was
//! published.
//!
//! A run is made from a seed alone. The order of events between the two processes is the machine's, so a
//! seed that failed may need several runs to fail again.

mod child;
mod drive;
mod forwarder;
mod lines;
mod oracle;
mod random;
mod script;
mod testimony;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::gateway::{Gateway, GatewayControl, WarningPlace};
use crate::{Home, repository};

pub use child::ChildGateway;
pub use forwarder::{ENDS_WITHIN, Forwarder, PACE};
pub use lines::{Lines, is_stored};
pub use oracle::{Case, Verdict, judge};
pub use random::Random;
pub use script::{Script, Step};
pub use testimony::{Gap, Heard, Recorded, Testimony};

/// What follows a failure: words of the program that are shown.
const LOG_LINES_SHOWN: usize = 60;

/// Runs the script of `seed` against the gateway that the environment names.
///
/// # Errors
/// What went wrong, with the script.
pub fn run(seed: u64) -> Result<Verdict, String> {
    let wanted = std::env::var("BOUNDLANE_WORLD_GATEWAY").ok();
    let Some(wanted) = wanted else {
        let script = Script::of(seed);
        let mut gateway = Gateway::start(script.settings.clone());
        return run_on(&script, &mut gateway);
    };
    let parts: Vec<&str> = wanted.splitn(3, ':').collect();
    let ["python", python, version] = parts[..] else {
        panic!("BOUNDLANE_WORLD_GATEWAY is not `python:PATH:VERSION`: {wanted}");
    };
    let script = Script::of(seed).for_version(version);
    let settings = serde_json::to_string(&script.settings).unwrap();
    let mut command = Command::new(Path::new(python));
    command.arg(repository("interop/gateway")).arg(settings);
    run_on(&script, &mut ChildGateway::start(&mut command))
}

/// Runs `script` against `gateway`.
///
/// # Errors
/// As [`run`].
pub fn run_on(script: &Script, gateway: &mut dyn GatewayControl) -> Result<Verdict, String> {
    let home = Home::new();
    let mut driver = drive::Driver::new(script, gateway, &home);
    script.steps.iter().for_each(|step| driver.step(step));
    let rested = driver.rest();
    let mut verdict = judge(Case {
        book: &rested.book,
        testimony: &rested.testimony,
        kills: &rested.kills,
        reads_back: script.settings.warning_place == WarningPlace::AfterDrain,
    });
    verdict.faults.extend(rested.faults);
    let fsck = home.run(["fsck"]);
    if fsck.code() != 0 {
        let said = fsck.stdout() + &fsck.stderr();
        verdict.faults.push(format!("fsck: {said}"));
    }
    match verdict.faults.is_empty() {
        true => Ok(verdict),
        false => Err(told(script, &verdict, &rested.log)),
    }
}

fn told(script: &Script, verdict: &Verdict, log: &[String]) -> String {
    let shown = log.len().saturating_sub(LOG_LINES_SHOWN);
    format!(
        "seed {seed}\n{settings:?}\n{steps:#?}\nthe program said:\n{log}\nfaults:\n{faults}\n\
         again: BOUNDLANE_SEED={seed} cargo test -p boundlane-tests --test world -- --nocapture",
        seed = script.seed,
        settings = script.settings,
        steps = script.steps,
        log = log[shown..].join("\n"),
        faults = verdict.faults.join("\n"),
    )
}

/// How much is run.
#[derive(Debug, Clone, Copy)]
pub enum Amount {
    /// Seeds that begin within this time.
    For(Duration),
    /// This many.
    Seeds(u64),
}

/// What many runs came to.
#[derive(Debug, Default)]
pub struct Tour {
    /// Runs.
    pub seeds: u64,
    /// Their verdicts, added up.
    pub total: Verdict,
    /// The failures, in full.
    pub failures: Vec<String>,
}

/// Failures after which no further seed begins.
const FAILURES_MAX: usize = 3;

/// Runs seeds from `first` on, `workers` at a time.
pub fn tour(first: u64, amount: Amount, workers: usize) -> Tour {
    let began = Instant::now();
    let next = AtomicU64::new(0);
    let tour = Mutex::new(Tour::default());
    let work = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let is_enough = match amount {
                Amount::For(time) => n > 0 && began.elapsed() >= time,
                Amount::Seeds(count) => n >= count,
            };
            let failed = tour
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .failures
                .len();
            if is_enough || failed >= FAILURES_MAX {
                return;
            }
            let ran = run(first + n);
            let mut tour = tour.lock().unwrap_or_else(PoisonError::into_inner);
            tour.add(ran);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    tour.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Tour {
    fn add(&mut self, ran: Result<Verdict, String>) {
        self.seeds += 1;
        match ran {
            Ok(verdict) => {
                self.total.stored += verdict.stored;
                self.total.covered += verdict.covered;
                self.total.excused += verdict.excused;
            }
            Err(failure) => self.failures.push(failure),
        }
    }
}
