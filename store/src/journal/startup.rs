//! What is checked before a journal is written: that it hangs together, and that it is itself.

use boundlane_record::tree::{Edge, Hash, SUBTREE_ENTRIES, leaf_hash};
use boundlane_record::{Seq, TreeSize};
use rusqlite::{Connection, OptionalExtension as _};

use super::succession::{Predecessor, Why, key_hash, machine_hash};
use super::{KnownHead, Setup};
use crate::error::ReadError;
use crate::head::{self, Head};
use crate::walk::{Piece, Select, Walk};

/// Entries whose hashes are derived again at every start: bounds the time a start takes.
pub const STARTUP_ENTRIES: u64 = 10_000;

/// Known heads that are compared at a start, those of the greatest sizes: `verify` compares all.
const KNOWN_HEADS_MAX: usize = 16;

/// Whose journal this is, and by which key.
pub(super) struct Identity {
    machine_hash: Option<[u8; 32]>,
    key_hash: [u8; 32],
}

impl Identity {
    /// Reads it.
    pub(super) fn read(db: &Connection) -> Result<Identity, ReadError> {
        let mut select = db.prepare_cached("SELECT machine_hash, key_hash FROM journal")?;
        let identity = select
            .query_row([], |row| {
                Ok(Identity {
                    machine_hash: row.get(0)?,
                    key_hash: row.get(1)?,
                })
            })
            .optional()?;
        identity.ok_or(ReadError::Damaged("the table `journal` has no row"))
    }

    /// Whether the key in the directory is another than the journal's.
    pub(super) fn has_other_key(&self, key: &[u8; 32]) -> bool {
        self.key_hash != key_hash(key)
    }

    /// Whether the journal is another machine's. Unknown ids and hashes by another key say nothing.
    fn is_of_other_machine(&self, setup: &Setup, key: &[u8; 32]) -> bool {
        match (&self.machine_hash, &setup.machine_id) {
            (Some(hash), Some(id)) if !self.has_other_key(key) => *hash != machine_hash(key, id),
            _ => false,
        }
    }
}

/// Why the journal must be followed by another, `None` when it is itself.
pub(super) fn stranger(
    db: &Connection,
    setup: &Setup,
    key: &[u8; 32],
) -> Result<Option<(Why, Predecessor)>, ReadError> {
    let head = head::read(db)?;
    let here = Predecessor {
        journal: head.journal.clone(),
        size: head.size,
        root: Some(head.root),
    };
    let mut known: Vec<&KnownHead> = setup.known_heads.iter().collect();
    known.retain(|known| known.journal == head.journal);
    known.sort_by_key(|known| std::cmp::Reverse(known.size));
    for known in known.into_iter().take(KNOWN_HEADS_MAX) {
        if let Some(why) = misfit(db, &head, known)? {
            let known = Predecessor {
                journal: known.journal.clone(),
                size: known.size,
                root: Some(known.root),
            };
            // The greater of the two says how far the lost history reached.
            let farther = if known.size > here.size { known } else { here };
            return Ok(Some((why, farther)));
        }
    }
    let moved = Identity::read(db)?.is_of_other_machine(setup, key);
    Ok(moved.then_some((Why::Restored, here)))
}

/// How `known` contradicts the journal's tree. A size whose entries are pruned cannot be compared.
fn misfit(db: &Connection, head: &Head, known: &KnownHead) -> Result<Option<Why>, ReadError> {
    if known.size > head.size {
        return Ok(Some(Why::Restored));
    }
    let edge = head::edge_at(db, known.size)?;
    Ok(match edge {
        Some(edge) if edge.root() != known.root => Some(Why::Fork),
        _ => None,
    })
}

/// Derives the last [`STARTUP_ENTRIES`] entries' hashes again and compares them with subtree hashes and
/// edge. Returns how many were checked; what does not fit is [`ReadError::Damaged`].
pub(super) fn check(db: &Connection) -> Result<u64, ReadError> {
    let head = head::read(db)?;
    let start = begin(db, &head)?;
    let from = start.size();
    let edge = derive(db, start, head.size)?;
    if edge != head.edge {
        return Err(ReadError::Damaged("its edge is not that of its entries"));
    }
    check_subtrees(db, head.size)?;
    check_small_tables(db)?;
    Ok(head.size.0 - from.0)
}

