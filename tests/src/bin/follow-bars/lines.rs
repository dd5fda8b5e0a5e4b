//! Fifty sandboxes, 200 lines a second each: what is lost, and what it takes.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use boundlane_record::canonical;
use boundlane_store::{Found, Reader, Select, StateDir};
use boundlane_tests::Home;

use crate::crowd::Crowd;
use crate::gauge::{cpu_seconds, percent, resident_mib, spread};

const SANDBOXES: usize = 50;
/// Lines of one sandbox that come together, every [`ROUND`].
const LINES_A_ROUND: u64 = 10;
const ROUND: Duration = Duration::from_millis(50);

/// Publishes for `span` and compares the journal with what was published.
pub(crate) fn measure(program: &str, span: Duration) {
    let mut crowd = Crowd::gather(program, SANDBOXES);
    let pid = crowd.forwarder.pid();
    let began = Instant::now();
    let cpu_before = cpu_seconds(pid);
    let mut resident = Vec::new();
    let step = ROUND / u32::try_from(SANDBOXES).unwrap();
    let mut steps = 0;
    while began.elapsed() < span {
        for sandbox in 0..SANDBOXES {
            crowd.publish(sandbox, LINES_A_ROUND);
            steps += 1;
            crowd.wait_until(began + step * steps);
        }
        if began.elapsed().as_secs() >= resident.len() as u64 {
            resident.push(resident_mib(pid));
        }
    }
    let took = began.elapsed();
    crowd.settle();
    let cpu = cpu_seconds(pid) - cpu_before;
    let ended = crowd.forwarder.end();
    let found = count(&crowd.home);
    println!(
        "lines: {} published in {:.0} s ({:.0} a second)",
        crowd.made,
        took.as_secs_f64(),
        crowd.made as f64 / took.as_secs_f64()
    );
    println!(
        "journal: {} decisions, {} gaps; the forwarder ended: {ended:?}",
        found.decisions, found.gaps
    );
    let fifth = (resident.len() / 5).max(1);
    println!(
        "resident MiB, least / median / most: first fifth {}, last fifth {}",
        spread(&resident[..fifth]),
        spread(&resident[resident.len() - fifth..])
    );
    println!(
        "CPU: {cpu:.1} s, {:.0} % of a core, {:.1} us a line",
        percent(cpu, took),
        1e6 * cpu / crowd.made as f64
    );
    assert_eq!(found.decisions, crowd.made, "lines are lost");
}

#[derive(Default)]
struct Count {
    decisions: u64,
    gaps: u64,
}

fn count(home: &Home) -> Count {
    let reader = Reader::open(&StateDir::at(home.state())).unwrap().unwrap();
    let mut count = Count::default();
    let each = |found: Found<'_>| {
        let Found::Entry(_, bytes) = found else {
            panic!("the journal is damaged: {found:?}");
        };
        match canonical::decode(bytes).unwrap().kind.as_deref() {
            Some("decision") => count.decisions += 1,
            Some("gap") => count.gaps += 1,
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    };
    reader.each_entry(Select::all(), each).unwrap();
    count
}
