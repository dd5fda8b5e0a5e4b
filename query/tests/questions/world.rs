//! What the tests ask about: archives in temporary directories, a journal in memory, rows as text.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use boundlane_archive::{Archiver, JournalId, OsDisk, Root, list};
use boundlane_query::{
    Cell, LiveBlock, LiveBlocks, LiveHead, LiveJournal, OutputColumn, Question, Request, Rows,
    Sink, run,
};
use boundlane_query::{Outcome, QueryError};
use boundlane_record::tree::{Edge, leaf_hash};
use boundlane_record::{Column, Micros, Row, Seq, TreeSize, canonical};
use tempfile::TempDir;

/// 2026-08-01T00:00:00Z.
pub(crate) const DAY: i64 = 1_785_542_400_000_000;
pub(crate) const SECOND: i64 = 1_000_000;

pub(crate) const JOURNAL: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const OLDER: &str = "fedcba9876543210fedcba9876543210";

/// A decision of `dev`, read by the gateway source at second `n` of the day.
pub(crate) fn decision(n: i64, outcome: &str, host: &str) -> Row<'static> {
    Row {
        kind: Some("decision".into()),
        outcome: Some(outcome.to_owned().into()),
        time: Some(Micros(DAY + n * SECOND)),
        observed: Some(Micros(DAY + n * SECOND)),
        stream: Some("gateway/dev".into()),
        sandbox: Some("dev".into()),
        sandbox_id: Some("id-dev".into()),
        source: Some("gateway".into()),
        process: Some("/usr/bin/curl".into()),
        host: Some(host.to_owned().into()),
        port: Some(443),
        rule: Some("web".into()),
        ..Row::default()
    }
}

/// A session entry of the same stream.
pub(crate) fn session(n: i64, what: &str) -> Row<'static> {
    Row {
        kind: Some("session".into()),
        cause: Some(what.to_owned().into()),
        time: None,
        outcome: None,
        process: None,
        host: None,
        port: None,
        rule: None,
        ..decision(n, "", "")
    }
}

