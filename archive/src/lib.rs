//! Parquet archives of journals: files that explain and prove themselves.
//!
//! [`Archiver`] takes a journal's entries as canonical bytes and writes them as columns, one file a day
//! received and journal range, each with the edge of the journal's tree before and after it. A file is in
//! the table only after every byte of it was read back as it was written. [`list`] finds what an archive holds and what
//! is missing, [`OpenFile`] gives the entries back, bit for bit, and [`OpenFile::verify`] proves them.
//!
//! Limits: [`Limits`] for a run; a listing holds one footer a file; reading holds one row group.
//!
//! ```
//! use boundlane_archive::{Archiver, JournalId, Root, list};
//! use boundlane_record::{Seq, tree::Edge};
//!
//! # let directory = tempfile::tempdir()?;
//! let root = Root::at(directory.path());
//! let journal = JournalId::parse("0123456789abcdef0123456789abcdef").ok_or("32 hex digits")?;
//! let entry: &[u8] = br#"{"kind":"decision","observed":1775001853058000,"host":"pypi.org"}"#;
//!
//! Archiver::open(root.clone())?.write(&journal, &Edge::new(), [(Seq(1), entry)])?;
//!
//! let listing = list(&root);
//! let file = listing.files[0].open()?;
//! assert_eq!(file.entries(Seq(1)).next(), Some(Ok((Seq(1), entry))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod disk;
mod error;
mod explain;
mod footer;
mod layout;
mod limits;
mod listing;
mod read;
mod rebuild;
mod run;
mod schema;
mod seal;
mod tally;
mod words;

pub use disk::{Disk, DiskFile, OsDisk};
pub use error::{ArchiveError, Head};
pub use footer::Footer;
pub use layout::{BadRoot, Day, FileName, JournalId, Root, TEMPORARY_DIR, VERSION_DIR};
pub use limits::Limits;
pub use listing::{ArchiveFile, Holding, Listing, list};
pub use read::{BadFile, Entries, OpenFile};
pub use run::{ArchiveRun, Archived, Archiver, Outcome, WrittenFile};
pub use schema::{data_type, schema};
pub use tally::{Counts, Losses, Span, Tally};

/// The program's name and version, as files state it.
pub const PROGRAM: &str = concat!("boundlane ", env!("CARGO_PKG_VERSION"));
