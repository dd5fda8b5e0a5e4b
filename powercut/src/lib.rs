//! A power cut under SQLite, simulated: for tests of programs that keep their word on a disk.
//!
//! A [`Disk`] watches a directory. From its first one on, SQLite's default file system is a shim over
//! the usual one: everything works as ever, but for files below a watched directory the shim keeps what
//! each sync made certain apart from what was written since. Operations that change a file or a name are
//! counted; at the one that is chosen the power goes: it fails, and so does everything after it. Then
//! [`Disk::lose`] puts on the real disk what a real one could hold: what was certain, and of the rest a
//! seeded part, the last write torn between two sectors.
//!
//! - `-shm` files are memory: they are gone after a cut.
//! - Names are lost from the newest back, as a journaling file system loses them, until their directory
//!   is synced. SQLite syncs the directory of a `-journal` or `-wal` with that file's first sync.
//! - Nothing is really synced: the tests are as fast as memory.
//! - What the program itself does with files it has to announce, see [`before`].
//!
//! ```
//! use boundlane_powercut::Disk;
//!
//! let dir = tempfile::tempdir()?;
//! let disk = Disk::watch(dir.path())?;
//! let path = dir.path().join("a.sqlite");
//! let db = rusqlite::Connection::open(&path)?;
//! db.execute_batch("PRAGMA synchronous = FULL; CREATE TABLE t (n)")?;
//! disk.cut_at(disk.operations() + 3);
//! assert!(db.execute("INSERT INTO t VALUES (1)", []).is_err());
//! drop(db);
//! disk.lose(7)?;
//! let db = rusqlite::Connection::open(&path)?;
//! let rows: i64 = db.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?;
//! assert_eq!(rows, 0, "the table is there, its row is not");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod disk;
mod platter;
mod rng;
mod vfs;

pub use disk::{Disk, Operation, before};
