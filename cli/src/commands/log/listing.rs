//! The forms in which `log` prints entries.

use boundlane_record::Kind;

use super::fold::{Fold, Folded};
use super::words;
use crate::args::{Format, LogArgs};
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::output::cell::{EntryColumn, Placed};
use crate::output::out::Out;
use crate::output::rows::{Absent, Rows};
use crate::text::clock::Clock;
use crate::text::colour::Tone;
use crate::text::escape::visible;
use crate::text::table::{Cell, Layout, Table};
use crate::time::Zone;

/// Prints entries in one form.
pub(crate) struct Listing<'z> {
    form: Form<'z>,
    printed: u64,
}

enum Form<'z> {
    /// The columns that people look for.
    Table {
        table: Box<Table<'z>>,
        view: View,
        fold: Option<Fold>,
    },
    /// The columns of the record.
    Columns {
        columns: Vec<EntryColumn>,
        rows: Box<Rows<'z>>,
    },
    /// The lines as they were received.
    Raw,
}

/// Which columns the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    /// Everything: what was decided about it.
    All,
    /// Denials: why.
    Denials,
}

impl<'z> Listing<'z> {
    /// The form that `args` ask for.
    ///
    /// # Errors
    /// 2 for a column that is not one.
    pub(crate) fn new(
        args: &LogArgs,
        ctx: &Context,
        zone: &'z dyn Zone,
        out: &mut Out,
    ) -> Outcome<Listing<'z>> {
        let palette = ctx.stdout_palette;
        let clock = Clock::new(zone, ctx.now);
        let form = if args.raw {
            Form::Raw
        } else if args.output.format == Format::Table && args.output.columns.is_empty() {
            let view = if args.filters.deny {
                View::Denials
            } else {
                View::All
            };
            let layout = match view {
                View::All => Layout::new(&["time", "action", "process", "destination", "rule"]),
                View::Denials => Layout::new(&["time", "process", "destination", "reason"]),
            };
            let table = Table::new(layout, palette, !args.output.no_header).with_clock(clock);
            let folds = view == View::Denials && out.is_terminal() && !args.no_fold;
            Form::Table {
                table: Box::new(table),
                view,
                fold: folds.then(Fold::default),
            }
        } else {
            let columns = columns(&args.output.columns)?;
            let names = columns
                .iter()
                .map(|column| column.name().to_owned())
                .collect();
            // Who names columns gets all of them in every row.
            let absent = match args.output.columns.is_empty() {
                true => Absent::LeftOut,
                false => Absent::Null,
            };
            let rows = Rows::new(names, absent, &args.output, palette, clock, out)?;
            Form::Columns {
                columns,
                rows: Box::new(rows),
            }
        };
        Ok(Listing { form, printed: 0 })
    }

    /// Prints an entry. It may be held back until more are there.
    pub(crate) fn entry(&mut self, placed: Placed<'_>, out: &mut Out) -> Outcome<()> {
        self.printed += 1;
        match &mut self.form {
            Form::Raw => out.line(&raw(&placed, out.is_terminal())),
            Form::Columns { columns, rows } => {
                rows.row(columns.iter().map(|column| column.value(&placed)), out)
            }
            Form::Table {
                table,
                view,
                fold: None,
            } => table.row(cells(*view, &placed, 1), out),
            Form::Table {
                table,
                view,
                fold: Some(fold),
            } => {
                let ready = fold.push(placed.into_owned());
                print_folded(table, *view, ready, out)
            }
        }
    }

    /// Prints what is held back: nothing more may come for a while.
    pub(crate) fn settle(&mut self, out: &mut Out) -> Outcome<()> {
        match &mut self.form {
            Form::Raw => Ok(()),
            Form::Columns { rows, .. } => rows.settle(out),
            Form::Table { table, view, fold } => {
                let ready = fold.as_mut().map(Fold::finish).unwrap_or_default();
                print_folded(table, *view, ready, out)?;
                if self.printed > 0 {
                    table.settle(out)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Ends the listing; `coverage` is a JSON object.
    pub(crate) fn finish(&mut self, coverage: &str, out: &mut Out) -> Outcome<()> {
        self.settle(out)?;
        match &mut self.form {
            Form::Columns { rows, .. } => rows.finish(coverage, out),
            Form::Raw | Form::Table { .. } => Ok(()),
        }
    }
}

fn columns(names: &[String]) -> Outcome<Vec<EntryColumn>> {
    if names.is_empty() {
        return Ok(EntryColumn::all());
    }
    let column = |name: &String| {
        EntryColumn::from_name(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = EntryColumn::all()
                .into_iter()
                .map(EntryColumn::name)
                .collect();
            Failure::usage(format_args!("`{}` is not a column", visible(name)))
                .advise(format_args!("columns are {}", known.join(", ")))
        })
    };
    names.iter().map(column).collect()
}

fn print_folded(
    table: &mut Table<'_>,
    view: View,
    ready: Vec<Folded>,
    out: &mut Out,
) -> Outcome<()> {
    ready
        .into_iter()
        .try_for_each(|row| table.row(cells(view, &row.first, row.count), out))
}

fn cells(view: View, placed: &Placed<'_>, count: u64) -> Vec<Cell> {
    let row = &placed.row;
    match row.kind.as_deref().and_then(Kind::from_word) {
        Some(kind) if kind.is_loss() => {
            let at = Cell::time(row.observed.or(row.to));
            let words = format!("{kind}: {}", words::loss(row));
            vec![at, Cell::new(Tone::Warning, words)]
        }
        Some(Kind::Session) => {
            vec![
                Cell::time(row.observed),
                Cell::new(Tone::Dim, words::session(row)),
            ]
        }
        _ => record_cells(view, placed, count),
    }
}

fn record_cells(view: View, placed: &Placed<'_>, count: u64) -> Vec<Cell> {
    let row = &placed.row;
    let process = Cell::plain(words::process(row));
    let destination = Cell::plain(words::destination(row));
    let reason = row.reason.as_deref().unwrap_or_default();
    match view {
        View::All => {
            let (tone, action) = words::action(row);
            let rule = Cell::plain(row.rule.as_deref().unwrap_or_default());
            vec![
                Cell::time(row.time),
                Cell::new(tone, action),
                process,
                destination,
                rule,
            ]
        }
        View::Denials if count > 1 => {
            let reason = if reason.is_empty() { "-" } else { reason };
            let reason = Cell::plain(format!("{reason} ({count} times in a minute)"));
            vec![Cell::time(row.time), process, destination, reason]
        }
        View::Denials => vec![
            Cell::time(row.time),
            process,
            destination,
            Cell::plain(reason),
        ],
    }
}

/// The line as it was received; what is not a line is told on one that cannot be taken for one.
fn raw(placed: &Placed<'_>, to_terminal: bool) -> String {
    let row = &placed.row;
    let told = match row.kind.as_deref().and_then(Kind::from_word) {
        Some(kind) if kind.is_loss() => format!("{MARKER}{kind}: {}", words::loss(row)),
        Some(Kind::Session) => format!("{MARKER}session: {}", words::session(row)),
        _ => received(row.raw.as_deref().unwrap_or_default()),
    };
    if to_terminal {
        visible(&told).into_owned()
    } else {
        one_line(told)
    }
}

/// How what is not a line begins.
const MARKER: &str = "# boundlane ";

/// A received line that looks like one of ours gets a `\` in front, and so does one that has that already:
/// what begins with `# boundlane` is ours alone.
fn received(line: &str) -> String {
    let bare = line.trim_start_matches('\\');
    match unseen(bare).starts_with(MARKER.trim_end()) {
        true => format!("\\{line}"),
        false => line.to_owned(),
    }
}

/// The text behind characters and colours at its start that nobody sees.
fn unseen(text: &str) -> &str {
    let mut left = text;
    loop {
        let colour = left.strip_prefix("\u{1b}[").and_then(|rest| {
            let end = rest.find(|c: char| ('@'..='~').contains(&c))?;
            rest.get(end + 1..)
        });
        let control = |c: char| {
            c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
        };
        match colour.or_else(|| left.strip_prefix(control)) {
            Some(rest) => left = rest,
            None => return left,
        }
    }
}

/// A received line is one line; a text that holds a newline all the same stays one row.
fn one_line(text: String) -> String {
    if text.contains(['\n', '\r']) {
        return text.replace('\n', "\\n").replace('\r', "\\r");
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use boundlane_record::{Micros, Row};

    use super::*;
    use crate::commands::entries::fake::placed;
    use crate::output::out::captured::Captured;
    use crate::text::colour::Palette;
    use crate::time::Utc;

    fn printed(form: Form<'_>, rows: Vec<Row<'static>>) -> String {
        let captured = Captured::default();
        let mut out = captured.out(true);
        let mut listing = Listing { form, printed: 0 };
        for (row, seq) in rows.into_iter().zip(1..) {
            listing.entry(placed(seq, row), &mut out).unwrap();
        }
        listing.finish("{}", &mut out).unwrap();
        out.flush_now().unwrap();
        captured.text()
    }

    fn denied(second: i64, reason: Option<&'static str>) -> Row<'static> {
        Row {
            kind: Some("decision".into()),
            outcome: Some("denied".into()),
            host: Some("h".into()),
            reason: reason.map(Into::into),
            time: Some(Micros(second * 1_000_000)),
            ..Row::default()
        }
    }

    /// On a terminal a denial that repeats is one row that says how often it came.
    #[test]
    fn repeats_fill_the_terminal() {
        let layout = Layout::new(&["time", "process", "destination", "reason"]);
        let clock = Clock::new(&Utc, Micros(0));
        let table = Table::new(layout, Palette { on: false }, true).with_clock(clock);
        let form = Form::Table {
            table: Box::new(table),
            view: View::Denials,
            fold: Some(Fold::default()),
        };
        let rows = vec![denied(0, Some("r")), denied(1, None), denied(2, Some("r"))];
        assert_eq!(
            printed(form, rows),
            "time (UTC)    process  destination  reason\n\
             00:00:00.000  -        h            r (2 times in a minute)\n\
             00:00:01.000  -        h            -\n"
        );
    }

    /// No received line can be taken for one of ours, whatever unseen characters it begins with, and what was
    /// added can be told.
    #[test]
    fn a_received_line_imitates_a_loss() {
        for line in [
            "# boundlane gap: 9 lines never reached us",
            "\u{1b}[31m# boundlane gap: 9",
            "\r\u{200b}# boundlane session: x",
            "\\# boundlane gap",
        ] {
            assert_eq!(received(line), format!("\\{line}"));
        }
        for line in [
            "# bound",
            "a # boundlane gap",
            "\\x",
            "",
            "[1.0] # boundlane",
        ] {
            assert_eq!(received(line), line);
        }
    }

    /// A received line acts on no terminal, and no text of a loss can be taken for one.
    #[test]
    fn a_raw_line_acts_on_the_terminal() {
        let line = Row {
            raw: Some("a\u{1b}[2J\tb".into()),
            ..Row::default()
        };
        let gap = Row {
            kind: Some("gap".into()),
            cause: Some("x\ny".into()),
            ..Row::default()
        };
        assert_eq!(
            printed(Form::Raw, vec![line, gap]),
            "a\\x1b[2J\\tb\n\
             # boundlane gap: an unknown number of lines never reached us (x\\ny)\n"
        );
    }
}
