//! Reading what health is decided by: the journal's counters, the archive's names, what `forward` says.

use std::cell::Cell;
use std::path::PathBuf;

use boundlane_record::{Kind, Micros, Seq};
use boundlane_store::{Consumer, Head, Reader, Select, StateDir, Totals};

use super::queue::Queue;
use super::{BEHIND_MICROS, Facts, Health, LOOKED_AT_ENTRIES, LOSING_MICROS, Word, decide};
use crate::commands::recorded::{open_failure, read_failure};
use crate::commands::status::archive::{self, Stored};
use crate::context::Context;
use crate::exit::Outcome;
use crate::forwarder::file::{self, Found};

/// Where everything is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The state directory.
    pub(crate) dir: StateDir,
    /// The root of the local archive.
    pub(crate) archive: PathBuf,
}

impl Place {
    /// Of this run.
    ///
    /// # Errors
    /// 2 when nothing says where it is.
    pub(crate) fn of(ctx: &Context) -> Outcome<Place> {
        Ok(Place {
            dir: StateDir::at(&ctx.state_dir()?.path),
            archive: ctx.archive_root()?.path,
        })
    }
}

/// How things stand at one moment.
pub(crate) struct Examined {
    /// The word, and why.
    pub(crate) health: Health,
    /// What it was decided by.
    pub(crate) facts: Facts,
    /// Who follows.
    pub(crate) following: Found,
    /// The journal, if one was begun.
    pub(crate) journal: Option<Opened>,
    /// The local archive.
    pub(crate) archive: Stored,
}

/// A journal that can be read.
pub(crate) struct Opened {
    /// To read more.
    pub(crate) reader: Reader,
    /// Its end.
    pub(crate) head: Head,
    /// Its counters.
    pub(crate) totals: Totals,
}

/// Looks at everything, as `status` does.
///
/// # Errors
/// As [`with`].
pub(crate) fn examine(place: &Place, now: Micros) -> Outcome<Examined> {
    with(place, file::read(&place.dir, now), now)
}

/// The same for who knows who follows.
///
/// # Errors
/// 3 for a newer journal, 1 when it cannot be read.
pub(crate) fn with(place: &Place, following: Found, now: Micros) -> Outcome<Examined> {
    let archive = archive::stored(&place.archive);
    let reader = Reader::open(&place.dir).map_err(|error| open_failure(&error))?;
    let Some(reader) = reader else {
        let facts = Facts {
            balanced: true,
            forwarder: following.running().cloned(),
            is_followed: following.is_somebody(),
            trouble_micros: trouble_micros(&following, now),
            ..Facts::default()
        };
        return Ok(Examined {
            health: nothing_yet(archive.files, &facts),
            facts,
            following,
            journal: None,
            archive,
        });
    };
    let totals = reader.totals().map_err(read_failure)?;
    let head = reader.head().map_err(read_failure)?;
    let facts = Facts {
        unheld: archive::unheld(&place.archive, &head.journal, &totals),
        ..facts(&reader, &totals, &following, now)?
    };
    Ok(Examined {
        health: decide(&facts),
        facts,
        following,
        journal: Some(Opened {
            reader,
            head,
            totals,
        }),
        archive,
    })
}

/// Nothing was ever recorded, or the journal was taken away from beside its archive.
fn nothing_yet(archive_files: u64, facts: &Facts) -> Health {
    if archive_files > 0 {
        return Health {
            word: Word::Degraded,
            reasons: vec![format!(
                "the journal is gone, and {archive_files} files of its archive are here; what it had beyond them is lost"
            )],
        };
    }
    let health = decide(facts);
    match health.word {
        Word::Healthy => Health {
            reasons: vec!["nothing is recorded yet".to_owned()],
            ..health
        },
        _ => health,
    }
}

/// Reads the facts of the journal.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) fn facts(
    journal: &Reader,
    totals: &Totals,
    following: &Found,
    now: Micros,
) -> Outcome<Facts> {
    let fresh = journal
        .losses(Some(Micros(now.0 - LOSING_MICROS)))
        .map_err(read_failure)?;
    let (recent_records, recent_unparsed) = recent(journal, totals)?;
    let queue = Queue::of(totals);
    let last = totals.acks.iter().min_by_key(|ack| ack.through);
    let is_archiver = last.is_none_or(|ack| ack.consumer == Consumer::Archiver.word());
    let before = Micros(now.0 - BEHIND_MICROS).utc_day();
    let is_past = queue.oldest.is_some_and(|oldest| oldest.utc_day() < before);
    Ok(Facts {
        fresh_losses: fresh,
        waiting_micros: queue.waiting_micros(now),
        is_past_its_day: is_past || !is_archiver,
        queue,
        recent_records,
        recent_unparsed,
        balanced: totals.books.balance(),
        unheld: 0,
        forwarder: following.running().cloned(),
        is_followed: following.is_somebody(),
        trouble_micros: trouble_micros(following, now),
    })
}

fn trouble_micros(following: &Found, now: Micros) -> i64 {
    let trouble = following
        .running()
        .and_then(|forwarder| forwarder.gateway.trouble.as_ref());
    trouble.map_or(0, |trouble| now.0.saturating_sub(trouble.since).max(0))
}

/// Counts the last entries by their blocks' headers alone.
fn recent(journal: &Reader, totals: &Totals) -> Outcome<(u64, u64)> {
    let counts = Cell::new((0, 0));
    let after = Seq(totals.size.0.saturating_sub(LOOKED_AT_ENTRIES));
    let select = Select::all().after(after).only(|header| {
        let (records, unparsed) = counts.get();
        let more = header.tally.of_kind(Kind::Unparsed);
        counts.set((records + header.tally.records(), unparsed + more));
        false
    });
    for piece in journal.blocks(select).map_err(read_failure)? {
        piece.map_err(read_failure)?;
    }
    Ok(counts.get())
}
