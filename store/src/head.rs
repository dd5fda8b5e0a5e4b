//! The journal's head, and its tree at older sizes.

use boundlane_record::tree::{Edge, Hash, SUBTREE_ENTRIES, leaf_hash};
use boundlane_record::{Seq, TreeSize};
use rusqlite::{Connection, OptionalExtension as _};

use crate::error::ReadError;
use crate::walk::{Piece, Select, Walk};

/// What a journal is and how far it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The journal's id.
    pub journal: String,
    /// How many entries it was given, pruned ones included.
    pub size: TreeSize,
    /// Root of its tree at that size.
    pub root: Hash,
    /// Right edge of its tree at that size.
    pub edge: Edge,
    /// Numbers through this one are pruned; 0 when none is.
    pub pruned: Seq,
}

/// Reads the head.
pub(crate) fn read(db: &Connection) -> Result<Head, ReadError> {
    let mut statement = db.prepare_cached("SELECT id, size, edge, pruned FROM journal")?;
    let (journal, size, edge, pruned): (String, u64, Vec<u8>, u64) = statement
        .query_row([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?
        .ok_or(ReadError::Damaged("the table `journal` has no row"))?;
    let edge = Edge::from_bytes(&edge)
        .filter(|edge| edge.size() == TreeSize(size))
        .ok_or(ReadError::Damaged("its edge is not of its size"))?;
    Ok(Head {
        journal,
        size: TreeSize(size),
        root: edge.root(),
        edge,
        pruned: Seq(pruned),
    })
}

/// The right edge at `size`, from subtree hashes and the entries after the last of them. `None` when
/// the journal is shorter or those entries are pruned; [`ReadError::Damaged`] when they cannot be read.
pub(crate) fn edge_at(db: &Connection, size: TreeSize) -> Result<Option<Edge>, ReadError> {
    let head = read(db)?;
    if size == head.size {
        return Ok(Some(head.edge));
    }
    if size > head.size {
        return Ok(None);
    }
    let whole = size.0 / SUBTREE_ENTRIES;
    let mut edge = edge_of_subtrees(db, whole)?;
    if head.pruned.0 > edge.size().0 && edge.size() < size {
        match pruned_edge(db, edge.size(), size)? {
            Some(later) => edge = later,
            None => return Ok(None),
        }
    }
    // The entries between that prune and the size are gone too.
    if edge.size() < size && edge.size().0 < head.pruned.0 {
        return Ok(None);
    }
    extend(db, &mut edge, size)?;
    Ok(Some(edge))
}

/// The edge over the first `whole` subtrees.
pub(crate) fn edge_of_subtrees(db: &Connection, whole: u64) -> Result<Edge, ReadError> {
    const MISSING: ReadError = ReadError::Damaged("a subtree hash is missing");
    let mut statement =
        db.prepare_cached("SELECT n, hash FROM subtrees WHERE n < ?1 ORDER BY n")?;
    let mut rows = statement.query([whole])?;
    // An edge over subtree roots as if they were leaves holds the hashes of the edge over entries.
    let mut edge = Edge::new();
    while let Some(row) = rows.next()? {
        let hash = row.get_ref(1)?.as_blob().ok().and_then(Hash::from_slice);
        if row.get::<_, u64>(0)? != edge.size().0 {
            return Err(MISSING);
        }
        edge.push(hash.ok_or(MISSING)?);
    }
    if edge.size().0 != whole {
        return Err(MISSING);
    }
    Edge::from_parts(TreeSize(whole * SUBTREE_ENTRIES), edge.hashes().to_vec()).ok_or(MISSING)
}

/// The edge at the last prune within `from..=size`.
fn pruned_edge(db: &Connection, from: TreeSize, size: TreeSize) -> Result<Option<Edge>, ReadError> {
    let edge: Option<Vec<u8>> = db
        .query_row(
            "SELECT edge FROM prunes WHERE through BETWEEN ?1 AND ?2 ORDER BY through DESC LIMIT 1",
            [from.0, size.0],
            |row| row.get(0),
        )
        .optional()?;
    Ok(edge.and_then(|edge| Edge::from_bytes(&edge)))
}

/// Pushes the entries after the edge, through `size`.
pub(crate) fn extend(db: &Connection, edge: &mut Edge, size: TreeSize) -> Result<(), ReadError> {
    let select = Select::all().after(Seq(edge.size().0)).through(Seq(size.0));
    let mut walk = Walk::begin(db, select)?;
    while let Some(piece) = walk.next(db)? {
        let Piece::Block(block) = piece else {
            return Err(ReadError::Damaged("a block that the tree needs"));
        };
        for (_, entry) in block.entries() {
            edge.push(leaf_hash(entry));
        }
    }
    if edge.size() == size {
        Ok(())
    } else {
        Err(ReadError::Damaged(
            "entries that the tree needs are missing",
        ))
    }
}
