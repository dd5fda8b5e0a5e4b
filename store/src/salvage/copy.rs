//! The copy: one pass over the pages, then what the entries themselves say.

use std::io;
use std::path::Path;

use boundlane_record::tree::{Edge, Hash};
use boundlane_record::{Seq, TreeSize};
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::image::{Cell, Image, Met, Place, TABLE_LEAF};
use super::record::Record;
use super::tables::{Tables, with_key};
use super::{Salvage, blocks, derive, streams};
use crate::db;
use crate::error::ReadError;
use crate::schema;

/// Pages between two commits of the copy.
const PAGES_A_COMMIT: usize = 4096;
/// How far beyond the last block a stream's row may reach when nothing else says how far the journal went.
const BEYOND_MAX: u64 = 100_000;

/// What is known from elsewhere.
pub(crate) struct Hints<'a> {
    pub(crate) program: &'a str,
    /// What to call the journal when it does not say.
    pub(crate) otherwise: &'a str,
    /// Hash of the key that the directory has.
    pub(crate) key_hash: [u8; 32],
    /// Why commits may be gone from the `-wal`.
    pub(crate) tail: Option<&'static str>,
}

/// Why a copy could not be made: the disk, never what is damaged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What the row of `journal` says.
struct Own {
    record: Record,
    id: String,
    /// `None` when edge, size and pruned numbers do not fit together: then only the identity counts.
    edge: Option<Edge>,
    pruned: u64,
}

