//! What only the crate's inside can provoke.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use boundlane_record::{Books, EntryBatch, Row, StreamName};

use super::*;
use crate::item::Checkpoint;
use crate::state_dir::StateDir;

pub(super) fn setup() -> Setup {
    Setup {
        program: "boundlane 0.1.0".into(),
        machine_label: "test".into(),
        machine_id: None,
        redaction: 1,
        now: Micros(1),
        known_heads: Vec::new(),
    }
}

/// A disk that fills up refuses the commit whole; with room again the same commit goes through.
#[test]
fn a_full_disk_is_rolled_back_and_waited_out() {
    let parent = tempfile::tempdir().unwrap();
    let dir = StateDir::at(parent.path());
    let (mut journal, _) = Journal::open(&dir, &setup()).unwrap();
    let stream = StreamName {
        stream: "a".into(),
        ..StreamName::default()
    };
    let mut entries = EntryBatch::new();
    for line in 0..400u64 {
        // Text that does not pack, so that the commit needs pages.
        let raw: String = (0..40)
            .map(|n: u64| format!("{:x}", (line * 40 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        entries.push(&Row {
            kind: Some("event".into()),
            raw: Some(raw.into()),
            ..Row::default()
        });
    }
    let item = Item {
        stream: &stream,
        entries: &entries,
        at: Micros(1),
        books: Books {
            lines_read: 400,
            records: 400,
            ..Books::default()
        },
        expects: None,
        checkpoint: &Checkpoint::default(),
        open_losses: &[],
        when_full: crate::item::WhenFull::Wait,
    };
    let pages: u32 = journal
        .db
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    let limit = |journal: &Journal, pages: u32| {
        let set = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
        journal
            .db
            .pragma_update_and_check(None, "max_page_count", pages, set)
            .unwrap();
    };
    let before = journal.head().unwrap();
    limit(&journal, pages + 10);
    for _ in 0..2 {
        let full = journal.append(&[item]);
        assert!(matches!(full, Err(AppendError::Full)), "{full:?}");
        assert_eq!(journal.head().unwrap(), before);
        assert_eq!(journal.stream("a").unwrap(), None);
    }
    limit(&journal, pages + 1000);
    assert_eq!(journal.append(&[item]).unwrap().size, TreeSize(401));
}

/// A writer that holds the file for ever makes another wait for its time and no longer.
#[test]
fn a_file_that_stays_locked_is_busy_and_no_damage() {
    let parent = tempfile::tempdir().unwrap();
    let dir = StateDir::at(parent.path());
    let (mut journal, _) = Journal::open(&dir, &setup()).unwrap();
    journal
        .db
        .busy_timeout(std::time::Duration::from_millis(1))
        .unwrap();
    let (mut other, _) = Journal::open(&dir, &setup()).unwrap();
    let held = other
        .db
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    assert!(matches!(journal.append(&[]), Err(AppendError::Busy)));
    drop(held);
    assert!(journal.append(&[]).is_ok());
}