/// Reads the tables that every writer needs and that stay small, and of the one that does not its way in.
fn check_small_tables(db: &Connection) -> Result<(), ReadError> {
    let small = [
        "acks",
        "counts",
        "limits",
        "loss_totals",
        "marks",
        "open_losses",
        "prunes",
        "totals",
    ];
    let whole = small.map(|table| format!("SELECT count(*) FROM {table}"));
    let way_in = "SELECT coalesce(max(stream), 0) FROM fingerprints".to_owned();
    for sql in whole.into_iter().chain([way_in]) {
        let read: rusqlite::Result<u64> = db.query_row(&sql, [], |row| row.get(0));
        match read.map_err(|error| error.sqlite_error_code()) {
            Ok(_) => {}
            Err(Some(rusqlite::ErrorCode::DatabaseCorrupt)) => {
                return Err(ReadError::Damaged("a table beside the entries"));
            }
            Err(_) => {
                db.query_row(&sql, [], |_| Ok(()))?;
            }
        }
    }
    Ok(())
}

/// The edge to begin at: the last subtree before the entries to check, or the last prune.
fn begin(db: &Connection, head: &Head) -> Result<Edge, ReadError> {
    let whole = head.size.0.saturating_sub(STARTUP_ENTRIES) / SUBTREE_ENTRIES;
    let edge = head::edge_of_subtrees(db, whole)?;
    if head.pruned.0 <= edge.size().0 {
        return Ok(edge);
    }
    head::edge_at(db, TreeSize(head.pruned.0))?
        .ok_or(ReadError::Damaged("the edge of the last prune is missing"))
}

fn derive(db: &Connection, mut edge: Edge, size: TreeSize) -> Result<Edge, ReadError> {
    let select = Select::all().after(Seq(edge.size().0)).through(Seq(size.0));
    let mut walk = Walk::begin(db, select)?;
    while let Some(piece) = walk.next(db)? {
        let Piece::Block(block) = piece else {
            return Err(ReadError::Damaged("one of its last blocks cannot be read"));
        };
        for (_, entry) in block.entries() {
            let completed = edge.push(leaf_hash(entry));
            check_completed(db, edge.size(), completed)?;
        }
    }
    Ok(edge)
}

fn check_completed(
    db: &Connection,
    size: TreeSize,
    completed: Option<Hash>,
) -> Result<(), ReadError> {
    let Some(hash) = completed else {
        return Ok(());
    };
    let stored: Option<Vec<u8>> = db
        .prepare_cached("SELECT hash FROM subtrees WHERE n = ?1")?
        .query_row([size.0 / SUBTREE_ENTRIES - 1], |row| row.get(0))
        .optional()?;
    if stored.as_deref() == Some(&hash.0[..]) {
        Ok(())
    } else {
        Err(ReadError::Damaged(
            "a subtree hash is not that of its entries",
        ))
    }
}

/// There are as many subtrees as the size says, and nothing beyond the head.
fn check_subtrees(db: &Connection, size: TreeSize) -> Result<(), ReadError> {
    let last: i64 = db.query_row("SELECT coalesce(max(n), -1) FROM subtrees", [], |row| {
        row.get(0)
    })?;
    let block: u64 = db.query_row(
        "SELECT coalesce(max(last), 0) FROM (SELECT last FROM blocks \
         ORDER BY first DESC LIMIT 1)",
        [],
        |row| row.get(0),
    )?;
    let expected = i64::try_from(size.0 / SUBTREE_ENTRIES).unwrap_or(i64::MAX) - 1;
    if last != expected {
        return Err(ReadError::Damaged(
            "it has other subtree hashes than its size asks for",
        ));
    }
    if block > size.0 {
        return Err(ReadError::Damaged("it holds entries beyond its size"));
    }
    Ok(())
}
