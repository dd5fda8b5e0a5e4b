//! A home with a record in it, written through the journal itself.

use std::path::Path;

use boundlane_record::{Books, EntryBatch, Micros, Row, StreamName};
use boundlane_store::{Checkpoint, Item, Journal, Setup, StateDir};

/// 2026-04-01T04:04:32.690Z.
pub(crate) const AT: i64 = 1_775_016_272_690_000;

/// An empty home until something is recorded.
pub(crate) struct Home {
    directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    fn state_dir(&self) -> StateDir {
        StateDir::at(self.path().join(".local/state/boundlane"))
    }

    /// Commits rows of a sandbox as an import. Rows without labels get those of the stream; what is not
    /// a loss counts as a line read.
    pub(crate) fn record(&self, sandbox: &str, rows: &[Row<'_>]) {
        self.record_from("import", sandbox, rows);
    }

    /// The same for another source.
    pub(crate) fn record_from(&self, source: &str, sandbox: &str, rows: &[Row<'_>]) {
        let setup = Setup {
            program: "boundlane test".into(),
            machine_label: "test".into(),
            machine_id: None,
            redaction: 1,
            now: Micros(AT),
            known_heads: Vec::new(),
        };
        let (mut journal, _) = Journal::open(&self.state_dir(), &setup).unwrap();
        let name = StreamName {
            stream: format!("{source}/{sandbox}/1"),
            sandbox: Some(sandbox.into()),
            source: source.into(),
            ..StreamName::default()
        };
        let mut entries = EntryBatch::new();
        let mut lines = 0;
        for row in rows {
            let mut row = row.clone();
            let kind = row.kind.get_or_insert("decision".into()).clone();
            lines += u64::from(matches!(&*kind, "decision" | "event" | "unparsed"));
            row.observed.get_or_insert(Micros(AT));
            name.label(&mut row);
            entries.push(&row);
        }
        let expects = journal
            .stream(&name.stream)
            .unwrap()
            .map(|stream| stream.version);
        let books = Books {
            lines_read: lines,
            records: lines,
            ..Books::default()
        };
        let checkpoint = Checkpoint {
            place: "{}".into(),
            ..Checkpoint::default()
        };
        let item = Item {
            stream: &name,
            entries: &entries,
            at: Micros(AT),
            books,
            expects,
            checkpoint: &checkpoint,
            open_losses: &[],
            when_full: boundlane_store::WhenFull::Wait,
        };
        journal.append(&[item]).unwrap();
    }
}

/// A denial, `seconds` after the first.
pub(crate) fn denied(seconds: i64, process: &str, host: &str) -> Row<'static> {
    Row {
        kind: Some("decision".into()),
        outcome: Some("denied".into()),
        action: Some("Denied".into()),
        time: Some(Micros(AT + seconds * 1_000_000)),
        process: Some(process.to_owned().into()),
        host: Some(host.to_owned().into()),
        port: Some(443),
        destination: Some(format!("{host}:443").into()),
        reason: Some("no matching policy".into()),
        raw: Some(format!("DENIED {process} -> {host}:443").into()),
        ..Row::default()
    }
}

/// The same, allowed by a rule.
pub(crate) fn allowed(seconds: i64, process: &str, host: &str) -> Row<'static> {
    Row {
        outcome: Some("allowed".into()),
        action: Some("Allowed".into()),
        rule: Some("github_api".into()),
        reason: None,
        ..denied(seconds, process, host)
    }
}

/// At most twelve lines that never came.
pub(crate) fn gap() -> Row<'static> {
    Row {
        kind: Some("gap".into()),
        cause: Some("lagged".into()),
        extent: Some("at_most".into()),
        count: Some(12),
        from: Some(Micros(AT)),
        to: Some(Micros(AT + 2_000_000)),
        ..Row::default()
    }
}
