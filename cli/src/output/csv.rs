//! CSV after RFC 4180, safe to open in a spreadsheet.
//!
//! A cell that a spreadsheet would run as a formula begins with `'` instead; on a terminal, codes are
//! spelled out too. Both can be seen in the cell; neither happens to numbers of ours.

use std::borrow::Cow;

use super::cell::Datum;
use super::out::Out;
use crate::exit::{Failure, Outcome};
use crate::text::escape::without_terminal_codes;
use crate::time::rfc3339;

/// How cells are made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formulas {
    /// They get a `'` in front.
    Neutralised,
    /// They stay: `--csv-raw`, for programs that read the file.
    Kept,
}

/// Bytes that a row is expected to have.
const ROW_BYTES: usize = 1024;

/// Writes rows of cells.
#[derive(Debug)]
pub(crate) struct Csv {
    formulas: Formulas,
    record: Vec<u8>,
}

impl Csv {
    /// A writer; the header is its first row.
    pub(crate) fn new(formulas: Formulas) -> Csv {
        Csv {
            formulas,
            record: Vec::new(),
        }
    }

    /// Writes the header.
    pub(crate) fn header<'h>(
        &mut self,
        names: impl IntoIterator<Item = &'h str>,
        out: &mut Out,
    ) -> Outcome<()> {
        self.row(names.into_iter().map(|name| Datum::Text(name.into())), out)
    }

    /// Writes one row.
    pub(crate) fn row<'d>(
        &mut self,
        values: impl IntoIterator<Item = Datum<'d>>,
        out: &mut Out,
    ) -> Outcome<()> {
        self.record.clear();
        let mut writer = ::csv::WriterBuilder::new()
            .terminator(::csv::Terminator::CRLF)
            .buffer_capacity(ROW_BYTES)
            .from_writer(&mut self.record);
        for value in values {
            let cell = cell_text(value, self.formulas, out.is_terminal());
            writer.write_field(cell.as_bytes()).map_err(in_memory)?;
        }
        writer.write_record(None::<&[u8]>).map_err(in_memory)?;
        writer.flush().map_err(Failure::output)?;
        drop(writer);
        std::io::Write::write_all(out, &self.record).map_err(Failure::output)
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "used as `map_err(in_memory)`"
)]
fn in_memory(error: ::csv::Error) -> Failure {
    Failure::failed(format_args!("cannot write a CSV row: {error}"))
}

fn cell_text(value: Datum<'_>, formulas: Formulas, to_terminal: bool) -> Cow<'_, str> {
    let text = match value {
        Datum::Null => return Cow::Borrowed(""),
        Datum::Integer(n) => return Cow::Owned(n.to_string()),
        Datum::Float(n) => return Cow::Owned(n.to_string()),
        Datum::Bool(b) => return Cow::Borrowed(if b { "true" } else { "false" }),
        Datum::Time(at) => return Cow::Owned(rfc3339(at)),
        Datum::Text(text) => text,
    };
    let text = match formulas {
        Formulas::Neutralised if starts_formula(&text) => Cow::Owned(format!("'{text}")),
        _ => text,
    };
    if !to_terminal {
        return text;
    }
    Cow::Owned(without_terminal_codes(&text).into_owned())
}

/// Whether a spreadsheet would take the cell for a formula, also after cutting what it ignores.
fn starts_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::output::out::captured::Captured;

    fn printed(formulas: Formulas, is_terminal: bool, cells: &[&'static str]) -> String {
        let captured = Captured::default();
        let mut out = captured.out(is_terminal);
        let mut csv = Csv::new(formulas);
        csv.row(
            cells.iter().map(|cell| Datum::Text((*cell).into())),
            &mut out,
        )
        .unwrap();
        out.flush_now().unwrap();
        captured.text()
    }

    #[test]
    fn a_cell_runs_as_a_formula() {
        let cells = &["=cmd|'/c calc'!A1", "+1", "-", "@SUM(A1)", "\tx", "a=b", ""];
        assert_eq!(
            printed(Formulas::Neutralised, false, cells),
            "'=cmd|'/c calc'!A1,'+1,'-,'@SUM(A1),'\tx,a=b,\r\n"
        );
        assert_eq!(
            printed(Formulas::Kept, false, cells),
            "=cmd|'/c calc'!A1,+1,-,@SUM(A1),\tx,a=b,\r\n"
        );
    }

    #[test]
    fn a_quote_comma_or_newline_ends_the_cell() {
        assert_eq!(
            printed(
                Formulas::Neutralised,
                false,
                &["a,b", "say \"x\"", "1\n2", "z"]
            ),
            "\"a,b\",\"say \"\"x\"\"\",\"1\n2\",z\r\n"
        );
    }

    #[test]
    fn a_terminal_code_gets_through_or_a_file_loses_it() {
        assert_eq!(
            printed(Formulas::Kept, true, &["a\u{1b}[2J"]),
            "a\\x1b[2J\r\n"
        );
        assert_eq!(
            printed(Formulas::Kept, false, &["a\u{1b}[2J"]),
            "a\u{1b}[2J\r\n"
        );
    }

    /// Negative numbers of ours are numbers.
    #[test]
    fn a_number_becomes_text() {
        let captured = Captured::default();
        let mut out = captured.out(false);
        Csv::new(Formulas::Neutralised)
            .row([Datum::Integer(-5), Datum::Null], &mut out)
            .unwrap();
        out.flush_now().unwrap();
        assert_eq!(captured.text(), "-5,\r\n");
    }
}
