//! The journal: the append-only local log of one machine's user.
//!
//! A writer brings whole [`Item`]s, each at most 500 entries of one stream with the lines they came
//! from counted and the place after them. [`Journal::append`] commits them in one transaction: entries
//! get dense numbers, go into blocks and into the tree; checkpoint, books and losses move with them.
//! When it returns, they are on the disk. Readers open the same file beside any number of writers,
//! take no lock and read in short steps. [`fsck()`] checks every law that the file can show.
//!
//! Limits:
//! - an item: 500 entries ([`ITEM_ENTRIES_MAX`]); a commit: 64 items ([`COMMIT_ITEMS_MAX`])
//! - a block: 256 entries ([`BLOCK_ENTRIES_MAX`]) or 256 KiB ([`BLOCK_PLAIN_BYTES_MAX`])
//! - an entry: 512 KiB ([`ENTRY_BYTES_MAX`]); a place: 1 MiB ([`CHECKPOINT_BYTES_MAX`])
//! - fingerprints kept of a stream: 4,096 ([`FINGERPRINTS_MAX`])
//! - entries checked at a start: 10,000 ([`STARTUP_ENTRIES`])
//!
//! ```
//! use boundlane_record::{Books, EntryBatch, Micros, Row, StreamName};
//! use boundlane_store::{Checkpoint, Found, Item, Journal, Reader, Select, Setup, StateDir, WhenFull};
//! use std::ops::ControlFlow;
//!
//! # let parent = tempfile::tempdir()?;
//! let dir = StateDir::at(parent.path().join("state"));
//! let setup = Setup {
//!     program: "boundlane 0.1.0".into(),
//!     machine_label: "laptop".into(),
//!     machine_id: None,
//!     redaction: 1,
//!     now: Micros(1_000_000),
//!     known_heads: Vec::new(),
//! };
//! let (mut journal, _) = Journal::open(&dir, &setup)?;
//!
//! let stream = StreamName {
//!     stream: "import/demo/1".into(),
//!     sandbox: Some("demo".into()),
//!     source: "import".into(),
//!     ..StreamName::default()
//! };
//! let mut entries = EntryBatch::new();
//! entries.push(&Row { kind: Some("decision".into()), observed: Some(Micros(2)), ..Row::default() });
//! let item = Item {
//!     stream: &stream,
//!     entries: &entries,
//!     at: Micros(2),
//!     books: Books { lines_read: 1, records: 1, ..Books::default() },
//!     expects: None,
//!     checkpoint: &Checkpoint { place: r#"{"offset":80}"#.into(), ..Checkpoint::default() },
//!     open_losses: &[],
//!     when_full: WhenFull::Wait,
//! };
//! journal.append(&[item])?;
//!
//! let reader = Reader::open(&dir)?.expect("there is a journal now");
//! let mut entries = Vec::new();
//! reader.each_entry(Select::all(), |found| {
//!     if let Found::Entry(seq, _) = found {
//!         entries.push(seq.0);
//!     }
//!     ControlFlow::<()>::Continue(())
//! })?;
//! assert_eq!(entries, [1, 2], "`journal_start` and the decision");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod block;
mod commit;
mod db;
mod error;
mod files;
pub mod fsck;
mod head;
mod item;
mod journal;
mod limits;
mod lock;
mod loss;
mod open_loss;
mod pack;
mod queue;
mod reader;
mod reserve;
mod salvage;
mod schema;
mod state_dir;
mod stream;
mod tally;
mod walk;

pub use admission::{Held, Waiting};
pub use block::{
    BLOCK_ENTRIES_MAX, BLOCK_PLAIN_BYTES_MAX, Block, BlockHeader, ENTRY_BYTES_MAX, StreamId,
};
pub use commit::{Appended, AppendedItem};
pub use error::{AppendError, NewerSchema, OpenError, ReadError};
pub use fsck::{FsckError, FsckSummary, fsck};
pub use head::Head;
pub use item::{
    CHECKPOINT_BYTES_MAX, COMMIT_ITEMS_MAX, Checkpoint, FINGERPRINTS_MAX, ITEM_ENTRIES_MAX, Item,
    ItemFault, MarkChange, WhenFull,
};
pub use journal::{
    Acknowledged, Began, Consumer, Journal, KnownHead, Number, Opened, Predecessor, Prune,
    PruneTerms, Rescue, RescueError, Rescued, STARTUP_ENTRIES, Salvaged, Setup, Why, salvage_into,
};
pub use limits::{LimitFault, Limits};
pub use lock::{Lock, LockError, LockName};
pub use loss::OpenLoss;
pub use open_loss::GrowingLoss;
pub use reader::{Ack, Blocks, Found, LossTotal, Reader, Totals};
pub use reserve::RESERVE_BYTES;
pub use salvage::{RANGES_MAX, Salvage};
pub use schema::JOURNAL_SCHEMA;
pub use state_dir::{StateDir, StateDirError};
pub use stream::StreamState;
pub use tally::Tally;
pub use walk::{Damage, Piece, Select};
