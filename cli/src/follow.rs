//! Following a gateway: every sandbox of it, each by one task, into one journal.
//!
//! [`roster`] asks the gateway once a second which sandboxes there are and starts a [`stream`] for each
//! that is selected. A stream attaches, hands what comes to the pure decisions of
//! `boundlane_ingest::watch`, and sends what these say as bundles to the one [`writer`]. A bundle is
//! committed whole, with the place behind it. [`tell`] says every change of state once, and [`board`] keeps how
//! things stand for whoever asks.
//!
//! Nothing here concludes anything from time: the waits of [`pace`] only say when to ask again.

pub(crate) mod board;
pub(crate) mod bundle;
pub(crate) mod pace;
pub(crate) mod roster;
mod sessions;
pub(crate) mod shared;
pub(crate) mod stream;
pub(crate) mod tell;
pub(crate) mod writer;
