//! From the gateway to the eye: 200 sandboxes are followed into a journal; some of them are shown by
//! `log -f` out of that journal, and by another that follows the gateway itself.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use boundlane_tests::Home;
use boundlane_tests::gateway::{Moment, now};

use crate::crowd::{Crowd, number};
use crate::gauge::percentile;

const SANDBOXES: usize = 200;
/// Sandboxes that are shown, each both ways.
const SHOWN: usize = 4;
/// Between two lines; each is of the next sandbox.
const STEP: Duration = Duration::from_millis(1);
/// Not counted: attaching, and the history.
const WARM: Duration = Duration::from_secs(5);
/// Until what was published last is shown.
const DRAIN: Duration = Duration::from_secs(2);

/// What is on its way from the record to the eye.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Itself,
    Journal,
}

/// A line was printed.
struct Seen {
    way: Way,
    line: u64,
    at: Moment,
}

/// Publishes for `span` and compares when lines were published and printed.
pub(crate) fn measure(program: &str, span: Duration) {
    let mut crowd = Crowd::gather(program, SANDBOXES);
    // Something has to be recorded before it can be shown.
    (0..SANDBOXES).for_each(|sandbox| drop(crowd.publish(sandbox, 1)));
    crowd.settle();
    crowd.wait_until(Instant::now() + WARM / 2);
    let alone = Home::new();
    let (saying, said) = channel();
    let mut shown = Vec::new();
    for sandbox in 0..SHOWN {
        let name = crowd.names[sandbox * SANDBOXES / SHOWN].clone();
        shown.push(show(
            &crowd.home,
            &crowd.url(),
            &name,
            Way::Journal,
            &saying,
        ));
        shown.push(show(&alone, &crowd.url(), &name, Way::Itself, &saying));
    }
    while crowd.watches() < SANDBOXES + SHOWN {
        crowd.wait_until(Instant::now() + WARM / 50);
    }
    publish(&mut crowd, WARM);
    let published = publish(&mut crowd, span);
    crowd.wait_until(Instant::now() + DRAIN);
    for mut child in shown {
        let _ = child.kill();
        let _ = child.wait();
    }
    drop(saying);
    report(&said, &published);
}

/// Publishes line by line; when each came to the gateway.
fn publish(crowd: &mut Crowd, span: Duration) -> HashMap<u64, Moment> {
    let began = Instant::now();
    let mut published = HashMap::new();
    let mut steps = 0;
    while began.elapsed() < span {
        let sandbox = steps as usize % SANDBOXES;
        let number = crowd.made;
        let line = crowd.publish(sandbox, 1).remove(0);
        published.insert(number, line.at);
        steps += 1;
        crowd.wait_until(began + STEP * steps);
    }
    published
}

fn show(home: &Home, url: &str, name: &str, way: Way, saying: &Sender<Seen>) -> Child {
    let mut command = home.command(["log", name, "--follow", "-o", "jsonl"]);
    if way == Way::Itself {
        command.env("OPENSHELL_GATEWAY_ENDPOINT", url);
    }
    command.stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let saying = saying.clone();
    std::thread::spawn(move || {
        while let Some(Ok(text)) = lines.next() {
            let at = now();
            let Some(line) = number(&text) else { continue };
            if saying.send(Seen { way, line, at }).is_err() {
                break;
            }
        }
    });
    child
}

fn report(said: &Receiver<Seen>, published: &HashMap<u64, Moment>) {
    let seen: Vec<Seen> = said.iter().collect();
    let owed = published.len() * SHOWN / SANDBOXES;
    for (way, words) in [
        (Way::Itself, "following itself"),
        (Way::Journal, "through the journal"),
    ] {
        let of_way = seen.iter().filter(|seen| seen.way == way);
        let took = of_way.filter_map(|seen| Some((seen.at - published.get(&seen.line)?) as f64));
        let mut took: Vec<f64> = took.map(|micros| micros / 1000.0).collect();
        took.sort_by(f64::total_cmp);
        assert!(!took.is_empty(), "nothing is shown {words}");
        let [half, most, all] = [50, 99, 100].map(|part| percentile(&took, part));
        println!(
            "latency, {words}: p50 {half:.1} ms, p99 {most:.1} ms, max {all:.1} ms \
             ({} of about {owed} lines)",
            took.len()
        );
    }
}
