//! The program beside a gateway that lives: both generations of it, over real sockets. Each test is
//! named after the failure that it looks for, and waits for what it wants to see.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "live/beside.rs"]
mod beside;
#[path = "live/bounds.rs"]
mod bounds;
#[path = "live/clock.rs"]
mod clock;
#[path = "live/disk.rs"]
mod disk;
#[path = "live/faults.rs"]
mod faults;
#[path = "live/following.rs"]
mod following;
#[path = "live/forward.rs"]
mod forward;
#[path = "live/log.rs"]
mod log;
#[path = "live/metrics.rs"]
mod metrics;
#[path = "live/save.rs"]
mod save;
#[path = "live/standing.rs"]
mod standing;
#[path = "live/support.rs"]
mod support;
#[path = "live/times.rs"]
mod times;