impl Own {
    /// `None` when it is no such row.
    fn of(cell: &Cell) -> Option<Own> {
        let record = &cell.record;
        let text = |at: usize| match record.get(at) {
            Some(Value::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let number = |at: usize| match record.get(at) {
            Some(Value::Integer(number)) => u64::try_from(*number).ok(),
            _ => None,
        };
        let id = text(2).filter(|id| {
            id.len() == 32
                && id
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })?;
        let (size, pruned) = (number(8)?, number(10)?);
        let Some(Value::Blob(edge)) = record.get(9) else {
            return None;
        };
        let fits = |edge: &Edge| edge.size().0 == size && pruned <= size;
        ((18..).contains(&record.len()) && cell.rowid == 1).then(|| Own {
            record: record.clone(),
            id: id.to_owned(),
            edge: Edge::from_bytes(edge).filter(fits),
            pruned,
        })
    }

    /// How far it says that the journal goes, where it can be believed.
    fn reach(&self) -> Option<TreeSize> {
        self.edge.as_ref().map(Edge::size)
    }
}

/// Copies what can be read at `source` into the empty file at `target`.
pub(crate) fn copy(source: &Path, target: &Path, hints: &Hints<'_>) -> Result<Salvage, Fault> {
    let mut image = Image::open(source)?;
    let copy = db::open_scratch(target)?;
    copy.execute_batch("BEGIN")?;
    copy.execute_batch(schema::SQL)?;
    streams::begin(&copy)?;
    let tables = Tables::learn(&copy, &mut image)?;
    let own = scan(&copy, &tables, &mut image)?;
    let mut salvage = Salvage {
        journal: own.as_ref().map(|own| own.id.clone()),
        size: TreeSize(0),
        root: None,
        pruned: Seq(0),
        entries: 0,
        missing: Vec::new(),
        missing_entries: 0,
        tail: hints.tail,
        contradicted: 0,
        streams: 0,
        checkpoints_lost: 0,
        streams_unknown: false,
        open_losses_unknown: false,
    };
    side_tables(&copy, &tables, &mut image, &mut salvage)?;
    head(&copy, &tables, own.as_ref(), hints, &mut salvage)?;
    derive::entries(&copy, &mut salvage)?;
    root(&copy, own.as_ref(), &mut salvage)?;
    streams::judge(&copy, salvage.size.0)?;
    salvage.open_losses_unknown |= streams::leave_open_losses(&copy)?;
    (salvage.streams, salvage.checkpoints_lost) = streams::count(&copy)?;
    streams::end(&copy)?;
    copy.execute_batch("COMMIT")?;
    copy.close().map_err(|(_, error)| error)?;
    std::fs::File::open(target)?.sync_all()?;
    Ok(salvage)
}

/// Takes the rows that can be told by their shape, of every page.
fn scan(copy: &Connection, tables: &Tables, image: &mut Image) -> Result<Option<Own>, Fault> {
    let mut own: Option<Own> = None;
    for (n, place) in image.places().into_iter().enumerate() {
        if n % PAGES_A_COMMIT == PAGES_A_COMMIT - 1 {
            copy.execute_batch("COMMIT; BEGIN")?;
        }
        let Some(page) = image.page(place)? else {
            continue;
        };
        for cell in blocks::in_page(image, &page)? {
            let record = with_key(cell);
            tables.add(copy, "blocks", &record)?;
        }
        let is_first = matches!(place, Place::Page(1));
        let is_sound = image.is_sound(place);
        if page[0] != TABLE_LEAF || is_first || !is_sound {
            continue;
        }
        for cell in image.leaf_cells(&page)? {
            take(copy, tables, cell, &mut own)?;
        }
    }
    copy.execute(
        "DELETE FROM blocks WHERE EXISTS (SELECT 1 FROM blocks AS before \
         WHERE before.first BETWEEN blocks.first - 256 AND blocks.first - 1 \
         AND before.last >= blocks.first)",
        [],
    )?;
    Ok(own)
}

fn take(
    copy: &Connection,
    tables: &Tables,
    cell: Cell,
    own: &mut Option<Own>,
) -> rusqlite::Result<()> {
    match &cell.record[..] {
        [Value::Null, Value::Blob(hash)] if hash.len() == 32 && cell.rowid >= 0 => {
            tables.add(copy, "subtrees", &with_key(cell))?;
        }
        [Value::Null, Value::Text(_), ..] => match Own::of(&cell) {
            Some(found) => {
                let is_later = own.as_ref().is_none_or(|own| own.reach() <= found.reach());
                if is_later {
                    *own = Some(found);
                }
            }
            None => streams::take(copy, tables, &with_key(cell))?,
        },
        _ => {}
    }
    Ok(())
}

/// The tables that only their trees tell apart.
fn side_tables(
    copy: &Connection,
    tables: &Tables,
    image: &mut Image,
    salvage: &mut Salvage,
) -> Result<(), Fault> {
    streams::digests(copy, tables, image, "marks", |digest| digest.len() == 32)?;
    streams::digests(copy, tables, image, "fingerprints", |digests| {
        digests.len() % 16 == 0
    })?;
    salvage.open_losses_unknown = follow(copy, tables, image, "open_losses")?;
    for table in ["acks", "limits", "boot"] {
        follow(copy, tables, image, table)?;
    }
    follow(copy, tables, image, "prunes")?;
    let mut hole = false;
    image.follow(tables.root("streams"), &mut |met| {
        hole |= matches!(met, Met::Hole);
    })?;
    salvage.streams_unknown = hole;
    Ok(())
}

/// Takes a table by its tree. Whether rows of it may be missing.
fn follow(
    copy: &Connection,
    tables: &Tables,
    image: &mut Image,
    table: &str,
) -> Result<bool, Fault> {
    let mut hole = false;
    let mut failed = Ok(());
    image.follow(tables.root(table), &mut |met| {
        let Met::Row(cell) = met else {
            hole = true;
            return;
        };
        let record = match cell.record.first() {
            Some(Value::Null) => with_key(cell),
            _ => cell.record,
        };
        match tables.put(copy, table, &record) {
            Ok(taken) => hole |= !taken,
            Err(error) => failed = Err(error),
        }
    })?;
    failed?;
    Ok(hole)
}

/// Writes the journal's row: its own as far as it is readable, and how far it went.
fn head(
    copy: &Connection,
    tables: &Tables,
    own: Option<&Own>,
    hints: &Hints<'_>,
    salvage: &mut Salvage,
) -> Result<(), Fault> {
    copy.execute(
        "INSERT INTO journal (one, written_by, id, created, why, machine_label, key_hash, size, edge, \
         pruned, stored_bytes, lines_read, records, ignored, repeats, refused) \
         VALUES (1, ?1, ?2, 0, 'new', '', ?3, 0, ?4, 0, 0, 0, 0, 0, 0, 0)",
        params![
            hints.program,
            hints.otherwise,
            hints.key_hash,
            Edge::new().to_bytes()
        ],
    )?;
    let mut size: u64 = copy.query_row("SELECT coalesce(max(last), 0) FROM blocks", [], |row| {
        row.get(0)
    })?;
    if let Some(own) = own {
        let mut record = own.record.clone();
        record[0] = Value::Integer(1);
        tables.put(copy, "journal", &record)?;
    }
    match own.and_then(|own| Some((own.reach()?, own.pruned))) {
        Some((reach, pruned)) => {
            size = size.max(reach.0);
            salvage.pruned = Seq(pruned);
        }
        None => {
            let of_streams = "SELECT coalesce(max(last), 0) FROM streams WHERE last <= ?1 \
                 AND lines_read = records + ignored + repeats + refused";
            let reach: u64 = copy.query_row(of_streams, [size + BEYOND_MAX], |row| row.get(0))?;
            size = size.max(reach);
            let pruned = "SELECT coalesce(max(through), 0) FROM prunes WHERE through <= ?1";
            salvage.pruned = Seq(copy.query_row(pruned, [size], |row| row.get(0))?);
            salvage.tail = salvage
                .tail
                .or(Some("its row of `journal` does not say how far it went"));
        }
    }
    salvage.size = TreeSize(size);
    let nothing = vec![Hash([0; 32]); size.count_ones() as usize];
    let edge = Edge::from_parts(salvage.size, nothing).unwrap_or_default();
    copy.execute(
        "UPDATE journal SET size = ?1, pruned = ?2, edge = ?3, \
         stored_bytes = (SELECT coalesce(sum(length(body)), 0) FROM blocks)",
        params![size, salvage.pruned.0, edge.to_bytes()],
    )?;
    // Pruned blocks can still lie in pages that were given up.
    copy.execute("DELETE FROM blocks WHERE last <= ?1", [salvage.pruned.0])?;
    Ok(())
}

/// The root: the journal's own word for it, else from the entries, else unknown.
fn root(copy: &Connection, own: Option<&Own>, salvage: &mut Salvage) -> Result<(), Fault> {
    let stated = own
        .and_then(|own| own.edge.as_ref())
        .filter(|edge| edge.size() == salvage.size);
    let edge = match stated {
        Some(edge) => Some(edge.clone()),
        None => derive::edge(copy, salvage.size),
    };
    if let Some(edge) = edge {
        copy.execute("UPDATE journal SET edge = ?1", [edge.to_bytes()])?;
        salvage.root = Some(edge.root());
    }
    Ok(())
}
