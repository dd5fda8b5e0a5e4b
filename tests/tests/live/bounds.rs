//! A forwarder whose queue is full: what it sheds, whose, and what it says.

use boundlane_store::{Reader, StateDir};
use boundlane_tests::Home;
use boundlane_tests::gateway::{Gateway, Line, PATIENCE};
use rustix::process::Signal;

use crate::support::{
    Running, assert_sound, generations, numbered, numbers, recorded, run, sandbox,
};

/// Writes the configuration of `home`.
fn configure(home: &Home, text: &str) {
    let dir = home.path().join(".config/boundlane");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

/// A denial that carries its number.
fn denial(number: usize) -> Line {
    Line::ocsf(format!(
        "NET:OPEN [MED] DENIED curl(1) -> h{number}.example.net:443/tcp [policy:p engine:opa]"
    ))
}

/// Lines of all streams that are accounted for.
fn lines_read(home: &Home) -> u64 {
    let reader = Reader::open(&StateDir::at(home.state())).ok().flatten();
    reader.map_or(0, |reader| reader.totals().unwrap().books.lines_read)
}

/// Publishes as fast as the lines are taken, so that the gateway has no reason to leave any out.
pub(crate) fn publish_slowly(
    home: &Home,
    gateway: &Gateway,
    name: &str,
    lines: impl Iterator<Item = Line>,
) {
    let mut lines = lines.peekable();
    while lines.peek().is_some() {
        let some: Vec<Line> = lines.by_ref().take(500).collect();
        let expected = lines_read(home) + some.len() as u64;
        gateway.publish(name, some);
        let end = std::time::Instant::now() + PATIENCE;
        while lines_read(home) < expected {
            assert!(std::time::Instant::now() < end, "lines are not taken");
            std::thread::yield_now();
        }
    }
}

/// Of a sandbox: decisions stored, and lines that its drops count.
pub(crate) fn accounted(home: &Home, name: &str) -> (usize, u64) {
    let rows = recorded(home, name);
    assert!(
        rows.iter().all(|row| row["kind"] != "gap"),
        "nothing was missed"
    );
    let drops = rows.iter().filter(|row| row["kind"] == "drops");
    let dropped = drops.map(|row| row["count"].as_u64().unwrap()).sum();
    (numbers(&rows).len(), dropped)
}

/// A sandbox that floods loses lines of its own, each counted; the others lose none.
#[test]
fn a_flood_takes_the_room_of_others_or_is_shed_without_a_count() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        configure(&home, "queued_entries_max = 5000\n");
        sandbox(&gateway, "loud");
        sandbox(&gateway, "quiet");
        let mut forward = Running::forward(&home, &gateway, &["--all", "--no-archive"]);
        gateway.wait_following("loud", 1);
        gateway.wait_following("quiet", 1);
        publish_slowly(&home, &gateway, "loud", (0..6_000).map(denial));
        forward.until_said("the queue is full");
        publish_slowly(&home, &gateway, "quiet", (0..400).map(numbered));
        forward.end();
        let (stored, dropped) = accounted(&home, "loud");
        assert_eq!(stored as u64 + dropped, 6_000, "{generation}");
        assert!(
            (2_400..2_600).contains(&stored),
            "half of both regions: {stored}"
        );
        assert_eq!(accounted(&home, "quiet"), (400, 0), "{generation}");
        assert_sound(&home);
    }
}

/// What is saved finds room, however full the queue is: the archive is written first.
#[test]
fn a_saved_sandbox_loses_lines_to_a_full_queue() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        configure(&home, "queued_entries_max = 5000\n");
        let log: String = (0..9_000)
            .map(|n| format!("[{}.000] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED curl(1) -> h{n}.example:443 [policy:-]\n", 1_791_291_600 + n))
            .collect();
        let ingest = ["ingest", "-", "--sandbox", "other", "--no-archive"];
        home.run_with(ingest, log.as_bytes()).ok();
        sandbox(&gateway, "demo");
        gateway.publish("demo", (0..1_900).map(numbered));
        run(&home, &gateway, ["save", "demo", "--require-complete"]).ok();
        assert_eq!(accounted(&home, "demo"), (1_900, 0), "{generation}");
        assert_sound(&home);
    }
}

/// Other bounds come into force without a restart; a broken configuration changes nothing.
#[test]
fn a_reload_stops_the_forwarder_or_takes_what_is_broken() {
    let (home, gateway) = (Home::new(), Gateway::start(generations()[0].1.clone()));
    configure(&home, "queued_entries_max = 5000\n");
    sandbox(&gateway, "demo");
    let mut forward = Running::forward(&home, &gateway, &["--all", "--no-archive"]);
    gateway.wait_following("demo", 1);
    publish_slowly(&home, &gateway, "demo", (0..3_000).map(numbered));
    forward.until_said("the queue is full");
    configure(&home, "queued_entries_max = 'many'\n");
    forward.signal(Signal::HUP);
    let said = forward.until_said("stays in force");
    assert!(said.contains("`queued_entries_max` has to be"), "{said}");
    configure(&home, "queued_entries_max = 100000\nredact = ['x']\n");
    forward.signal(Signal::HUP);
    let said = forward.until_said("configuration read again");
    assert!(said.contains("queued_entries_max = 100000"), "{said}");
    assert!(said.contains("starts again"), "the patterns: {said}");
    let (before, _) = accounted(&home, "demo");
    publish_slowly(&home, &gateway, "demo", (3_000..5_000).map(numbered));
    forward.end();
    assert_eq!(accounted(&home, "demo").0, before + 2_000);
    assert_sound(&home);
}
