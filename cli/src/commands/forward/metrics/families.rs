//! Every name that is served. They are a contract, written down in `docs/METRICS.md`: none is renamed, given
//! another meaning or taken away. A label's values are words of this program, never text of a sandbox.

use super::page::{Family, Type};

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Family {
    Family {
        name,
        of: Type::Counter,
        labels,
        help,
    }
}

const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Family {
    Family {
        name,
        of: Type::Gauge,
        labels,
        help,
    }
}

pub(super) const BUILD_INFO: Family = gauge(
    "boundlane_build_info",
    &["version"],
    "1, for the version of the program.",
);
pub(super) const HEALTH: Family = gauge(
    "boundlane_health",
    &["word"],
    "1 for the word that `status` says, 0 for the others.",
);

pub(super) const LINES_READ: Family = counter(
    "boundlane_lines_read_total",
    &[],
    "Lines read from all sources.",
);
pub(super) const LINES: Family = counter(
    "boundlane_lines_total",
    &["became"],
    "Lines read, by what became of them.",
);
pub(super) const BOOKS_BALANCED: Family = gauge(
    "boundlane_books_balanced",
    &[],
    "1 while lines read are records, ignored, repeats and refused, else 0.",
);
pub(super) const ENTRIES: Family = counter(
    "boundlane_entries_total",
    &["kind", "outcome"],
    "Entries of the journal, pruned ones included.",
);
pub(super) const RECENT_LINES: Family = gauge(
    "boundlane_recent_lines",
    &[],
    "Lines among the last 10000 entries that became records.",
);
pub(super) const RECENT_UNPARSED: Family = gauge(
    "boundlane_recent_unparsed_lines",
    &[],
    "Of those, the ones that could not be parsed.",
);

pub(super) const LOSSES: Family = counter(
    "boundlane_losses_total",
    &["kind", "cause"],
    "Losses, those that still grow included.",
);
pub(super) const LOSSES_OPEN: Family = gauge(
    "boundlane_losses_open",
    &["kind", "cause"],
    "Losses that still grow.",
);
pub(super) const GAP_LINES: Family = gauge(
    "boundlane_gap_lines",
    &["cause", "extent"],
    "Lines that never reached us, as far as they can be counted; less when a gap turns out to be of unknown extent.",
);
pub(super) const GAPS_UNKNOWN: Family = gauge(
    "boundlane_gaps_of_unknown_extent",
    &["cause"],
    "Gaps of which nobody knows how many lines they hold.",
);
pub(super) const DROPPED: Family = counter(
    "boundlane_dropped_lines_total",
    &["cause"],
    "Lines that were shed.",
);
pub(super) const DROPPED_DENIED: Family = counter(
    "boundlane_dropped_denied_lines_total",
    &["cause"],
    "Of those, denials.",
);

pub(super) const QUEUE: Family = gauge(
    "boundlane_queue_entries",
    &[],
    "Entries that wait for a consumer.",
);
pub(super) const QUEUE_MAX: Family =
    gauge("boundlane_queue_entries_max", &[], "Entries that may wait.");
pub(super) const QUEUE_BYTES: Family = gauge(
    "boundlane_queue_stored_bytes",
    &[],
    "Stored bytes of what waits.",
);
pub(super) const QUEUE_BYTES_MAX: Family = gauge(
    "boundlane_queue_stored_bytes_max",
    &[],
    "Stored bytes that may wait.",
);
pub(super) const QUEUE_USED: Family = gauge(
    "boundlane_queue_used_ratio",
    &[],
    "How much of the nearer limit of the queue is used; 1 is full.",
);
pub(super) const QUEUE_OLDEST: Family = gauge(
    "boundlane_queue_oldest_seconds",
    &[],
    "For how long the oldest entry has waited; 0 when none does.",
);

