//! The record of what AI agents were allowed and denied: its words, its bytes, its proofs.
//!
//! A line that was received becomes a [`Row`]: one flat set of columns, absent where the line says
//! nothing. [`canonical::encode`] turns the row into the bytes that are hashed, journaled, uploaded and
//! archived; [`canonical::decode`] reads them back, bit for bit. [`tree`] binds their order.
//! [`redact`] takes secrets out before any of this happens.
//!
//! No I/O, no clock, no randomness: everything comes in as an argument.
//!
//! ```
//! use boundlane_record::{canonical, Row};
//!
//! let row = Row { kind: Some("decision".into()), host: Some("pypi.org".into()), port: Some(443), ..Row::default() };
//! let mut bytes = Vec::new();
//! canonical::encode(&row, &mut bytes);
//! assert_eq!(bytes, br#"{"kind":"decision","host":"pypi.org","port":443}"#);
//! assert_eq!(canonical::decode(&bytes), Ok(row));
//! ```

mod batch;
pub mod canonical;
mod checkpoint;
mod column;
pub mod coverage;
mod entry;
pub mod filter;
mod number;
pub mod redact;
pub mod tree;
mod vocabulary;

pub use batch::{EntryBatch, EntryMeta};
pub use checkpoint::{Books, Fingerprint, Mark, PolicyInForce};
pub use column::{Column, ColumnType, PlaceColumn, Row, Value};
pub use entry::{Drops, Gap, Session, StreamName};
pub use number::{Micros, Seq, TreeSize};
pub use vocabulary::{
    Action, ClassTag, Disposition, DropCause, Extent, ExtentKind, Flag, GapCause, Kind, Origin,
    Outcome, SessionKind, Severity, Source, TimeFrom, Trust, UnparsedReason,
};

/// The version of the canonical entry, in `journal_start` and archive footers.
pub const SCHEMA_VERSION: u32 = 1;
