//! What a run did, for people and as JSON.

use std::collections::HashMap;
use std::fmt::Write as _;

use boundlane_record::{Books, EntryBatch, Kind, Micros, Outcome as Counted, Row, canonical};

use super::doubt::{Broken, MayRepeat};
use crate::archiving::Report;
use crate::context::Context;
use crate::exit::Outcome;
use crate::output::out::Out;
use crate::text::escape;
use crate::text::table::{Cell, Layout, Table};
use crate::text::width::columns;

/// Different denials that are told apart; later ones are counted together.
const DENIALS_MAX: usize = 10_000;
/// Denials that are shown.
const DENIALS_SHOWN_MAX: usize = 10;

/// What was handed over of one input.
#[derive(Default)]
pub(super) struct Tallied {
    pub(super) books: Books,
    pub(super) gaps: u64,
    pub(super) last_time: Option<Micros>,
    /// The lines may be stored already.
    pub(super) may_repeat: Option<MayRepeat>,
    /// The input broke.
    pub(super) broken: Option<Broken>,
    /// NULs in front of lines, passed over.
    pub(super) nul_bytes: u64,
    /// The last line had no newline and was stored.
    pub(super) unterminated: bool,
    pub(super) allowed: u64,
    pub(super) denied: u64,
    pub(super) reset: u64,
    pub(super) other: u64,
    pub(super) unparsed: u64,
    denials: HashMap<Denial, u64>,
    denials_untold: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Denial {
    process: String,
    destination: String,
    reason: String,
}

impl Denial {
    fn of(row: &Row<'_>) -> Denial {
        let process = row.process.as_deref().unwrap_or("-");
        let destination = match (&row.method, &row.destination, &row.host) {
            (Some(method), Some(destination), _) => format!("{method} {destination}"),
            (_, Some(destination), _) => destination.to_string(),
            (_, None, Some(host)) => host.to_string(),
            _ => "-".to_owned(),
        };
        Denial {
            process: process.rsplit('/').next().unwrap_or(process).to_owned(),
            destination,
            reason: row.reason.as_deref().unwrap_or("-").to_owned(),
        }
    }
}

impl Tallied {
    /// Nothing yet, of an input that may repeat stored lines.
    pub(super) fn doubted(may_repeat: Option<MayRepeat>) -> Tallied {
        Tallied {
            may_repeat,
            ..Tallied::default()
        }
    }

    /// What became durable before the writer failed: the books alone.
    pub(super) fn durable(books: Books) -> Tallied {
        Tallied {
            books,
            ..Tallied::default()
        }
    }

    /// What was let in of what was handed over.
    pub(super) fn let_in(self, books: Books) -> Tallied {
        Tallied { books, ..self }
    }

    /// Counts what is about to be handed over.
    pub(super) fn note(&mut self, entries: &EntryBatch, books: Books) {
        self.books += books;
        for (entry, meta) in entries.iter() {
            self.last_time = self.last_time.max(meta.time);
            self.unparsed += u64::from(meta.kind == Kind::Unparsed);
            match meta.outcome {
                Some(Counted::Allowed) => self.allowed += 1,
                Some(Counted::Denied) => self.note_denial(entry),
                Some(Counted::Reset) => self.reset += 1,
                Some(Counted::WouldDeny | Counted::Other) => self.other += 1,
                None => {}
            }
        }
    }

    fn note_denial(&mut self, entry: &[u8]) {
        self.denied += 1;
        let Ok(row) = canonical::decode(entry) else {
            return;
        };
        let denial = Denial::of(&row);
        if self.denials.len() >= DENIALS_MAX && !self.denials.contains_key(&denial) {
            self.denials_untold += 1;
        } else {
            *self.denials.entry(denial).or_default() += 1;
        }
    }

    /// The most frequent first.
    fn ranked(&self) -> Vec<(&Denial, u64)> {
        let mut all: Vec<_> = self
            .denials
            .iter()
            .map(|(denial, count)| (denial, *count))
            .collect();
        all.sort_by(|(a, m), (b, n)| {
            n.cmp(m).then_with(|| {
                (&a.destination, &a.process, &a.reason).cmp(&(
                    &b.destination,
                    &b.process,
                    &b.reason,
                ))
            })
        });
        all
    }
}

/// What became of one input.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) sandbox: String,
    pub(super) stream: Option<String>,
    pub(super) what: What,
}

/// Whether anything was read.
pub(super) enum What {
    Read(Box<Tallied>),
    Known,
    Empty,
}

/// Prints what the run did.
pub(super) fn print(
    inputs: &[Input],
    archive: Option<&Report>,
    as_json: bool,
    ctx: &Context,
    out: &mut Out,
) -> Outcome<()> {
    if as_json {
        return out.line(&json(inputs, archive).to_string());
    }
    for input in inputs {
        out.line(&describe(input))?;
    }
    if let Some(report) = archive.filter(|report| report.entries > 0) {
        out.line(&format!("archived {} entries", report.entries))?;
    }
    for input in inputs {
        if let What::Read(tallied) = &input.what {
            denials(tallied, ctx, out)?;
        }
    }
    next_steps(inputs, out)
}