pub(super) const JOURNAL_ENTRIES: Family = counter(
    "boundlane_journal_entries_total",
    &[],
    "Numbers given: the size of the journal's tree.",
);
pub(super) const JOURNAL_PRUNED: Family = counter(
    "boundlane_journal_pruned_entries_total",
    &[],
    "Of those, the ones that are pruned.",
);
pub(super) const JOURNAL_ACKNOWLEDGED: Family = gauge(
    "boundlane_journal_acknowledged_entries",
    &[],
    "Of those, the ones that every consumer has and that are still kept.",
);
pub(super) const JOURNAL_STORED: Family = gauge(
    "boundlane_journal_stored_bytes",
    &[],
    "Bytes of all entries in the journal, as stored.",
);
pub(super) const JOURNAL_FILE: Family = gauge(
    "boundlane_journal_file_bytes",
    &[],
    "Bytes of the journal's files, the write-ahead log included.",
);
pub(super) const JOURNAL_WAL: Family = gauge(
    "boundlane_journal_wal_bytes",
    &[],
    "Bytes of the write-ahead log.",
);
pub(super) const DISK_FREE: Family = gauge(
    "boundlane_disk_free_bytes",
    &[],
    "What is left on the journal's disk for this user; absent where it cannot be told.",
);

pub(super) const CONSUMER: Family = counter(
    "boundlane_consumer_entries_total",
    &["consumer"],
    "Entries that a consumer has acknowledged.",
);
pub(super) const CONSUMER_BEHIND: Family = gauge(
    "boundlane_consumer_behind_entries",
    &["consumer"],
    "Entries that it has not.",
);
pub(super) const CONSUMER_MOVED: Family = gauge(
    "boundlane_consumer_moved_timestamp_seconds",
    &["consumer"],
    "When it last acknowledged something; 0 before.",
);
pub(super) const ARCHIVE_FILES: Family = gauge(
    "boundlane_archive_files",
    &[],
    "Files of the local archive.",
);
pub(super) const ARCHIVE_BYTES: Family = gauge("boundlane_archive_bytes", &[], "Their bytes.");
pub(super) const ARCHIVE_WRITTEN: Family = gauge(
    "boundlane_archive_written_timestamp_seconds",
    &[],
    "When the newest was written; 0 before.",
);
pub(super) const ARCHIVE_UNHELD: Family = gauge(
    "boundlane_archive_unheld_entries",
    &[],
    "Entries that were archived and that no file is named for.",
);
pub(super) const ARCHIVING_FAILED: Family = gauge(
    "boundlane_archiving_failed",
    &[],
    "1 when this process last tried to archive and failed, else 0.",
);

pub(super) const STARTED: Family = gauge(
    "boundlane_forward_start_timestamp_seconds",
    &[],
    "When this process began to follow.",
);
pub(super) const GATEWAY_UP: Family = gauge(
    "boundlane_gateway_up",
    &[],
    "1 while the gateway answers and lets us in, else 0.",
);
pub(super) const GATEWAY_REFUSES: Family = gauge(
    "boundlane_gateway_refuses",
    &[],
    "1 while it answers and does not let us in, else 0.",
);
pub(super) const GATEWAY_ANSWERED: Family = gauge(
    "boundlane_gateway_answered_timestamp_seconds",
    &[],
    "When it last listed its sandboxes; 0 before.",
);
pub(super) const SANDBOXES: Family = gauge(
    "boundlane_sandboxes",
    &[],
    "Sandboxes that the gateway listed last.",
);
pub(super) const SELECTED: Family = gauge(
    "boundlane_sandboxes_selected",
    &[],
    "Of those, the ones that are selected.",
);
pub(super) const ATTACHED: Family = gauge(
    "boundlane_sandboxes_attached",
    &[],
    "Sandboxes whose stream is attached.",
);
pub(super) const REFUSED: Family = gauge(
    "boundlane_sandboxes_refused",
    &[],
    "Sandboxes that the gateway does not let us read.",
);
