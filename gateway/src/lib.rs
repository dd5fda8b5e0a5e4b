//! A client of the OpenShell gateway.
//!
//! [`discover`] finds the gateway that this machine talks to and how it proves who it is; a [`Client`]
//! asks it for its sandboxes and follows their lines. A [`Watch`] says the events of
//! [`boundlane_ingest::watch`] and then one end; what these mean is decided there, without I/O.
//!
//! Gateways up to 0.0.116 and from 0.1.0 read different requests under the same names, and take the
//! wrong one for something else instead of refusing it. So each connection is asked for its version
//! first, and again whenever it was made anew: a gateway may be upgraded in place.
//!
//! Credentials are read and never written: the token file anew for each call, the certificates once.
//! Nothing of them is in a message, a debug print or an error. A token never crosses a network in clear.
//!
//! Limits, all in [`Limits`]: 100 watches a connection (a gateway allows 200 streams), a connection of
//! its own for the other calls, 16 MiB a message, 10 s for a call and for a connection to be made.
//!
//! ```no_run
//! use boundlane_gateway::{Client, Discover, Limits, ProcessSurroundings, Selection, discover};
//! use boundlane_ingest::watch::WatchFrom;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let target = discover(&Discover::default(), &ProcessSurroundings)?;
//! let client = Client::new(target, Limits::default())?;
//! for sandbox in client.sandboxes(&Selection::default()).await? {
//!     let mut watch = client.watch(&sandbox, &WatchFrom::Tail(2000)).await.map_err(|end| format!("{end:?}"))?;
//!     println!("{}: {:?}", sandbox.name, watch.next().await);
//! }
//! # Ok(())
//! # }
//! ```

mod client;
mod dialer;
mod discovery;
mod error;
mod health;
mod limits;
mod link;
mod pool;
mod sandbox;
mod shared;
mod status;
mod target;
mod tls;
mod token;
mod watch;
mod wire;

pub use client::{Client, Selection, Snapshot};
pub use discovery::{Discover, DiscoverError, ProcessSurroundings, Surroundings, discover};
pub use error::{Fault, GatewayError, Kind};
pub use health::{Generation, Health};
pub use limits::Limits;
pub use sandbox::Sandbox;
pub use shared::Identity;
pub use target::{Auth, ClientFiles, Found, Names, Target};
pub use watch::Watch;
