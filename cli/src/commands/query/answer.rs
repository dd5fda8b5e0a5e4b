//! An answer on its way to standard output, in the form that was asked for.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;

use boundlane_query::{Cell, OutputColumn, Rows as Batch, Sink};

use super::Keep;
use crate::args::{OutputArgs, QueryArgs};
use crate::exit::{Failure, Outcome};
use crate::output::cell::Datum;
use crate::output::out::Out;
use crate::output::rows::{Absent, Rows};
use crate::text::clock::Clock;
use crate::text::colour::Palette;

/// Prints rows as they come, or the last ones at the end.
pub(super) struct Answer<'a, 'z> {
    args: &'a OutputArgs,
    palette: Palette,
    clock: Option<Clock<'z>>,
    out: &'a mut Out,
    keep: Keep,
    width: usize,
    rows: Option<Rows<'z>>,
    last: VecDeque<Vec<Datum<'static>>>,
    /// What ended it, if something did: the engine only sees an I/O error.
    failed: Option<Failure>,
}

impl<'a, 'z> Answer<'a, 'z> {
    pub(super) fn new(
        args: &'a QueryArgs,
        palette: Palette,
        clock: Clock<'z>,
        is_listing: bool,
        out: &'a mut Out,
    ) -> Answer<'a, 'z> {
        Answer {
            args: &args.output,
            palette,
            clock: Some(clock),
            out,
            keep: Keep::of(args.filters.last, is_listing),
            width: 0,
            rows: None,
            last: VecDeque::new(),
            failed: None,
        }
    }

    /// The failure that ended it.
    pub(super) fn take_failure(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Ends the answer; `coverage` is a JSON value.
    pub(super) fn finish(&mut self, coverage: &str) -> Outcome<()> {
        let Some(rows) = &mut self.rows else {
            return Ok(());
        };
        for row in self.last.drain(..) {
            rows.row(row, self.out)?;
        }
        rows.finish(coverage, self.out)
    }

    fn begin(&mut self, columns: &[OutputColumn]) -> Outcome<()> {
        let Some(clock) = self.clock.take() else {
            return Ok(());
        };
        let names = columns.iter().map(|column| column.name.clone()).collect();
        self.width = columns.len();
        self.rows = Some(Rows::new(
            names,
            Absent::Null,
            self.args,
            self.palette,
            clock,
            self.out,
        )?);
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> Outcome<()> {
        let Some(rows) = &mut self.rows else {
            return Ok(());
        };
        for row in 0..batch.len() {
            let data = (0..self.width).map(|column| datum(batch.cell(row, column)));
            match self.keep {
                Keep::All => rows.row(data, self.out)?,
                Keep::First(most) if rows.written() < most => rows.row(data, self.out)?,
                Keep::First(_) => {}
                Keep::Last(most) => {
                    self.last.push_back(data.map(owned).collect());
                    if self.last.len() > most {
                        self.last.pop_front();
                    }
                }
            }
        }
        Ok(())
    }

    fn kept(&mut self, done: Outcome<()>) -> io::Result<()> {
        done.map_err(|failure| {
            self.failed = Some(failure);
            io::Error::other("standard output takes no more")
        })
    }
}

impl Sink for Answer<'_, '_> {
    fn columns(&mut self, columns: &[OutputColumn]) -> io::Result<()> {
        let done = self.begin(columns);
        self.kept(done)
    }

    fn rows(&mut self, rows: &Batch) -> io::Result<()> {
        let done = self.write(rows);
        self.kept(done)
    }
}

fn datum(cell: Cell<'_>) -> Datum<'_> {
    match cell {
        Cell::Null => Datum::Null,
        Cell::Text(text) => Datum::Text(Cow::Borrowed(text)),
        Cell::Integer(n) => Datum::Integer(n),
        Cell::Real(x) => Datum::Float(x),
        Cell::Bool(b) => Datum::Bool(b),
        Cell::Time(at) => Datum::Time(at),
        Cell::Other(text) => Datum::Text(Cow::Owned(text)),
    }
}

fn owned(datum: Datum<'_>) -> Datum<'static> {
    match datum {
        Datum::Null => Datum::Null,
        Datum::Text(text) => Datum::Text(Cow::Owned(text.into_owned())),
        Datum::Integer(n) => Datum::Integer(n),
        Datum::Float(x) => Datum::Float(x),
        Datum::Bool(b) => Datum::Bool(b),
        Datum::Time(at) => Datum::Time(at),
    }
}
