//! L4: counters against entries, entries against books, books against their sum.

use std::collections::BTreeMap;

use boundlane_record::Books;
use rusqlite::Connection;

use super::entries::{Derived, StreamEntries};
use super::waiting;
use super::{Findings, FsckError, Law};
use crate::block::StreamId;
use crate::head::Head;
use crate::open_loss;
use crate::stream::{self, StreamState};
use crate::tally::Tally;

/// Compares every counter. Where entries are pruned or cannot be read, only what the counters say of
/// each other can be compared.
pub(super) fn compare(
    db: &Connection,
    head: &Head,
    derived: &Derived,
    findings: &mut Findings<'_>,
) -> Result<(), FsckError> {
    let streams = stream::all(db)?;
    let open_drops = open_drops(db)?;
    for stream in &streams {
        balance(stream, findings);
        compare_labels(stream, derived.streams.get(&stream.id), findings);
        if derived.whole {
            let entries = derived.streams.get(&stream.id);
            let open = open_drops.get(&stream.id).copied().unwrap_or(0);
            compare_stream(stream, entries, open, findings);
        }
    }
    for stream in open_drops.keys() {
        if !streams.iter().any(|known| known.id == *stream) {
            let what = format!("drops of stream {}, which has no row", stream.0);
            findings.add(Law::L4, "table `open_losses`", what);
        }
    }
    compare_start(db, derived, findings)?;
    waiting::compare(db, &streams, findings)?;
    compare_totals(db, head, &streams, derived, findings)?;
    compare_losses(db, derived, findings)
}

fn open_drops(db: &Connection) -> rusqlite::Result<BTreeMap<StreamId, u64>> {
    let mut lines = BTreeMap::new();
    for loss in open_loss::all(db)? {
        if loss.kind == "drops" {
            *lines.entry(loss.stream).or_default() += loss.lines();
        }
    }
    Ok(lines)
}

fn place(stream: &StreamState) -> String {
    format!("stream `{}`", stream.name.stream)
}

fn balance(stream: &StreamState, findings: &mut Findings<'_>) {
    if !stream.books.balance() {
        let what = format!("lines read are not accounted for: {:?}", stream.books);
        findings.add(Law::L4, place(stream), what);
    }
    let at = place(stream);
    let records = stream.tally.records();
    findings.compare(Law::L4, &at, "records", stream.books.records, records);
    let entries = stream.tally.entries();
    findings.compare(Law::L4, &at, "entries", stream.entries, entries);
}

/// A stream is whose its last `attached` says; where that is pruned, nothing can be compared.
fn compare_labels(
    stream: &StreamState,
    entries: Option<&StreamEntries>,
    findings: &mut Findings<'_>,
) {
    let Some(attached) = entries.and_then(|entries| entries.attached.as_ref()) else {
        return;
    };
    if stream.name != *attached {
        let what = format!("its row says {:?}, its entries {attached:?}", stream.name);
        findings.add(Law::L3, place(stream), what);
    }
}

/// The journal's row says of its beginning what entry 1 says.
fn compare_start(
    db: &Connection,
    derived: &Derived,
    findings: &mut Findings<'_>,
) -> Result<(), FsckError> {
    let evidence = derived.start.as_deref().map(serde_json::from_str);
    let Some(Ok::<serde_json::Value, _>(evidence)) = evidence else {
        return Ok(());
    };
    for column in ["why", "machine_label"] {
        let sql = format!("SELECT {column} FROM journal");
        let is: String = db.query_row(&sql, [], |row| row.get(0))?;
        if let Some(should) = evidence[column].as_str().filter(|should| *should != is) {
            let what = format!("{column} is `{is}`, `journal_start` says `{should}`");
            findings.add(Law::L9, "table `journal`", what);
        }
    }
    Ok(())
}

