//! Rows as they lay in the damaged file, put into the tables of the copy.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, params_from_iter};

use super::image::{Cell, Image, Met};
use super::record::Record;
use crate::schema;

/// The tables' columns and roots.
pub(super) struct Tables {
    columns: HashMap<String, Vec<String>>,
    roots: HashMap<String, u32>,
}

impl Tables {
    /// Learns the columns from the copy, and the roots from the first page; where that is damaged, from
    /// where they lie in every journal.
    pub(super) fn learn(
        copy: &Connection,
        image: &mut Image,
    ) -> Result<Tables, super::copy::Fault> {
        let mut tables = Tables {
            columns: HashMap::new(),
            roots: laid_out()?,
        };
        let mut names = copy.prepare(
            "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c \
             WHERE m.type = 'table' ORDER BY c.cid",
        )?;
        let mut rows = names.query([])?;
        while let Some(row) = rows.next()? {
            let columns = tables.columns.entry(row.get(0)?).or_default();
            columns.push(row.get(1)?);
        }
        image.follow(1, &mut |met| {
            if let Met::Row(Cell { record, .. }) = met
                && let [
                    Value::Text(kind),
                    Value::Text(name),
                    _,
                    Value::Integer(root),
                    _,
                ] = &record[..]
                && kind == "table"
                && let Ok(root) = u32::try_from(*root)
            {
                tables.roots.insert(name.clone(), root);
            }
        })?;
        Ok(tables)
    }

    /// The root page of `table`; 0 when there is none.
    pub(super) fn root(&self, table: &str) -> u32 {
        self.roots.get(table).copied().unwrap_or(0)
    }

    /// Puts a row into `table`, in place of one with the same key. False when it cannot be one of its rows.
    pub(super) fn put(
        &self,
        copy: &Connection,
        table: &str,
        record: &[Value],
    ) -> rusqlite::Result<bool> {
        self.insert(copy, "REPLACE", table, record)
    }

    /// Puts a row into `table` unless one with the same key is there.
    pub(super) fn add(
        &self,
        copy: &Connection,
        table: &str,
        record: &[Value],
    ) -> rusqlite::Result<bool> {
        self.insert(copy, "IGNORE", table, record)
    }

    fn insert(
        &self,
        copy: &Connection,
        or: &str,
        table: &str,
        record: &[Value],
    ) -> rusqlite::Result<bool> {
        let columns = self.columns.get(table).map_or(&[][..], Vec::as_slice);
        // An older schema's row ends earlier, a newer one's is not read at all.
        let named = columns.len().min(record.len());
        let names = columns[..named]
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(", ");
        let places = vec!["?"; named].join(", ");
        let sql = format!("INSERT OR {or} INTO {table} ({names}) VALUES ({places})");
        let inserted = copy
            .prepare_cached(&sql)?
            .execute(params_from_iter(&record[..named]));
        match inserted {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Ok(false)
            }
            inserted => Ok(inserted? > 0),
        }
    }
}

/// A row of a table with an integer key: the key is stored as the rowid, and as nothing in the record.
pub(super) fn with_key(cell: Cell) -> Record {
    let Cell { rowid, mut record } = cell;
    if let Some(key) = record.first_mut() {
        *key = Value::Integer(rowid);
    }
    record
}

fn laid_out() -> rusqlite::Result<HashMap<String, u32>> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(schema::SQL)?;
    db.prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
