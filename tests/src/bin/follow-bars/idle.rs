//! Fifty sandboxes that say nothing.

use std::time::{Duration, Instant};

use crate::crowd::Crowd;
use crate::gauge::{cpu_seconds, percent, resident_mib};

const SANDBOXES: usize = 50;
/// Until the first questions are asked and answered.
const CALM: Duration = Duration::from_secs(15);

/// Follows silence for `span`.
pub(crate) fn measure(program: &str, span: Duration) {
    let mut crowd = Crowd::gather(program, SANDBOXES);
    let pid = crowd.forwarder.pid();
    crowd.wait_until(Instant::now() + CALM);
    let cpu_before = cpu_seconds(pid);
    crowd.wait_until(Instant::now() + span);
    let cpu = cpu_seconds(pid) - cpu_before;
    println!(
        "idle: {cpu:.2} s of CPU in {:.0} s, {:.2} % of a core, {:.1} MiB",
        span.as_secs_f64(),
        percent(cpu, span),
        resident_mib(pid)
    );
}
