//! Where each family's numbers come from.

use boundlane_record::{DropCause, ExtentKind, GapCause, Kind, Micros, Outcome as Counted};
use boundlane_store::{Consumer, LossTotal, Tally, Totals};

use super::families as f;
use super::page::{Number, Page};
use crate::commands::health::queue::Queue;
use crate::commands::health::{Examined, Opened, Word};
use crate::commands::recorded::read_failure;
use crate::commands::status::archive::Disk;
use crate::exit::{Failure, Outcome};
use crate::forwarder::Forwarder;

/// A cause that this program has no word for: a newer one's, and every rejection's.
const OTHER: &str = "other";
/// An entry without an outcome.
const NO_OUTCOME: &str = "none";

/// A number of a total.
type Of = fn(&LossTotal) -> u64;

/// All families, in the order of the documentation.
///
/// # Errors
/// When the journal cannot be read, or there is none.
pub(super) fn page(examined: &Examined, disk: &Disk, now: Micros) -> Outcome<String> {
    let journal = examined
        .journal
        .as_ref()
        .ok_or_else(|| Failure::failed("there is no journal"))?;
    let mut page = Page::default();
    page.many(&f::BUILD_INFO, [([env!("CARGO_PKG_VERSION")], 1.into())]);
    let is = |word: Word| ([word.word()], (word == examined.health.word).into());
    page.many(&f::HEALTH, Word::ALL.map(is));
    books(&mut page, &journal.totals, examined);
    let losses = journal.reader.losses(None).map_err(read_failure)?;
    of_losses(&mut page, &losses);
    queue(&mut page, &examined.facts.queue, now);
    sizes(&mut page, &journal.totals, disk);
    consumers(&mut page, journal, examined);
    if let Some(forwarder) = examined.following.running() {
        following(&mut page, forwarder);
    }
    Ok(page.into_text())
}

fn books(page: &mut Page, totals: &Totals, examined: &Examined) {
    let books = totals.books;
    page.one(&f::LINES_READ, books.lines_read);
    let became = [
        ("records", books.records),
        ("ignored", books.ignored),
        ("repeats", books.repeats),
        ("refused", books.refused),
    ];
    page.many(
        &f::LINES,
        became.map(|(word, lines)| ([word], lines.into())),
    );
    page.one(&f::BOOKS_BALANCED, books.balance());
    page.many(&f::ENTRIES, entries(&totals.tally));
    page.one(&f::RECENT_LINES, examined.facts.recent_records);
    page.one(&f::RECENT_UNPARSED, examined.facts.recent_unparsed);
}

/// Decisions by outcome and the rest without one are always there, from 0 on; others once there are any.
fn entries(tally: &Tally) -> Vec<([&'static str; 2], Number)> {
    let mut samples = Vec::new();
    for kind in Kind::ALL {
        let outcomes = Counted::ALL.iter().map(|outcome| Some(*outcome));
        for outcome in outcomes.chain([None]) {
            let entries = tally.of(*kind, outcome);
            if entries > 0 || (*kind == Kind::Decision) == outcome.is_some() {
                let word = outcome.map_or(NO_OUTCOME, Counted::word);
                samples.push(([kind.word(), word], entries.into()));
            }
        }
    }
    samples
}

fn of_losses(page: &mut Page, losses: &[LossTotal]) {
    let gaps = || GapCause::ALL.iter().map(|cause| cause.word());
    let drops = || DropCause::ALL.iter().map(|cause| cause.word());
    let causes = |kind: Kind| -> Vec<&'static str> {
        match kind {
            Kind::Gap => gaps().chain([OTHER]).collect(),
            Kind::Drops => drops().chain([OTHER]).collect(),
            _ => vec![OTHER],
        }
    };
    let sum = |kind: Kind, cause: &str, number: Of| -> Number {
        let is_known = |stated: &str| causes(kind).contains(&stated);
        let of_kind = losses.iter().filter(|total| total.kind == kind.word());
        let of_cause = of_kind.filter(|total| match cause == OTHER {
            true => !is_known(&total.cause),
            false => total.cause == cause,
        });
        of_cause.map(number).sum::<u64>().into()
    };
    let by_cause = |number: Of| {
        let kinds = [Kind::Gap, Kind::Drops, Kind::Rejected];
        let each = kinds.map(|kind| causes(kind).into_iter().map(move |cause| (kind, cause)));
        let samples = each.into_iter().flatten();
        let sample = |(kind, cause): (Kind, _)| ([kind.word(), cause], sum(kind, cause, number));
        samples.map(sample).collect::<Vec<_>>()
    };
    page.many(&f::LOSSES, by_cause(|total| total.losses));
    page.many(&f::LOSSES_OPEN, by_cause(|total| total.open));
    let extents: [(ExtentKind, Of); 3] = [
        (ExtentKind::Exact, |total| total.exact),
        (ExtentKind::AtLeast, |total| total.at_least),
        (ExtentKind::AtMost, |total| total.at_most),
    ];
    let of_gaps = causes(Kind::Gap);
    let lines = of_gaps.iter().flat_map(|cause| {
        let of = |(extent, number): (ExtentKind, _)| {
            ([*cause, extent.word()], sum(Kind::Gap, cause, number))
        };
        extents.map(of)
    });
    page.many(&f::GAP_LINES, lines);
    let each = |kind: Kind, number: Of| {
        let causes = causes(kind).into_iter();
        let samples = causes.map(|cause| ([cause], sum(kind, cause, number)));
        samples.collect::<Vec<_>>()
    };
    page.many(&f::GAPS_UNKNOWN, each(Kind::Gap, |total| total.unknown));
    page.many(&f::DROPPED, each(Kind::Drops, |total| total.exact));
    page.many(&f::DROPPED_DENIED, each(Kind::Drops, |total| total.denied));
}

