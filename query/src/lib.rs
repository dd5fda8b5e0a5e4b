//! Questions over archives and the live journal, with coverage.
//!
//! A [`Request`] names archives, perhaps the machine's own journal, a filter and a [`Question`]; [`run`]
//! gives the rows to a [`Sink`] and returns an [`Outcome`] that says whether anything is missing. On the
//! way, the archives are listed first and the journal second, so that every number is read from one place
//!; rows come from DataFusion or, for a listing, file after file in number order; and
//! every loss and session entry, whatever day its file is of, is read for the coverage.
//!
//! Questions only read: no statement that defines, changes, copies or sets anything is planned, a path is
//! no table, and nothing is spilled to a disk.
//!
//! Limits: [`Limits::memory_bytes_max`], [`Limits::time_max`], [`Limits::threads_max`]; an answer that
//! meets one ends and says so ([`Cut`]). There is no limit on rows.
//!
//! Columns are named as in `docs/FORMATS.md`. `from` and `to` are words of SQL and have to be quoted:
//! `SELECT "from", "to", "count" FROM gaps`; `time`, `count`, `path` and the rest may be.
//!
//! ```
//! use boundlane_query::{Cell, OutputColumn, Question, Request, Rows, Sink, run};
//!
//! struct Print;
//!
//! impl Sink for Print {
//!     fn columns(&mut self, columns: &[OutputColumn]) -> std::io::Result<()> {
//!         assert_eq!(columns[0].name, "n");
//!         Ok(())
//!     }
//!     fn rows(&mut self, rows: &Rows) -> std::io::Result<()> {
//!         assert_eq!(rows.cell(0, 0), Cell::Integer(0));
//!         Ok(())
//!     }
//! }
//!
//! let question = Question::Sql("SELECT count(*) AS n FROM decisions".into());
//! let outcome = run(&Request::new(vec![], question), &mut Print)?;
//! assert!(!outcome.is_complete(), "nothing was ever recorded, so nothing is proved");
//! # Ok::<(), boundlane_query::QueryError>(())
//! ```

mod arrays;
mod canned;
mod cells;
mod cover;
mod damage;
mod listing;
mod live;
mod moved;
mod outcome;
mod request;
mod run;
mod session;
mod snapshot;
mod table;
mod testimony;

pub use canned::Canned;
pub use cells::{Cell, CellType, OutputColumn, Rows};
pub use live::{LiveBlock, LiveBlocks, LiveHead, LiveJournal};
pub use outcome::{Cut, Outcome, QueryError, Sink, Uncounted};
pub use request::{Limits, Question, Request};
pub use run::run;
pub use session::VIEWS;
