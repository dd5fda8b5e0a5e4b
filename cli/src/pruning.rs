//! When entries that the archive has are taken out of the journal.

use boundlane_record::Micros;
use boundlane_store::{AppendError, Journal, Prune, PruneTerms};

use crate::config::{Config, QUERY_SECONDS_MAX};
use crate::context::wall_clock;

/// How long a query may take, in microseconds.
pub(crate) fn query_micros_max(config: &Config) -> i64 {
    let seconds = config.query_seconds_max.unwrap_or(QUERY_SECONDS_MAX);
    i64::try_from(seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX)
}

/// What a prune now has to respect.
pub(crate) fn terms(query_micros_max: i64) -> PruneTerms {
    let now = wall_clock();
    PruneTerms {
        now,
        query_micros_max,
        boot: boot(now),
        receipted: None,
    }
}

/// Takes away all that is due.
pub(crate) fn prune_all(journal: &mut Journal, terms: &PruneTerms) -> Result<Prune, AppendError> {
    loop {
        match journal.prune(terms)? {
            Prune::Done { .. } => {}
            ended => return Ok(ended),
        }
    }
}

/// The boot that the kernel names, and when it was by the wall clock. `None` where it names none.
#[cfg(target_os = "linux")]
fn boot(now: Micros) -> Option<(String, Micros)> {
    use rustix::time::{ClockId, clock_gettime};
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let up = clock_gettime(ClockId::Boottime);
    let up = up.tv_sec * 1_000_000 + up.tv_nsec / 1000;
    Some((id.trim().to_owned(), Micros(now.0.saturating_sub(up))))
}

#[cfg(not(target_os = "linux"))]
fn boot(_now: Micros) -> Option<(String, Micros)> {
    None
}
