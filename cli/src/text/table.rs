//! Tables that stream: aligned by display width, nothing cut, nothing folded.
//!
//! The first rows are held back to find the widths; later rows are printed at once, and one with a
//! longer cell than its column is simply longer. Cells are escaped here, so no caller can forget it.

use std::borrow::Cow;

use boundlane_record::Micros;

use super::clock::Clock;
use super::colour::{Palette, Tone};
use super::escape::visible;
use super::width::columns;
use crate::exit::Outcome;
use crate::output::out::Out;

/// Rows that are held back to find the widths.
const LOOK_AHEAD_ROWS: usize = 200;
/// Bytes that are held back at most: rows can be long.
const LOOK_AHEAD_BYTES: usize = 1024 * 1024;
/// A column is not padded wider than this because of one long cell.
const PADDED_COLUMNS_MAX: usize = 48;
/// What an absent value looks like.
const ABSENT: &str = "-";

/// One cell, escaped.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    columns: usize,
    /// A time whose text the table's clock will decide.
    at: Option<Micros>,
}

impl Cell {
    /// A cell in `tone`; its text is escaped, and `-` when empty.
    pub(crate) fn new<'t>(tone: Tone, text: impl Into<Cow<'t, str>>) -> Cell {
        let text = text.into();
        let text = if text.is_empty() {
            Cow::Borrowed(ABSENT)
        } else {
            text
        };
        let text = match visible(&text) {
            Cow::Borrowed(_) => text.into_owned(),
            Cow::Owned(spelled) => spelled,
        };
        let columns = columns(&text);
        Cell {
            text,
            tone,
            columns,
            at: None,
        }
    }

    /// A cell without colour.
    pub(crate) fn plain<'t>(text: impl Into<Cow<'t, str>>) -> Cell {
        Cell::new(Tone::Plain, text)
    }

    /// A moment, in the way of the table's clock; `-` when absent.
    pub(crate) fn time(at: Option<Micros>) -> Cell {
        Cell {
            at,
            ..Cell::plain("")
        }
    }

    /// A whole number, to the right of its column.
    pub(crate) fn number(n: impl std::fmt::Display) -> Cell {
        Cell::plain(n.to_string())
    }
}

/// The columns of a table.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    headers: Vec<String>,
    right: Vec<bool>,
}

impl Layout {
    /// Columns with these headers, aligned left.
    pub(crate) fn new<S: AsRef<str>>(headers: &[S]) -> Layout {
        let headers: Vec<String> = headers
            .iter()
            .map(|header| visible(header.as_ref()).into_owned())
            .collect();
        Layout {
            right: vec![false; headers.len()],
            headers,
        }
    }

    /// The same with these columns aligned right.
    pub(crate) fn right_aligned(mut self, columns: &[usize]) -> Layout {
        for column in columns {
            if let Some(right) = self.right.get_mut(*column) {
                *right = true;
            }
        }
        self
    }
}

/// A table on its way to a terminal or a file.
pub(crate) struct Table<'z> {
    layout: Layout,
    palette: Palette,
    clock: Option<Clock<'z>>,
    with_header: bool,
    widths: Vec<usize>,
    held: Vec<Vec<Cell>>,
    held_bytes: usize,
    settled: bool,
}

impl<'z> Table<'z> {
    /// An empty table.
    pub(crate) fn new(layout: Layout, palette: Palette, with_header: bool) -> Table<'z> {
        Table {
            widths: vec![1; layout.headers.len()],
            layout,
            palette,
            clock: None,
            with_header,
            held: Vec::new(),
            held_bytes: 0,
            settled: false,
        }
    }

    /// The same table with a way to show times.
    pub(crate) fn with_clock(mut self, clock: Clock<'z>) -> Table<'z> {
        self.clock = Some(clock);
        self
    }

    /// Adds a row. It may be held back until enough are there. The last cell of a row with fewer cells
    /// than columns reaches across the rest.
    pub(crate) fn row(&mut self, cells: Vec<Cell>, out: &mut Out) -> Outcome<()> {
        if self.settled {
            let cells = self.timed(cells);
            return out.line(&self.line(&cells));
        }
        self.held_bytes += cells.iter().map(|cell| cell.text.len()).sum::<usize>();
        self.held.push(cells);
        if self.held.len() >= LOOK_AHEAD_ROWS || self.held_bytes >= LOOK_AHEAD_BYTES {
            self.settle(out)?;
        }
        Ok(())
    }

    /// Prints what is held back: widths, header and the form of times are decided now.
    pub(crate) fn settle(&mut self, out: &mut Out) -> Outcome<()> {
        if std::mem::replace(&mut self.settled, true) {
            return Ok(());
        }
        let held = std::mem::take(&mut self.held);
        if let Some(clock) = &mut self.clock {
            clock.settle(held.iter().flatten().filter_map(|cell| cell.at));
        }
        self.name_zone(&held);
        let held: Vec<Vec<Cell>> = held.into_iter().map(|cells| self.timed(cells)).collect();
        for cells in &held {
            self.widen(cells);
        }
        if self.with_header {
            let header = self.header_cells();
            self.widen(&header);
            out.line(&self.line(&header))?;
        }
        held.iter()
            .try_for_each(|cells| out.line(&self.line(cells)))
    }

    /// Ends the table. One without rows prints nothing at all.
    pub(crate) fn finish(&mut self, out: &mut Out) -> Outcome<()> {
        if !self.settled && self.held.is_empty() {
            return Ok(());
        }
        self.settle(out)
    }

    /// Says the zone in the header of each column that holds times.
    fn name_zone(&mut self, held: &[Vec<Cell>]) {
        let Some(clock) = &self.clock else { return };
        for (column, header) in self.layout.headers.iter_mut().enumerate() {
            let holds_time = |cells: &Vec<Cell>| cells.get(column).is_some_and(|c| c.at.is_some());
            if held.iter().any(holds_time) {
                header.push_str(&clock.header());
            }
        }
    }

    fn header_cells(&self) -> Vec<Cell> {
        self.layout
            .headers
            .iter()
            .map(|text| Cell::new(Tone::Strong, text.as_str()))
            .collect()
    }

    /// Gives the times of a row their texts.
    fn timed(&self, mut cells: Vec<Cell>) -> Vec<Cell> {
        for cell in &mut cells {
            if let Some(at) = cell.at {
                let text = match &self.clock {
                    Some(clock) => clock.shown(at),
                    None => crate::time::rfc3339(at),
                };
                *cell = Cell {
                    at: None,
                    ..Cell::new(cell.tone, text)
                };
            }
        }
        cells
    }

    fn widen(&mut self, cells: &[Cell]) {
        let own = if cells.len() < self.widths.len() {
            cells.len() - 1
        } else {
            cells.len()
        };
        for (width, cell) in self.widths.iter_mut().zip(&cells[..own]) {
            *width = cell.columns.min(PADDED_COLUMNS_MAX).max(*width);
        }
    }

    fn line(&self, cells: &[Cell]) -> String {
        let mut line = String::with_capacity(120);
        let is_short = cells.len() < self.widths.len();
        for (column, cell) in cells.iter().enumerate() {
            let is_last = column + 1 == cells.len();
            let width = if is_last && is_short {
                0
            } else {
                self.widths[column]
            };
            let padding = width.saturating_sub(cell.columns);
            let right = self.layout.right[column];
            pad(&mut line, if right { padding } else { 0 });
            self.palette.paint(&mut line, cell.tone, &cell.text);
            pad(&mut line, if right || is_last { 0 } else { padding });
            pad(&mut line, if is_last { 0 } else { 2 });
        }
        line
    }
}

