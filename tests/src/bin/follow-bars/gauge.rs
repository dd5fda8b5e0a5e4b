//! What a process uses, as the kernel counts it.

use std::time::Duration;

/// Clock ticks a second in `/proc`: the same on every Linux.
const TICKS_A_SECOND: f64 = 100.0;

/// Resident memory in MiB.
pub(crate) fn resident_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<f64>().unwrap() / 1024.0
}

/// CPU time so far, of the program and the kernel for it, in seconds.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // Behind the name, which may have blanks.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS_A_SECOND
}

/// `12.3 / 12.5 / 13.0`: least, median, most.
pub(crate) fn spread(samples: &[f64]) -> String {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [least, median, most] = [0, 50, 100].map(|part| percentile(&sorted, part));
    format!("{least:.1} / {median:.1} / {most:.1}")
}

/// The value that `part` of a hundred do not exceed; `sorted` is not empty.
pub(crate) fn percentile(sorted: &[f64], part: usize) -> f64 {
    let rank = (sorted.len() * part).div_ceil(100);
    sorted[rank.max(1) - 1]
}

/// CPU time over wall time, in percent of one core.
pub(crate) fn percent(cpu_seconds: f64, wall: Duration) -> f64 {
    100.0 * cpu_seconds / wall.as_secs_f64()
}