fn describe(input: &Input) -> String {
    let name = escape::visible(&input.name);
    let sandbox = escape::visible(&input.sandbox);
    match &input.what {
        What::Empty => format!("{name}: empty, nothing to record"),
        What::Known => format!("{name}: everything in it is recorded already (sandbox {sandbox})"),
        What::Read(tallied) => {
            let books = tallied.books;
            let mut text = format!(
                "{name}: {} lines read for sandbox {sandbox}: {} recorded",
                books.lines_read, books.records
            );
            for (count, word) in [
                (books.ignored, "ignored"),
                (books.repeats, "recorded before"),
                (
                    books.refused,
                    "dropped and counted, because there was no room in the queue (`boundlane status`)",
                ),
                (
                    tallied.unparsed,
                    "of them not understood (kept as they came)",
                ),
            ] {
                if count > 0 {
                    let _ = write!(text, ", {count} {word}");
                }
            }
            if tallied.gaps > 0 {
                let _ = write!(
                    text,
                    "; lines may be missing before them: see `boundlane query gaps`"
                );
            }
            if let Some(doubt) = &tallied.may_repeat {
                let _ = write!(
                    text,
                    "; from byte {} on they may repeat lines of `{}`: stored and marked",
                    doubt.from_byte,
                    escape::visible(&doubt.stream)
                );
            }
            if let Some(broken) = &tallied.broken {
                let _ = write!(
                    text,
                    "; no checksum confirms them from byte {} on",
                    broken.confirmed_bytes
                );
            }
            if tallied.nul_bytes > 0 {
                let _ = write!(
                    text,
                    "; {} NUL bytes in front of lines were passed over",
                    tallied.nul_bytes
                );
            }
            if tallied.unterminated {
                text.push_str("; the last line has no newline and may be cut");
            }
            text
        }
    }
}

fn denials(tallied: &Tallied, ctx: &Context, out: &mut Out) -> Outcome<()> {
    let decisions = tallied.allowed + tallied.denied + tallied.reset + tallied.other;
    if decisions == 0 {
        return Ok(());
    }
    out.line("")?;
    out.line(&format!(
        "{decisions} decisions: {} allowed, {} denied, {} reset by a policy change, {} other",
        tallied.allowed, tallied.denied, tallied.reset, tallied.other
    ))?;
    let ranked = tallied.ranked();
    if ranked.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let layout = Layout::new(&["count", "process", "destination", "reason"]).right_aligned(&[0]);
    let mut table = Table::new(layout, ctx.stdout_palette, true);
    for (denial, count) in ranked.iter().take(DENIALS_SHOWN_MAX) {
        let texts = [&denial.process, &denial.destination, &denial.reason];
        let mut cells = vec![Cell::number(count)];
        cells.extend(texts.map(|text| Cell::plain(text.as_str())));
        table.row(cells, out)?;
    }
    table.finish(out)?;
    let more = ranked.len().saturating_sub(DENIALS_SHOWN_MAX);
    if more > 0 || tallied.denials_untold > 0 {
        out.line(&format!("and {more} other denials"))?;
    }
    Ok(())
}

fn next_steps(inputs: &[Input], out: &mut Out) -> Outcome<()> {
    let Some(input) = inputs
        .iter()
        .find(|input| !matches!(input.what, What::Empty))
    else {
        return Ok(());
    };
    let log = format!("boundlane log {} --deny", shell_word(&input.sandbox));
    let steps = [
        (log.as_str(), "what was refused, in order"),
        (
            "boundlane query denied",
            "the same, counted, over all sandboxes",
        ),
        (
            "boundlane status",
            "what is recorded, and whether anything is missing",
        ),
    ];
    out.line("")?;
    out.line("next:")?;
    let widest = steps
        .iter()
        .map(|(command, _)| columns(command))
        .max()
        .unwrap_or(0);
    for (command, about) in steps {
        let padding = " ".repeat(widest - columns(command));
        out.line(&format!("  {command}{padding}  {about}"))?;
    }
    Ok(())
}

/// A name as a shell takes it back.
fn shell_word(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.chars().all(plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    format!("'{}'", escape::visible(name).replace('\'', r"'\''"))
}

fn json(inputs: &[Input], archive: Option<&Report>) -> serde_json::Value {
    serde_json::json!({
        "inputs": inputs.iter().map(input_json).collect::<Vec<_>>(),
        "archived": archive.map(|report| serde_json::json!({
            "entries": report.entries,
            "through": report.through.0,
            "files": report.files.iter().map(|file| file.path.to_string_lossy()).collect::<Vec<_>>(),
        })),
    })
}

fn input_json(input: &Input) -> serde_json::Value {
    let state = match &input.what {
        What::Read(_) => "read",
        What::Known => "known",
        What::Empty => "empty",
    };
    let mut value = serde_json::json!({
        "input": input.name,
        "sandbox": input.sandbox,
        "stream": input.stream,
        "state": state,
    });
    if let (What::Read(tallied), Some(object)) = (&input.what, value.as_object_mut()) {
        let books = tallied.books;
        let denials = tallied.ranked().into_iter().map(|(denial, count)| {
            serde_json::json!({
                "count": count,
                "process": denial.process,
                "destination": denial.destination,
                "reason": denial.reason,
            })
        });
        let read = serde_json::json!({
            "lines_read": books.lines_read,
            "records": books.records,
            "ignored": books.ignored,
            "repeats": books.repeats,
            "refused": books.refused,
            "unparsed": tallied.unparsed,
            "nul_bytes": tallied.nul_bytes,
            "may_repeat": tallied.may_repeat.as_ref().map(MayRepeat::json),
            "broken": tallied.broken.as_ref().map(|broken| serde_json::json!({
                "how": broken.word,
                "confirmed_bytes": broken.confirmed_bytes,
            })),
            "gaps": tallied.gaps,
            "allowed": tallied.allowed,
            "denied": tallied.denied,
            "reset": tallied.reset,
            "other": tallied.other,
            "unterminated": tallied.unterminated,
            "denials": denials.collect::<Vec<_>>(),
        });
        object.extend(read.as_object().cloned().unwrap_or_default());
    }
    value
}
