//! Ctrl-C.
//!
//! Until a command says otherwise the first one ends the process with 130: every write that matters is
//! a transaction or a rename, so nothing has to be tidied up. A command that wants to say what it
//! cancelled calls [`Interrupt::defer`] and looks at [`Interrupt::asked`]; a second Ctrl-C does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::exit::Exit;

/// Whether the person asked for an end.
#[derive(Clone)]
pub(crate) struct Interrupt {
    at_once: Arc<AtomicBool>,
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the signal cannot be registered.
    pub(crate) fn listen() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt {
            at_once: Arc::new(AtomicBool::new(true)),
            asked: Arc::new(AtomicBool::new(false)),
        };
        let code = i32::from(Exit::Interrupted.code());
        flag::register_conditional_shutdown(SIGINT, code, Arc::clone(&interrupt.at_once))?;
        flag::register(SIGINT, Arc::clone(&interrupt.asked))?;
        flag::register(SIGINT, Arc::clone(&interrupt.at_once))?;
        Ok(interrupt)
    }

    /// From now on the first Ctrl-C only sets [`Interrupt::asked`].
    pub(crate) fn defer(&self) {
        self.at_once.store(false, Ordering::SeqCst);
    }

    /// What is set by Ctrl-C, for whoever looks at it in another thread.
    #[cfg_attr(
        not(feature = "query"),
        allow(dead_code, reason = "only questions have threads")
    )]
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// Whether Ctrl-C was pressed since [`Interrupt::defer`].
    pub(crate) fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }
}
