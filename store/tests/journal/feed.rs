//! What the tests write: a numbered sequence of lines, and the items that a source makes of it.

use std::ops::{ControlFlow, Range};

use boundlane_record::{
    Books, DropCause, Drops, EntryBatch, Extent, Fingerprint, Gap, GapCause, Micros, Row,
    StreamName, canonical,
};
use boundlane_store::{
    Checkpoint, Found, Item, Journal, OpenLoss, Reader, Select, Setup, StateDir, fsck,
};

/// A setup that knows nothing from elsewhere.
pub(crate) fn setup() -> Setup {
    Setup {
        program: "boundlane 0.1.0".into(),
        machine_label: "test".into(),
        machine_id: Some("0f0e0d0c".into()),
        redaction: 1,
        now: Micros(1_000_000),
        known_heads: Vec::new(),
    }
}

/// A state directory that goes with the test.
pub(crate) fn state() -> (tempfile::TempDir, StateDir) {
    let parent = tempfile::tempdir().unwrap();
    let dir = StateDir::at(parent.path().join("state"));
    (parent, dir)
}

/// Opens the journal with [`setup`].
pub(crate) fn open(dir: &StateDir) -> Journal {
    Journal::open(dir, &setup()).unwrap().0
}

/// The journal for reading.
pub(crate) fn reader(dir: &StateDir) -> Reader {
    Reader::open(dir).unwrap().unwrap()
}

/// A stream of sandbox `demo`.
pub(crate) fn name(stream: &str) -> StreamName {
    StreamName {
        stream: stream.into(),
        sandbox: Some("demo".into()),
        source: "import".into(),
        ..StreamName::default()
    }
}

/// What becomes of line `n`: a function of its number alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Record,
    Ignored,
    Refused,
}

pub(crate) fn fate(line: u64) -> Fate {
    match line {
        line if line % 11 == 3 => Fate::Ignored,
        line if line % 17 == 5 => Fate::Refused,
        _ => Fate::Record,
    }
}

/// Whether a gap of one line opens right after line `n`.
pub(crate) fn gap_after(line: u64) -> bool {
    line % 37 == 36
}

/// One item's worth of owned parts.
pub(crate) struct Part {
    pub(crate) name: StreamName,
    pub(crate) entries: EntryBatch,
    pub(crate) books: Books,
    pub(crate) expects: Option<u64>,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) open_losses: Vec<OpenLoss>,
}

impl Part {
    pub(crate) fn item(&self) -> Item<'_> {
        Item {
            stream: &self.name,
            entries: &self.entries,
            at: Micros(5),
            books: self.books,
            expects: self.expects,
            checkpoint: &self.checkpoint,
            open_losses: &self.open_losses,
            when_full: boundlane_store::WhenFull::Wait,
        }
    }
}

/// The row of line `n`.
pub(crate) fn row(name: &StreamName, line: u64) -> Row<'_> {
    let at = Micros(i64::try_from(line).unwrap() * 1000);
    let mut row = Row {
        kind: Some("decision".into()),
        outcome: Some(
            if line.is_multiple_of(5) {
                "denied"
            } else {
                "allowed"
            }
            .into(),
        ),
        time: Some(at),
        observed: Some(at),
        raw: Some(format!("line {line}").into()),
        ..Row::default()
    };
    name.label(&mut row);
    row
}

/// The item that passes `lines`, whose last line may be followed by a gap.
pub(crate) fn part(stream: &str, lines: Range<u64>, expects: Option<u64>) -> Part {
    let mut part = Part {
        name: name(stream),
        entries: EntryBatch::new(),
        books: Books::default(),
        expects,
        checkpoint: Checkpoint {
            place: lines.end.to_string(),
            ..Checkpoint::default()
        },
        open_losses: Vec::new(),
    };
    let mut refused = 0;
    for line in lines.clone() {
        part.books.lines_read += 1;
        match fate(line) {
            Fate::Record => {
                part.entries.push(&row(&part.name, line));
                part.books.records += 1;
            }
            Fate::Ignored => part.books.ignored += 1,
            Fate::Refused => refused += 1,
        }
        let mut digest = [0; 16];
        digest[..8].copy_from_slice(&line.to_be_bytes());
        part.checkpoint.fingerprints.push(Fingerprint(digest));
    }
    part.books.refused = refused;
    if refused > 0 {
        part.open_losses.push(drops(refused));
    }
    if lines.end > 0 && gap_after(lines.end - 1) {
        part.open_losses.push(gap(Extent::Exact(1)));
    }
    part
}

pub(crate) fn drops(count: u64) -> OpenLoss {
    OpenLoss::Drops(Drops {
        cause: DropCause::QueueFull,
        count,
        denied: 0,
        from: Micros(1),
        to: Micros(2),
        evidence: None,
    })
}

pub(crate) fn gap(extent: Extent) -> OpenLoss {
    OpenLoss::Gap(Gap {
        cause: GapCause::Lagged,
        extent,
        from: Some(Micros(1)),
        to: Some(Micros(2)),
        after_cursor: None,
        before_cursor: None,
        evidence: None,
    })
}

/// Where an item that begins at `line` ends: sizes differ, and a line with a gap after it ends one.
pub(crate) fn end_of_item(line: u64, lines: u64) -> u64 {
    let longest = line + 1 + line.wrapping_mul(2_654_435_761) % 90;
    let end = (line + 1..=longest).find(|end| gap_after(end - 1));
    end.unwrap_or(longest).min(lines)
}

/// Every entry's row, in number order; a hole fails the test.
pub(crate) fn rows(reader: &Reader) -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    let broken = reader.each_entry(Select::all(), |found| match found {
        Found::Entry(seq, entry) => {
            assert_eq!(seq.0, rows.len() as u64 + 1, "numbers are dense");
            rows.push(canonical::decode(entry).unwrap().into_owned());
            ControlFlow::Continue(())
        }
        other => ControlFlow::Break(format!("{other:?}")),
    });
    assert_eq!(broken.unwrap(), None);
    rows
}

/// The raw texts of the rows that have one.
pub(crate) fn raws(reader: &Reader) -> Vec<String> {
    let rows = rows(reader).into_iter();
    rows.filter_map(|row| row.raw.map(|raw| raw.into_owned()))
        .collect()
}

/// All findings of the offline check.
pub(crate) fn findings(dir: &StateDir) -> Vec<String> {
    let mut findings = Vec::new();
    let summary = fsck(
        dir,
        &mut |finding| findings.push(finding.to_string()),
        &mut |_| {},
    );
    let summary = summary.unwrap().unwrap();
    assert_eq!(summary.findings, findings.len() as u64);
    findings
}

/// The offline check has nothing to say.
pub(crate) fn assert_sound(dir: &StateDir) {
    assert_eq!(findings(dir), Vec::<String>::new());
}