fn pad(line: &mut String, spaces: usize) {
    line.extend(std::iter::repeat_n(' ', spaces));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::output::out::captured::Captured;

    fn printed(on: bool, rows: &[&[Cell]]) -> String {
        let captured = Captured::default();
        let mut out = captured.out(false);
        let layout = Layout::new(&["host", "count", "rule"]).right_aligned(&[1]);
        let mut table = Table::new(layout, Palette { on }, true);
        rows.iter()
            .for_each(|row| table.row(row.to_vec(), &mut out).unwrap());
        table.finish(&mut out).unwrap();
        out.flush_now().unwrap();
        captured.text()
    }

    /// Wide characters, escapes and colour do not move the columns.
    #[test]
    fn a_wide_or_hostile_cell_moves_the_columns() {
        let rows: &[&[Cell]] = &[
            &[Cell::plain("例え.jp"), Cell::number(7), Cell::plain("a")],
            &[
                Cell::plain("x\u{1b}[2J\ty"),
                Cell::number(1234),
                Cell::plain(""),
            ],
        ];
        let expected = "host         count  rule\n\
                        例え.jp          7  a\n\
                        x\\x1b[2J\\ty   1234  -\n";
        assert_eq!(printed(false, rows), expected);
        let coloured = printed(true, rows);
        assert!(coloured.starts_with("\x1b[1mhost\x1b[0m         \x1b[1mcount\x1b[0m"));
    }

    /// A line across is not squeezed into the first column, and does not widen it.
    #[test]
    fn a_line_across_widens_the_first_column() {
        let rows: &[&[Cell]] = &[
            &[Cell::new(Tone::Warning, "gap: an unknown number of lines")],
            &[Cell::plain("a"), Cell::number(1), Cell::plain("b")],
        ];
        assert_eq!(
            printed(false, rows),
            "host  count  rule\ngap: an unknown number of lines\na         1  b\n"
        );
    }

    /// One long cell neither gets cut nor makes all rows as long as itself.
    #[test]
    fn a_long_cell_is_cut_or_widens_every_row() {
        let long = "x".repeat(300);
        let rows: &[&[Cell]] = &[
            &[
                Cell::plain(long.as_str()),
                Cell::number(1),
                Cell::plain("r"),
            ],
            &[Cell::plain("a"), Cell::number(1), Cell::plain("r")],
        ];
        let text = printed(false, rows);
        assert!(text.contains(&format!("{long}      1  r\n")));
        assert!(text.lines().last().unwrap().len() < 64);
    }

    /// Rows after the look-ahead are printed at once, with the widths that were found.
    #[test]
    fn rows_are_held_back_for_ever() {
        let captured = Captured::default();
        let mut out = captured.out(false);
        let mut table = Table::new(Layout::new(&["n", "m"]), Palette { on: false }, true);
        for n in 0..=LOOK_AHEAD_ROWS {
            table
                .row(vec![Cell::number(n), Cell::plain("m")], &mut out)
                .unwrap();
        }
        out.flush_now().unwrap();
        assert_eq!(captured.text().lines().count(), LOOK_AHEAD_ROWS + 2);
        assert!(captured.text().ends_with("\n200  m\n"));
    }

    #[test]
    fn an_empty_table_prints_a_header() {
        assert_eq!(printed(false, &[]), "");
    }
}
