//! Other commands while `forward` writes at full speed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use boundlane_tests::Home;
use boundlane_tests::gateway::Gateway;

use crate::support::{
    Running, assert_all, assert_sound, causes, generations, numbered, recorded, run, sandbox,
};

/// `ingest`, `archive`, `status`, `fsck` and `log` neither lose nor repeat a line beside a forwarder, nor
/// does the forwarder.
#[test]
fn commands_side_by_side_take_each_others_lines() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all"]);
        gateway.wait_following("demo", 1);
        let text: String = (0..2000).map(|n| numbered(n).cli_text() + "\n").collect();
        let file = home.file("lines.log", text);
        let (is_over, count) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let first = count.fetch_add(10, Ordering::Relaxed);
                    gateway.publish("demo", (first..first + 10).map(numbered));
                    gateway.wait_idle();
                }
            });
            let file = file.to_str().unwrap();
            let commands: [&[&str]; 7] = [
                &["ingest", file, "--sandbox", "other"],
                &["status", "--json"],
                &["archive"],
                &["fsck"],
                &["log", "demo", "-n", "5"],
                &["ingest", file, "--sandbox", "other"],
                &["log", "--list"],
            ];
            let ran = commands.map(|arguments| (arguments, run(&home, &gateway, arguments)));
            is_over.store(true, Ordering::Relaxed);
            for (arguments, ran) in ran {
                assert_eq!(ran.code(), 0, "{arguments:?} {}", ran.stderr());
            }
        });
        let count = count.into_inner();
        forward.until_recorded(&home, "demo", count);
        forward.end();
        let rows = recorded(&home, "demo");
        assert_all(&rows, count);
        assert_eq!(causes(&rows, "gap"), [""; 0], "{generation}");
        assert_all(&recorded(&home, "other"), 2000);
        assert_sound(&home);
        home.run(["archive"]).ok();
        assert_all(&recorded(&home, "demo"), count);
    }
}
