//! `status` for people.

use std::collections::BTreeSet;

use boundlane_record::{Extent, TreeSize};
use boundlane_store::LossTotal;

use super::archive::in_words;
use super::{JournalStatus, Status, following, unlucky};
use crate::commands::health::{Word, plural};
use crate::context::Context;
use crate::exit::Outcome;
use crate::output::out::Out;
use crate::text::clock::Clock;
use crate::text::colour::Tone;
use crate::text::table::{Cell, Layout, Table};

/// Columns of the names at the left.
const NAMES: usize = 10;

/// Prints one screen, then the streams.
pub(super) fn print(status: &Status, ctx: &Context, out: &mut Out) -> Outcome<()> {
    let tone = match status.health.word {
        Word::Healthy => Tone::Good,
        Word::Degraded => Tone::Warning,
        Word::Losing => Tone::Bad,
    };
    let word = ctx.stdout_palette.painted(tone, status.health.word.word());
    out.line(&format!("{word}: {}", status.health.reasons.join("; ")))?;
    following::print(status, ctx, out)?;
    named("directory", &status.directory, out)?;
    if let Some(journal) = &status.journal {
        print_journal(journal, status, out)?;
    }
    for aside in &status.set_aside {
        let text = format!(
            "{}, {} entries, {} of them in no archive file; `log` and `query` read them",
            aside.journal, aside.entries, aside.only_here
        );
        named("set aside", &text, out)?;
    }
    for unreadable in &status.unreadable {
        named(
            "set aside",
            &format!("{unreadable} (it cannot be read)"),
            out,
        )?;
    }
    print_archive(status, ctx, out)?;
    print_disk(status, out)?;
    let program = format!("boundlane {}", env!("CARGO_PKG_VERSION"));
    let entries = boundlane_record::SCHEMA_VERSION;
    let journal = boundlane_store::JOURNAL_SCHEMA;
    named(
        "versions",
        &format!("{program}, entries {entries}, journal {journal}"),
        out,
    )?;
    match &status.journal {
        Some(journal) if !journal.streams.is_empty() => print_streams(journal, status, ctx, out),
        _ => Ok(()),
    }
}

pub(super) fn named(name: &str, text: &str, out: &mut Out) -> Outcome<()> {
    out.line(&format!("{name:<NAMES$} {text}"))
}

fn print_journal(journal: &JournalStatus, status: &Status, out: &mut Out) -> Outcome<()> {
    let totals = &journal.totals;
    let TreeSize(size) = totals.size;
    named(
        "journal",
        &format!("{}, {size} entries", journal.head.journal),
        out,
    )?;
    named("streams", &streams(journal), out)?;
    let b = totals.books;
    let verdict = if b.balance() {
        ""
    } else {
        " (they do not balance)"
    };
    let books = format!(
        "{} lines read = {} records + {} ignored + {} repeats + {} refused{verdict}",
        b.lines_read, b.records, b.ignored, b.repeats, b.refused
    );
    named("books", &books, out)?;
    let numbers = format!(
        "{size} given = {} pruned + {} acknowledged + {} queued",
        totals.pruned, totals.acknowledged, totals.queued
    );
    named("numbers", &numbers, out)?;
    named("queue", &queue(journal, status), out)?;
    named("losses", &format!("ever: {}", losses(&journal.losses)), out)?;
    named(
        "",
        &format!("in 24 hours: {}", losses(&journal.losses_of_a_day)),
        out,
    )?;
    match unlucky::words(&journal.unlucky) {
        Some(most) => named("", &format!("most: {most}"), out),
        None => Ok(()),
    }
}

/// How many there are, and of how many sandboxes.
fn streams(journal: &JournalStatus) -> String {
    let names = journal.streams.iter();
    let sandboxes: BTreeSet<&str> = names
        .filter_map(|stream| stream.sandbox.as_deref())
        .collect();
    let streams = journal.streams.len();
    format!("{streams} (sandboxes: {})", sandboxes.len())
}