fn queue(page: &mut Page, queue: &Queue, now: Micros) {
    page.one(&f::QUEUE, queue.entries);
    page.one(&f::QUEUE_MAX, queue.entries_max);
    page.one(&f::QUEUE_BYTES, queue.stored_bytes);
    page.one(&f::QUEUE_BYTES_MAX, queue.stored_bytes_max);
    let used = Number::Millionths(queue.used_millionths());
    page.one(&f::QUEUE_USED, used);
    page.one(&f::QUEUE_OLDEST, seconds(queue.waiting_micros(now)));
}

fn sizes(page: &mut Page, totals: &Totals, disk: &Disk) {
    page.one(&f::JOURNAL_ENTRIES, totals.size.0);
    page.one(&f::JOURNAL_PRUNED, totals.pruned);
    page.one(&f::JOURNAL_ACKNOWLEDGED, totals.acknowledged);
    page.one(&f::JOURNAL_STORED, totals.stored_bytes);
    page.one(&f::JOURNAL_FILE, disk.journal);
    page.one(&f::JOURNAL_WAL, disk.wal);
    page.many(&f::DISK_FREE, disk.free.map(|free| ([], free.into())));
}

fn consumers(page: &mut Page, journal: &Opened, examined: &Examined) {
    let acks = || {
        [Consumer::Archiver, Consumer::Uploader]
            .into_iter()
            .filter_map(|consumer| {
                let mut acks = journal.totals.acks.iter();
                let ack = acks.find(|ack| ack.consumer == consumer.word())?;
                Some((consumer.word(), ack))
            })
    };
    let size = journal.totals.size.0;
    let through = acks().map(|(word, ack)| ([word], ack.through.0.into()));
    page.many(&f::CONSUMER, through);
    let behind = acks().map(|(word, ack)| ([word], size.saturating_sub(ack.through.0).into()));
    page.many(&f::CONSUMER_BEHIND, behind);
    let moved = acks().map(|(word, ack)| ([word], seconds(ack.at.0)));
    page.many(&f::CONSUMER_MOVED, moved);
    let archive = &examined.archive;
    page.one(&f::ARCHIVE_FILES, archive.files);
    page.one(&f::ARCHIVE_BYTES, archive.bytes);
    page.one(&f::ARCHIVE_WRITTEN, moment(archive.newest.map(|at| at.0)));
    page.one(&f::ARCHIVE_UNHELD, examined.facts.unheld);
}

fn following(page: &mut Page, forwarder: &Forwarder) {
    let gateway = &forwarder.gateway;
    page.one(&f::ARCHIVING_FAILED, forwarder.archiving_failed);
    page.one(&f::STARTED, seconds(forwarder.since().0));
    page.one(&f::GATEWAY_UP, forwarder.is_gateway_up());
    let refuses = gateway.trouble.as_ref().is_some_and(|it| it.is_refusal);
    page.one(&f::GATEWAY_REFUSES, refuses);
    page.one(&f::GATEWAY_ANSWERED, moment(gateway.answered));
    let listed = forwarder.sandboxes.unwrap_or_default();
    page.one(&f::SANDBOXES, listed.all);
    page.one(&f::SELECTED, listed.selected);
    page.one(&f::ATTACHED, forwarder.attached);
    page.one(&f::REFUSED, forwarder.refused);
}

fn moment(micros: Option<i64>) -> Number {
    seconds(micros.unwrap_or(0))
}

/// Seconds, from microseconds; a moment before 1970 is 0.
fn seconds(micros: i64) -> Number {
    Number::Millionths(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of a newer program are counted, and do not become label values.
    #[test]
    fn a_cause_from_outside_becomes_a_label() {
        let loss = |kind: &str, cause: &str| LossTotal {
            kind: kind.into(),
            cause: cause.into(),
            losses: 2,
            exact: 5,
            ..LossTotal::default()
        };
        let mut page = Page::default();
        let losses = [
            loss("gap", "lagged"),
            loss("gap", "moon\"} 1\n"),
            loss("drops", "queue_full"),
            loss("rejected", "too_old"),
        ];
        of_losses(&mut page, &losses);
        let text = page.into_text();
        for line in [
            "boundlane_losses_total{kind=\"gap\",cause=\"lagged\"} 2",
            "boundlane_losses_total{kind=\"gap\",cause=\"other\"} 2",
            "boundlane_losses_total{kind=\"gap\",cause=\"evicted\"} 0",
            "boundlane_losses_total{kind=\"drops\",cause=\"queue_full\"} 2",
            "boundlane_losses_total{kind=\"rejected\",cause=\"other\"} 2",
            "boundlane_gap_lines{cause=\"lagged\",extent=\"exact\"} 5",
            "boundlane_dropped_lines_total{cause=\"queue_full\"} 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("moon") && !text.contains("too_old"));
    }

    #[test]
    fn an_outcome_appears_only_once_it_is_counted() {
        let none = entries(&Tally::default());
        assert_eq!(none.len(), Counted::ALL.len() + Kind::ALL.len() - 1);
        let mut tally = Tally::default();
        tally.add(Kind::Dispatch, Some(Counted::Denied), 1);
        assert_eq!(entries(&tally).len(), none.len() + 1);
    }
}