fn compare_stream(
    stream: &StreamState,
    entries: Option<&StreamEntries>,
    open_drops: u64,
    findings: &mut Findings<'_>,
) {
    let none = StreamEntries::default();
    let entries = entries.unwrap_or(&none);
    let at = place(stream);
    if stream.tally != entries.tally {
        let what = format!("counts are {:?}, entries {:?}", stream.tally, entries.tally);
        findings.add(Law::L4, &at, what);
    }
    let refused = entries.dropped_lines + open_drops;
    findings.compare(Law::L4, &at, "refused", stream.books.refused, refused);
    if (stream.first, stream.last) != (entries.first, entries.last) {
        let what = "its first and last number are not those of its entries";
        findings.add(Law::L4, &at, what);
    }
}

/// The journal's own row and `totals` are the sums over the streams.
fn compare_totals(
    db: &Connection,
    head: &Head,
    streams: &[StreamState],
    derived: &Derived,
    findings: &mut Findings<'_>,
) -> Result<(), FsckError> {
    let mut books = Books::default();
    streams.iter().for_each(|stream| books += stream.books);
    let at = "table `journal`";
    for (name, should) in [
        ("lines_read", books.lines_read),
        ("records", books.records),
        ("ignored", books.ignored),
        ("repeats", books.repeats),
        ("refused", books.refused),
    ] {
        let sql = format!("SELECT {name} FROM journal");
        let is = db.query_row(&sql, [], |row| row.get(0))?;
        findings.compare(Law::L4, at, name, is, should);
    }
    let counts = tally(
        db,
        "SELECT kind, outcome, sum(entries) FROM counts GROUP BY 1, 2",
    )?;
    let totals = tally(db, "SELECT kind, outcome, entries FROM totals")?;
    if totals != counts {
        let what = format!("they are {totals:?}, the counts of all streams {counts:?}");
        findings.add(Law::L4, "table `totals`", what);
    }
    findings.compare(Law::L4, at, "size", head.size.0, totals.entries());
    if derived.whole && totals != derived.tally {
        let what = format!("they are {totals:?}, entries {:?}", derived.tally);
        findings.add(Law::L4, "table `totals`", what);
    }
    let stored = db.query_row("SELECT stored_bytes FROM journal", [], |row| row.get(0))?;
    if derived.whole {
        findings.compare(Law::L5, at, "stored_bytes", stored, derived.stored_bytes);
        let rows = db.query_row("SELECT count(*) FROM block_streams", [], |row| row.get(0))?;
        let at = "table `block_streams`";
        findings.compare(Law::L4, at, "rows", rows, derived.index_rows);
    }
    Ok(())
}

fn tally(db: &Connection, sql: &str) -> rusqlite::Result<Tally> {
    let mut select = db.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut tally = Tally::default();
    while let Some(row) = rows.next()? {
        let (kind, outcome): (String, String) = (row.get(0)?, row.get(1)?);
        tally.add_words(&kind, &outcome, row.get(2)?);
    }
    Ok(tally)
}

/// Every numbered loss is counted by its cause, and listed while its entry is kept.
fn compare_losses(
    db: &Connection,
    derived: &Derived,
    findings: &mut Findings<'_>,
) -> Result<(), FsckError> {
    if !derived.whole {
        return Ok(());
    }
    for (table, sql) in [
        (
            "table `loss_totals`",
            "SELECT kind, cause, extent, entries, lines, denied FROM loss_totals",
        ),
        (
            "table `losses`",
            "SELECT kind, cause, extent, count(*), coalesce(sum(lines), 0), \
             coalesce(sum(denied), 0) FROM losses GROUP BY 1, 2, 3",
        ),
    ] {
        let stored: BTreeMap<_, _> = db
            .prepare(sql)?
            .query_map([], |row| {
                Ok((
                    (row.get(0)?, row.get(1)?, row.get(2)?),
                    (row.get(3)?, row.get(4)?, row.get(5)?),
                ))
            })?
            .collect::<Result<_, _>>()?;
        if stored != derived.losses {
            let what = format!("it holds {stored:?}, entries {:?}", derived.losses);
            findings.add(Law::L4, table, what);
        }
    }
    Ok(())
}
