//! Rows with named columns in the form that was asked for: entries, and answers of a query.

use super::cell::Datum;
use super::csv::{Csv, Formulas};
use super::json::{Document, push_object};
use super::out::Out;
use crate::args::{Format, OutputArgs};
use crate::exit::Outcome;
use crate::text::clock::Clock;
use crate::text::colour::{Palette, Tone};
use crate::text::table::{Cell, Layout, Table};

/// Whether JSON objects name what is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Entries have some sixty columns, most of them absent: they are left out.
    LeftOut,
    /// Answers of a query have the columns that were asked for: each object has all of them.
    #[cfg_attr(
        not(feature = "query"),
        allow(dead_code, reason = "only answers of a query")
    )]
    Null,
}

/// Writes rows in one form.
pub(crate) struct Rows<'z> {
    names: Vec<String>,
    absent: Absent,
    form: Form<'z>,
    line: String,
    rows: u64,
}

enum Form<'z> {
    Table(Box<Table<'z>>),
    Json(Document),
    Jsonl,
    Csv(Csv),
}

impl<'z> Rows<'z> {
    /// Rows with these columns, in the form of `args`.
    pub(crate) fn new(
        names: Vec<String>,
        absent: Absent,
        args: &OutputArgs,
        palette: Palette,
        clock: Clock<'z>,
        out: &mut Out,
    ) -> Outcome<Rows<'z>> {
        let form = match args.format {
            Format::Table => {
                let table = Table::new(Layout::new(&names), palette, !args.no_header);
                Form::Table(Box::new(table.with_clock(clock)))
            }
            Format::Json => Form::Json(Document::default()),
            Format::Jsonl => Form::Jsonl,
            Format::Csv => {
                let formulas = if args.csv_raw {
                    Formulas::Kept
                } else {
                    Formulas::Neutralised
                };
                let mut csv = Csv::new(formulas);
                if !args.no_header {
                    csv.header(names.iter().map(String::as_str), out)?;
                }
                Form::Csv(csv)
            }
        };
        Ok(Rows {
            names,
            absent,
            form,
            line: String::new(),
            rows: 0,
        })
    }

    /// Writes one row, a value for each column.
    pub(crate) fn row<'d>(
        &mut self,
        values: impl IntoIterator<Item = Datum<'d>>,
        out: &mut Out,
    ) -> Outcome<()> {
        self.rows += 1;
        match &mut self.form {
            Form::Table(table) => {
                let cells = values.into_iter().map(|value| cell(&value)).collect();
                return table.row(cells, out);
            }
            Form::Csv(csv) => return csv.row(values, out),
            Form::Json(_) | Form::Jsonl => {}
        }
        self.line.clear();
        let named = self.names.iter().map(String::as_str).zip(values);
        let keep_null = self.absent == Absent::Null;
        push_object(&mut self.line, named, keep_null);
        match &mut self.form {
            Form::Json(document) => document.row(&self.line, out),
            _ => out.line(&self.line),
        }
    }

    /// Prints what is held back to find widths: nothing more may come for a while.
    pub(crate) fn settle(&mut self, out: &mut Out) -> Outcome<()> {
        match &mut self.form {
            Form::Table(table) if self.rows > 0 => table.settle(out),
            _ => Ok(()),
        }
    }

    /// Ends the rows; `coverage` is a JSON object, which a JSON document carries.
    pub(crate) fn finish(&mut self, coverage: &str, out: &mut Out) -> Outcome<()> {
        match &mut self.form {
            Form::Table(table) => table.finish(out),
            Form::Json(document) => document.finish(coverage, out),
            Form::Jsonl | Form::Csv(_) => Ok(()),
        }
    }

    /// How many rows were written.
    #[cfg_attr(
        not(feature = "query"),
        allow(dead_code, reason = "only answers of a query")
    )]
    pub(crate) fn written(&self) -> u64 {
        self.rows
    }
}

fn cell(value: &Datum<'_>) -> Cell {
    match value {
        Datum::Null => Cell::plain(""),
        Datum::Text(text) => Cell::plain(text.as_ref()),
        Datum::Integer(n) => Cell::number(n),
        Datum::Float(n) => Cell::number(n),
        Datum::Bool(b) => Cell::new(Tone::Plain, if *b { "true" } else { "false" }),
        Datum::Time(at) => Cell::time(Some(*at)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use boundlane_record::Micros;

    use super::*;
    use crate::output::out::captured::Captured;
    use crate::time::Utc;

    fn printed(format: Format, absent: Absent) -> String {
        let captured = Captured::default();
        let mut out = captured.out(false);
        let args = OutputArgs {
            format,
            ..OutputArgs::default()
        };
        let names = ["time", "host", "count"].map(str::to_owned).to_vec();
        let clock = Clock::new(&Utc, Micros(86_400_000_000));
        let palette = Palette { on: false };
        let mut rows = Rows::new(names, absent, &args, palette, clock, &mut out).unwrap();
        let time = Datum::Time(Micros(1_500_000));
        rows.row(
            [time, Datum::Text("=a,b".into()), Datum::Integer(3)],
            &mut out,
        )
        .unwrap();
        rows.row([Datum::Null, Datum::Null, Datum::Integer(4)], &mut out)
            .unwrap();
        rows.finish("{}", &mut out).unwrap();
        out.flush_now().unwrap();
        captured.text()
    }

    /// The same rows in each form, whole.
    #[test]
    fn a_form_prints_something_else() {
        assert_eq!(
            printed(Format::Table, Absent::LeftOut),
            "time (UTC)               host  count\n\
             1970-01-01 00:00:01.500  =a,b  3\n\
             -                        -     4\n"
        );
        assert_eq!(
            printed(Format::Jsonl, Absent::LeftOut),
            "{\"time\":\"1970-01-01T00:00:01.500000Z\",\"host\":\"=a,b\",\"count\":3}\n{\"count\":4}\n"
        );
        assert_eq!(
            printed(Format::Json, Absent::Null),
            "{\"rows\":[\n\
             {\"time\":\"1970-01-01T00:00:01.500000Z\",\"host\":\"=a,b\",\"count\":3},\n\
             {\"time\":null,\"host\":null,\"count\":4}\n\
             ],\"coverage\":{}}\n"
        );
        assert_eq!(
            printed(Format::Csv, Absent::LeftOut),
            "time,host,count\r\n1970-01-01T00:00:01.500000Z,\"'=a,b\",3\r\n,,4\r\n"
        );
    }
}
