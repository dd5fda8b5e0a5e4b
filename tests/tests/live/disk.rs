//! A real small disk, filled to the last byte while the forwarder writes. It is mounted, so these tests run
//! where `.ci/run` calls them by name, and fail where nothing can be mounted.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use boundlane_tests::Home;
use boundlane_tests::gateway::Gateway;

use super::bounds::{accounted, publish_slowly};
use crate::support::{Running, assert_sound, generations, numbered, recorded, sandbox};

/// A file system of its own under the state directory of a home.
struct Disk(PathBuf);

impl Disk {
    fn mounted(home: &Home, size: &str) -> Disk {
        let path = home.state();
        std::fs::create_dir_all(&path).unwrap();
        let size = format!("size={size},mode=0700");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&path)
            .status();
        assert!(
            mount.unwrap().success(),
            "a file system cannot be mounted here"
        );
        Disk(path)
    }

    /// Leaves no byte.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        for size in [1 << 20, 4096, 1] {
            while file.write_all(&vec![7; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn has_reserve(state: &Path) -> bool {
    state.join("reserve").exists()
}

/// What comes while there is no space is counted, and what comes when there is some again is recorded.
#[test]
#[ignore = "mounts a file system"]
fn a_full_disk_ends_the_forwarder_or_loses_lines_without_a_count() {
    for (generation, settings) in generations() {
        let (home, gateway) = (Home::new(), Gateway::start(settings));
        let disk = Disk::mounted(&home, "48m");
        sandbox(&gateway, "demo");
        let mut forward = Running::forward(&home, &gateway, &["--all", "--no-archive"]);
        gateway.wait_following("demo", 1);
        publish_slowly(&home, &gateway, "demo", (0..1_000).map(numbered));
        assert!(has_reserve(&home.state()), "{generation}");
        let filler = disk.fill();
        let mut number = 1_000;
        while has_reserve(&home.state()) {
            publish_slowly(
                &home,
                &gateway,
                "demo",
                (number..number + 500).map(numbered),
            );
            number += 500;
            assert!(number < 500_000, "the disk is never full");
        }
        forward.until_said("the disk is full");
        for _ in 0..20 {
            publish_slowly(
                &home,
                &gateway,
                "demo",
                (number..number + 500).map(numbered),
            );
            number += 500;
        }
        let status = home.run(["status"]).ok().stdout();
        assert!(status.contains("losing"), "readers go on: {status}");
        std::fs::remove_file(filler).unwrap();
        while !has_reserve(&home.state()) {
            publish_slowly(
                &home,
                &gateway,
                "demo",
                (number..number + 100).map(numbered),
            );
            number += 100;
        }
        forward.until_said("disk space again");
        publish_slowly(
            &home,
            &gateway,
            "demo",
            (number..number + 500).map(numbered),
        );
        number += 500;
        forward.end();
        let (stored, dropped) = accounted(&home, "demo");
        assert_eq!(stored as u64 + dropped, number as u64, "{generation}");
        assert!(dropped >= 10_000, "{generation}: {dropped}");
        let causes: Vec<String> = recorded(&home, "demo")
            .iter()
            .filter(|row| row["kind"] == "drops")
            .map(|row| row["cause"].as_str().unwrap().to_owned())
            .collect();
        assert!(
            causes.iter().all(|cause| cause == "disk_full"),
            "{causes:?}"
        );
        assert_sound(&home);
    }
}
