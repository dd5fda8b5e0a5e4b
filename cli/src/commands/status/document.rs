//! `status --json`: one document. Keys are only ever added.

use boundlane_record::Micros;
use boundlane_store::LossTotal;
use serde_json::{Value, json};

use super::{Aside, JournalStatus, Status, StreamStatus, following};
use crate::time::rfc3339;

/// The document.
pub(super) fn document(status: &Status) -> Value {
    json!({
        "health": status.health.word.word(),
        "reasons": status.health.reasons,
        "forwarder": following::document(&status.following),
        "server": { "enrolled": false },
        "directory": status.directory,
        "journal": status.journal.as_ref().map(journal),
        "set_aside": status.set_aside.iter().map(Aside::document).collect::<Vec<_>>(),
        "set_aside_unreadable": status.unreadable,
        "archive": {
            "files": status.archive.files,
            "bytes": status.archive.bytes,
            "newest": status.archive.newest.map(rfc3339),
        },
        "disk": { "journal_bytes": status.disk.journal, "wal_bytes": status.disk.wal, "free_bytes": status.disk.free },
        "versions": {
            "program": env!("CARGO_PKG_VERSION"),
            "entries": boundlane_record::SCHEMA_VERSION,
            "journal": boundlane_store::JOURNAL_SCHEMA,
        },
        "at": rfc3339(status.now),
    })
}

fn journal(journal: &JournalStatus) -> Value {
    let totals = &journal.totals;
    let books = totals.books;
    json!({
        "id": journal.head.journal,
        "size": totals.size.0,
        "root": journal.head.root.to_hex(),
        "books": {
            "lines_read": books.lines_read,
            "records": books.records,
            "ignored": books.ignored,
            "repeats": books.repeats,
            "refused": books.refused,
            "balance": books.balance(),
        },
        "numbers": {
            "given": totals.size.0,
            "pruned": totals.pruned,
            "acknowledged": totals.acknowledged,
            "queued": totals.queued,
        },
        "oldest_queued": totals.oldest_queued.map(rfc3339),
        "queue": {
            "entries": journal.queue.entries,
            "entries_max": journal.queue.entries_max,
            "stored_bytes": journal.queue.stored_bytes,
            "stored_bytes_max": journal.queue.stored_bytes_max,
            "used_millionths": journal.queue.used_millionths(),
        },
        "stored_bytes": totals.stored_bytes,
        "consumers": totals.acks.iter().map(|ack| json!({
            "name": ack.consumer,
            "through": ack.through.0,
            "at": rfc3339(ack.at),
        })).collect::<Vec<_>>(),
        "losses": journal.losses.iter().map(loss).collect::<Vec<_>>(),
        "losses_24h": journal.losses_of_a_day.iter().map(loss).collect::<Vec<_>>(),
        "most_losses": journal.unlucky.iter().map(|unlucky| json!({
            "sandbox": unlucky.sandbox,
            "losses": unlucky.losses,
        })).collect::<Vec<_>>(),
        "streams": journal.streams.iter().map(stream).collect::<Vec<_>>(),
    })
}

fn loss(total: &LossTotal) -> Value {
    json!({
        "kind": total.kind,
        "cause": total.cause,
        "losses": total.losses,
        "open": total.open,
        "lines_exact": total.exact,
        "lines_at_least": total.at_least,
        "lines_at_most": total.at_most,
        "of_unknown_extent": total.unknown,
        "denied": total.denied,
    })
}

fn stream(stream: &StreamStatus) -> Value {
    let last: Option<Micros> = stream.last;
    json!({
        "stream": stream.stream,
        "sandbox": stream.sandbox,
        "source": stream.source,
        "records": stream.records,
        "denied": stream.denied,
        "last_read": last.map(rfc3339),
        "balance": stream.balanced,
    })
}