fn queue(journal: &JournalStatus, status: &Status) -> String {
    let queue = &journal.queue;
    if queue.entries == 0 {
        return "empty".to_owned();
    }
    let used = match queue.used_millionths() / 1000 {
        0 => "less than 0.1 %".to_owned(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
    };
    format!(
        "{} entries wait for the archive, {used} of what may; the oldest for {} s",
        queue.entries,
        queue.waiting_micros(status.now) / 1_000_000
    )
}

/// `2 gaps (lagged; 12 lines, at most 40 lines), 1 drop (disk_full; 3 lines)`.
fn losses(totals: &[LossTotal]) -> String {
    if totals.is_empty() {
        return "none".to_owned();
    }
    let one = |total: &LossTotal| {
        let mut parts = Vec::new();
        for (lines, extent) in [
            (total.exact, Extent::Exact(total.exact)),
            (total.at_least, Extent::AtLeast(total.at_least)),
            (total.at_most, Extent::AtMost(total.at_most)),
        ] {
            if lines > 0 {
                parts.push(format!("{extent} lines"));
            }
        }
        if total.unknown > 0 {
            parts.push(format!("{} of unknown extent", total.unknown));
        }
        let open = if total.open > 0 {
            ", still growing"
        } else {
            ""
        };
        format!(
            "{} {} ({}; {}{open})",
            total.losses,
            plural(&total.kind, total.losses),
            total.cause,
            parts.join(", ")
        )
    };
    totals.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn print_archive(status: &Status, ctx: &Context, out: &mut Out) -> Outcome<()> {
    let stored = &status.archive;
    let text = match stored.newest {
        None => "empty".to_owned(),
        Some(newest) => {
            let clock = Clock::new(ctx.zone.as_ref(), ctx.now);
            let size = in_words(stored.bytes);
            let newest = clock.shown(newest);
            format!(
                "{} files, {size}, the last on {newest}{}",
                stored.files,
                clock.header()
            )
        }
    };
    named("archive", &text, out)
}

fn print_disk(status: &Status, out: &mut Out) -> Outcome<()> {
    let journal = in_words(status.disk.journal);
    let wal = in_words(status.disk.wal);
    let free = match status.disk.free {
        Some(free) => format!("; {} free", in_words(free)),
        None => String::new(),
    };
    let text = format!("the journal takes {journal}, {wal} of it WAL{free}");
    named("disk", &text, out)
}

fn print_streams(
    journal: &JournalStatus,
    status: &Status,
    ctx: &Context,
    out: &mut Out,
) -> Outcome<()> {
    out.text("\n")?;
    let layout = Layout::new(&[
        "sandbox",
        "source",
        "records",
        "denied",
        "last read",
        "stream",
    ])
    .right_aligned(&[2, 3]);
    let clock = Clock::new(ctx.zone.as_ref(), status.now);
    let mut table = Table::new(layout, ctx.stdout_palette, true).with_clock(clock);
    for stream in &journal.streams {
        let name = match stream.balanced {
            true => Cell::plain(stream.stream.as_str()),
            false => Cell::new(Tone::Bad, format!("{} (does not balance)", stream.stream)),
        };
        let cells = vec![
            Cell::plain(stream.sandbox.as_deref().unwrap_or_default()),
            Cell::plain(stream.source.as_str()),
            Cell::number(stream.records),
            Cell::number(stream.denied),
            Cell::time(stream.last),
            name,
        ];
        table.row(cells, out)?;
    }
    table.finish(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_different_certainty_are_added_up() {
        let lagged = LossTotal {
            kind: "gap".into(),
            cause: "lagged".into(),
            losses: 3,
            exact: 12,
            at_most: 40,
            unknown: 1,
            open: 1,
            ..LossTotal::default()
        };
        assert_eq!(
            losses(&[lagged]),
            "3 gaps (lagged; 12 lines, at most 40 lines, 1 of unknown extent, still growing)"
        );
        assert_eq!(losses(&[]), "none");
    }
}