/// A gap of the same stream, between two seconds of the day in both times.
pub(crate) fn gap(from: i64, to: i64) -> Row<'static> {
    let (from, to) = (DAY + from * SECOND, DAY + to * SECOND);
    Row {
        kind: Some("gap".into()),
        cause: Some("lagged".into()),
        extent: Some("at_most".into()),
        count: Some(5),
        from: Some(Micros(from)),
        to: Some(Micros(to)),
        observed: Some(Micros(to)),
        evidence: Some(format!(r#"{{"after_time":{from},"before_time":{to}}}"#).into()),
        ..session(0, "")
    }
}

/// One journal's entries and how many of them were archived.
pub(crate) struct World {
    pub(crate) directory: TempDir,
    entries: Vec<Vec<u8>>,
    edge: Edge,
    archived: usize,
}

impl World {
    pub(crate) fn new() -> World {
        World {
            directory: tempfile::tempdir().unwrap(),
            entries: Vec::new(),
            edge: Edge::new(),
            archived: 0,
        }
    }

    /// A world whose archive holds `rows` in one file.
    pub(crate) fn archived(rows: &[Row<'_>]) -> World {
        let mut world = World::new();
        world.append(rows);
        world.archive();
        world
    }

    pub(crate) fn append(&mut self, rows: &[Row<'_>]) -> &mut World {
        for row in rows {
            let mut entry = Vec::new();
            canonical::encode(row, &mut entry);
            self.entries.push(entry);
        }
        self
    }

    /// Archives what was appended since the last time, as one file a day.
    pub(crate) fn archive(&mut self) -> &mut World {
        self.archive_as(JOURNAL)
    }

    pub(crate) fn archive_as(&mut self, journal: &str) -> &mut World {
        let journal = JournalId::parse(journal).unwrap();
        let limits = boundlane_archive::Limits {
            row_group_entries_max: 64,
            ..boundlane_archive::Limits::default()
        };
        let archiver = Archiver::open_with(self.root(), Arc::new(OsDisk), limits).unwrap();
        let from = self.archived;
        let entries = self.entries[from..].iter().enumerate();
        let entries = entries.map(|(at, entry)| (Seq((from + at) as u64 + 1), entry));
        archiver.write(&journal, &self.edge, entries).unwrap();
        for entry in &self.entries[from..] {
            self.edge.push(leaf_hash(entry));
        }
        self.archived = self.entries.len();
        self
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.directory.path())
    }

    /// The files of the archive, in number order.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        list(&self.root())
            .files
            .into_iter()
            .map(|file| file.path)
            .collect()
    }

    /// The journal with everything, of which the numbers below `first` are pruned.
    pub(crate) fn live(&self, first: u64) -> FakeLive {
        FakeLive {
            first,
            journals: vec![(JOURNAL.to_owned(), self.entries.clone())],
            ..FakeLive::default()
        }
    }

    pub(crate) fn request(&self, question: Question) -> Request {
        Request::new(vec![self.root()], question)
    }

    pub(crate) fn ask(&self, sql: &str) -> (Table, Outcome) {
        asked(&self.request(Question::Sql(sql.to_owned()))).unwrap()
    }

    /// Joins all files into one, as compaction does, and takes the inputs away.
    pub(crate) fn compact(&self) {
        let inputs = self.files();
        let whole = World {
            directory: tempfile::tempdir().unwrap(),
            entries: self.entries[..self.archived].to_vec(),
            edge: Edge::new(),
            archived: 0,
        };
        let mut whole = whole;
        whole.archive();
        let output = whole.files().remove(0);
        let target = inputs[0]
            .parent()
            .unwrap()
            .join(output.file_name().unwrap());
        fs::copy(&output, &target).unwrap();
        for input in inputs.iter().filter(|input| **input != target) {
            fs::remove_file(input).unwrap();
        }
    }
}

pub(crate) fn all_rows() -> Question {
    Question::Rows {
        columns: vec![Column::kind, Column::outcome, Column::host],
    }
}

/// A journal in memory.
#[derive(Default, Clone)]
pub(crate) struct FakeLive {
    /// Numbers below are pruned, in every journal.
    pub(crate) first: u64,
    pub(crate) journals: Vec<(String, Vec<Vec<u8>>)>,
    pub(crate) open: Vec<Row<'static>>,
    /// Numbers whose block is damaged.
    pub(crate) damaged: Vec<u64>,
    /// How many looks at the blocks there were.
    pub(crate) looks: Arc<Mutex<u64>>,
    /// The first so many looks find everything pruned.
    pub(crate) pruned_looks: u64,
}

impl LiveJournal for FakeLive {
    fn journals(&self) -> Vec<LiveHead> {
        let head = |(journal, entries): &(String, Vec<Vec<u8>>)| LiveHead {
            journal: journal.clone(),
            file: journal.clone(),
            first: Seq(self.first),
            size: TreeSize(entries.len() as u64),
        };
        self.journals.iter().map(head).collect()
    }

    fn blocks(&self, journal: &str, after: Seq) -> LiveBlocks {
        let mut looks = self.looks.lock().unwrap();
        *looks += 1;
        if *looks <= self.pruned_looks {
            return Box::new(std::iter::empty());
        }
        let entries = self
            .journals
            .iter()
            .find(|(name, _)| name == journal)
            .unwrap();
        let mut blocks = Vec::new();
        for (at, chunk) in entries.1.chunks(3).enumerate() {
            let first = at as u64 * 3 + 1;
            let last = first + chunk.len() as u64 - 1;
            if last <= after.0 || last < self.first {
                continue;
            }
            blocks.push(
                match self.damaged.iter().any(|seq| (first..=last).contains(seq)) {
                    true => Err("checksum".to_owned()),
                    false => Ok(LiveBlock {
                        first: Seq(first),
                        ndjson: chunk.join(&b'\n'),
                    }),
                },
            );
        }
        Box::new(blocks.into_iter())
    }

    fn open_losses(&self) -> Vec<Row<'static>> {
        self.open.clone()
    }
}

/// An answer as text: null is `-`, columns are joined by spaces.
#[derive(Default, Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<String>,
}

impl Sink for Table {
    fn columns(&mut self, columns: &[OutputColumn]) -> std::io::Result<()> {
        assert!(self.columns.is_empty(), "columns come once");
        self.columns = columns.iter().map(|column| column.name.clone()).collect();
        Ok(())
    }

    fn rows(&mut self, rows: &Rows) -> std::io::Result<()> {
        for row in 0..rows.len() {
            let cells = (0..self.columns.len()).map(|column| text(&rows.cell(row, column)));
            self.rows.push(cells.collect::<Vec<_>>().join(" "));
        }
        Ok(())
    }
}

fn text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "-".to_owned(),
        Cell::Text(text) => (*text).to_owned(),
        Cell::Integer(n) => n.to_string(),
        Cell::Real(x) => x.to_string(),
        Cell::Bool(is) => is.to_string(),
        Cell::Time(at) => format!("@{}", (at.0 - DAY) / SECOND),
        Cell::Other(text) => text.clone(),
    }
}

pub(crate) fn asked(request: &Request) -> Result<(Table, Outcome), QueryError> {
    let mut table = Table::default();
    let outcome = run(request, &mut table)?;
    assert_eq!(outcome.rows, table.rows.len() as u64);
    Ok((table, outcome))
}

/// The one line of coverage.
pub(crate) fn coverage(outcome: &Outcome) -> String {
    outcome.coverage.as_ref().unwrap().line()
}
