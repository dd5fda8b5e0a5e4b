//! A gateway for tests: the log interface of an OpenShell gateway in both generations, over real
//! sockets, with the buffers, broadcasts, cursors and statuses of the real one, and a handle that makes
//! everything happen that happens to gateways.
//!
//! The handle is synchronous; the server has a thread of its own. Nothing here sleeps: an observer
//! waits for what it wants to see, with [`Gateway::wait_for`] and what is built on it.
//!
//! ```no_run
//! use boundlane_tests::gateway::{Gateway, Line, Settings};
//!
//! let gateway = Gateway::start(Settings::default());
//! let id = gateway.create("demo");
//! gateway.publish("demo", [Line::ocsf("NET:OPEN [INFO] ALLOWED curl(1) -> example.net:443/tcp")]);
//! gateway.wait_following("demo", 1);
//! assert_eq!(gateway.book().sandbox(&id).unwrap().lines.len(), 3);
//! ```

mod api;
mod book;
mod buffers;
mod calls;
mod command;
mod connection;
mod cursor;
mod door;
mod drain;
mod filter;
mod handle;
mod model;
mod observe;
pub mod proto;
mod requests;
mod settings;
mod state;
mod watch;
mod watches;

pub use book::{Attachment, Book, Published, SandboxBook};
pub use buffers::{BROADCAST_MESSAGES_MAX, PLATFORM_EVENTS_MAX, STATUS_TICKS_MAX, TAIL_LINES_MAX};
pub use command::{Answer, Command, GatewayControl};
pub use connection::Cut;
pub use cursor::{Cursor, ENCODING};
pub use handle::Gateway;
pub use model::{Generation, Line, Moment, Phase, PlatformEvent, Sandbox, now};
pub use observe::PATIENCE;
pub use requests::{Asked, Call, Listing, LogsAsked, Page, Scope, Which};
pub use settings::{Settings, Spread, WarningPlace};
pub use state::PUSH_LINES_MAX;
pub use watch::WATCH_QUEUE_MESSAGES_MAX;
pub use watches::{Stage, WatchView};

#[cfg(test)]
mod tests;
