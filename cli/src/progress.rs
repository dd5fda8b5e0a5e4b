//! A bar on standard error, for what takes longer than a second in front of a person.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is drawn before this: most runs are over by then.
const QUIET_FOR: Duration = Duration::from_secs(1);
/// Redraws a second at most.
const DRAWS_PER_SECOND_MAX: u8 = 10;

/// How far something is, in bytes or in items. Draws nothing unless a person watches.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: std::time::Instant,
    shown: bool,
}

impl Progress {
    /// Of `total` bytes of a file, `None` when nobody knows (a pipe).
    pub(crate) fn bytes(what: &'static str, total: Option<u64>, visible: bool) -> Progress {
        let template = match total {
            Some(_) => "{msg} {bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}",
            None => "{msg} {bytes} {binary_bytes_per_sec} {elapsed}",
        };
        Progress::new(what, total, template, visible)
    }

    /// Of `total` items.
    pub(crate) fn items(what: &'static str, total: Option<u64>, visible: bool) -> Progress {
        let template = match total {
            Some(_) => "{msg} {bar:30} {human_pos}/{human_len} {eta}",
            None => "{msg} {human_pos} {elapsed}",
        };
        Progress::new(what, total, template, visible)
    }

    fn new(what: &'static str, total: Option<u64>, template: &str, visible: bool) -> Progress {
        let bar = match total {
            _ if !visible => ProgressBar::hidden(),
            Some(total) => ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Progress {
            bar,
            began: std::time::Instant::now(),
            shown: !visible,
        }
    }

    /// So far. Cheap enough for every batch.
    pub(crate) fn at(&mut self, position: u64) {
        self.bar.set_position(position);
        if !self.shown && self.began.elapsed() >= QUIET_FOR {
            self.shown = true;
            self.bar
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND_MAX));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
