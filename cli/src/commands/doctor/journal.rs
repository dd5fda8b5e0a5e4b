//! The journal: whether it opens, its newest entries can be read, its books balance, and lines are lost.

use boundlane_record::{Micros, Seq, TreeSize};
use boundlane_store::{
    Head, OpenError, Piece, Reader, STARTUP_ENTRIES, Select, StateDir, StreamState, Totals,
};

use super::finding::{Finding, Level};
use crate::commands::health::{self, Word};
use crate::commands::status::archive;
use crate::context::Context;
use crate::exit::{Failure, Outcome};

const JOURNAL: &str = "journal";
const LOSSES: &str = "losses";
const KEY: &str = "digest key";

/// What is found.
pub(super) enum Facts {
    /// None was begun.
    Absent,
    /// It cannot be opened or read; what was said.
    Unreadable(String),
    /// In numbers.
    Open(Box<Open>),
}

/// A journal that can be read.
pub(super) struct Open {
    pub(super) head: Head,
    pub(super) totals: Totals,
    pub(super) streams: Vec<StreamState>,
    health: health::Facts,
    newest: Newest,
    key: Key,
}

/// The newest entries, read back with their checksums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Newest {
    entries: u64,
    /// Numbers that cannot be read, and why.
    damaged: Vec<String>,
}

/// `digest.key`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    There,
    Absent,
    Unusable(String),
}

impl Facts {
    /// Reads the counters and the newest entries, each in a short read.
    ///
    /// # Errors
    /// 2 when nothing says where the directory is.
    pub(super) fn read(ctx: &Context) -> Outcome<Facts> {
        let dir = StateDir::at(&ctx.state_dir()?.path);
        let root = ctx.archive_root()?.path;
        Ok(match Reader::open(&dir) {
            Ok(None) => Facts::Absent,
            Err(error) => Facts::Unreadable(unopened(&error)),
            Ok(Some(reader)) => match Open::read(&reader, &dir, &root, ctx.now) {
                Ok(open) => Facts::Open(Box::new(open)),
                Err(Failure::Told(told)) => Facts::Unreadable(told.what),
                Err(other) => return Err(other),
            },
        })
    }

    /// Its streams; none when it cannot be read.
    pub(super) fn streams(&self) -> &[StreamState] {
        match self {
            Facts::Open(open) => &open.streams,
            _ => &[],
        }
    }
}

fn unopened(error: &OpenError) -> String {
    match error {
        // Its advice stands behind a colon.
        OpenError::NewerSchema(newer) => newer.to_string().replace(": use", "; use"),
        other => other.to_string(),
    }
}

impl Open {
    fn read(reader: &Reader, dir: &StateDir, root: &std::path::Path, now: Micros) -> Outcome<Open> {
        let read = crate::commands::recorded::read_failure;
        let totals = reader.totals().map_err(read)?;
        let head = reader.head().map_err(read)?;
        let following = crate::forwarder::file::read(dir, now);
        let health = health::Facts {
            unheld: archive::unheld(root, &head.journal, &totals),
            ..health::facts(reader, &totals, &following, now)?
        };
        let key = match dir.read_digest_key() {
            Ok(Some(_)) => Key::There,
            Ok(None) => Key::Absent,
            Err(error) => Key::Unusable(error.to_string()),
        };
        Ok(Open {
            newest: Newest::read(reader, &head)?,
            streams: reader.streams().map_err(read)?,
            head,
            totals,
            health,
            key,
        })
    }
}

impl Newest {
    /// As many as a writer checks when it starts.
    fn read(reader: &Reader, head: &Head) -> Outcome<Newest> {
        let read = crate::commands::recorded::read_failure;
        let after = Seq(head
            .size
            .0
            .saturating_sub(STARTUP_ENTRIES)
            .max(head.pruned.0));
        let mut newest = Newest {
            entries: head.size.0.saturating_sub(after.0),
            damaged: Vec::new(),
        };
        for piece in reader.blocks(Select::all().after(after)).map_err(read)? {
            if let Piece::Damaged(damage) = piece.map_err(read)? {
                let (first, last) = (damage.first, damage.last);
                newest
                    .damaged
                    .push(format!("{first} to {last} ({})", damage.why));
            }
        }
        Ok(newest)
    }
}

