//! SIGHUP: the configuration is read again, and other bounds come into force.

use std::cell::Cell;

use boundlane_store::Limits;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

use crate::config::Config;
use crate::context::Context;
use crate::exit::Failure;
use crate::follow::shared::Shared;
use crate::follow::tell::About;

/// Listens for SIGHUP, and keeps what was read last.
pub(super) struct Reloading {
    signal: Mutex<Signal>,
    limits: Cell<Option<Limits>>,
}

impl Reloading {
    /// Listens from now on; inside a runtime.
    pub(super) fn listen() -> std::io::Result<Reloading> {
        Ok(Reloading {
            signal: Mutex::new(signal(SignalKind::hangup())?),
            limits: Cell::new(None),
        })
    }

    /// Waits until somebody asks for it.
    pub(super) async fn asked(&self) {
        self.signal.lock().await.recv().await;
    }

    /// Puts what was read last in force again, in a journal that was opened anew.
    pub(super) fn again(&self, shared: &Shared) {
        if let Some(limits) = self.limits.get() {
            shared.writer.limit(limits);
        }
    }

    /// Reads the configuration. A broken one changes nothing.
    pub(super) fn reload(&self, ctx: &Context, shared: &Shared) {
        let text = match ctx.config.read_again() {
            Ok(config) => {
                self.limits.set(Some(config.limits()));
                self.again(shared);
                told(&ctx.config, &config)
            }
            Err(Failure::Told(told)) => {
                format!(
                    "{}; the configuration from before stays in force",
                    told.what
                )
            }
            Err(Failure::ClosedPipe | Failure::Interrupted) => return,
        };
        // Asked twice, it is answered twice.
        shared.teller.forget(&About::Configuration);
        shared.teller.warn(About::Configuration, &text);
    }
}

/// What is in force now, and what has to wait.
fn told(before: &Config, now: &Config) -> String {
    let bounds: Vec<String> = now
        .limits()
        .all()
        .map(|(name, _, value)| format!("{name} = {value}"))
        .to_vec();
    let mut text = format!("configuration read again: {}", bounds.join(", "));
    let others = Config {
        bounds: before.bounds.clone(),
        found: before.found,
        ..now.clone()
    };
    if others != *before {
        text.push_str("; its other changes come into force when this program starts again");
    }
    text
}