/// Everything about the journal.
pub(super) fn checks(facts: &Facts) -> Vec<Finding> {
    match facts {
        Facts::Absent => vec![Finding::note(JOURNAL, "none is begun yet")],
        Facts::Unreadable(said) => vec![Finding::told(JOURNAL, Level::Error, said)],
        Facts::Open(open) => {
            let mut findings = vec![whole(
                &open.newest,
                open.totals.books.balance(),
                open.head.size,
            )];
            findings.extend(key(&open.key));
            findings.push(losses(&open.health));
            findings
        }
    }
}

fn whole(newest: &Newest, balanced: bool, size: TreeSize) -> Finding {
    let advice = "keep a copy of the state directory, then let `boundlane fsck` say what is wrong";
    if let Some(first) = newest.damaged.first() {
        let more = match newest.damaged.len() {
            1 => String::new(),
            n => format!(" and {} more places", n - 1),
        };
        let what = format!("entries {first}{more} cannot be read");
        return Finding::error(JOURNAL, what).fix(advice);
    }
    if !balanced {
        return Finding::error(JOURNAL, "the books do not balance").fix(advice);
    }
    Finding::ok(
        JOURNAL,
        format!(
            "{} entries, the last {} read back, the books balance",
            size.0, newest.entries
        ),
    )
}

/// Only what is wrong with it: an intact key is not worth a line.
fn key(key: &Key) -> Option<Finding> {
    match key {
        Key::There => None,
        Key::Absent => Some(
            Finding::warning(
                KEY,
                "`digest.key` is gone: what was read before will be read as new",
            )
            .fix("put it back from a backup before anything is written"),
        ),
        Key::Unusable(said) => Some(Finding::told(KEY, Level::Error, said)),
    }
}

fn losses(facts: &health::Facts) -> Finding {
    let health = health::decide(facts);
    let what = format!("{}: {}", health.word.word(), health.reasons.join("; "));
    match health.word {
        Word::Healthy => Finding::ok(LOSSES, what),
        Word::Degraded | Word::Losing => Finding::warning(LOSSES, what)
            .fix("`boundlane status` says more; docs/OPERATING.md says what to do"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_cannot_be_read_is_well() {
        let newest = |damaged: &[&str]| Newest {
            entries: 7,
            damaged: damaged.iter().map(|text| (*text).to_owned()).collect(),
        };
        let sound = whole(&newest(&[]), true, TreeSize(7));
        assert_eq!(sound.level, Level::Ok);
        assert_eq!(
            sound.what,
            "7 entries, the last 7 read back, the books balance"
        );
        let damaged = whole(&newest(&["1 to 2 (x)", "4 to 4 (y)"]), true, TreeSize(7));
        assert_eq!(damaged.level, Level::Error);
        assert_eq!(
            damaged.what,
            "entries 1 to 2 (x) and 1 more places cannot be read"
        );
        assert_eq!(whole(&newest(&[]), false, TreeSize(7)).level, Level::Error);
        assert_eq!(key(&Key::There), None);
        assert_eq!(
            key(&Key::Absent).map(|found| found.level),
            Some(Level::Warning)
        );
        let unreadable = Facts::Unreadable("`x` is damaged: y; run `boundlane fsck`".to_owned());
        let findings = checks(&unreadable);
        assert_eq!(findings[0].fix.as_deref(), Some("run `boundlane fsck`"));
    }

    #[test]
    fn a_loss_is_passed_over() {
        let sound = health::Facts {
            balanced: true,
            ..health::Facts::default()
        };
        assert_eq!(losses(&sound).level, Level::Ok);
        let behind = health::Facts { unheld: 3, ..sound };
        assert_eq!(losses(&behind).level, Level::Warning);
    }
}
