//! Takes recognisable secrets out of text before it is written anywhere (law L7).
//!
//! A [`Redactor`] looks at text and adds the byte ranges of what it recognises to [`Spans`]; the spans
//! then cut any part of that text. Nothing is copied while no secret is found.
//!
//! The path of a text: one pass over all of it looks for literals that a shape could begin with; most
//! texts have none and are done. Else each place is looked at by the matcher of its shape; a text with
//! `%` or `\` is also looked at as it reads with up to three layers of escapes undone, and what is
//! found there is cut with its whole escapes. Then the cut text is looked at again, so that redacting
//! it once more finds nothing.
//!
//! Limits: time and memory are linear in the text's length. `docs/REDACTION.md` lists the shapes, and
//! what gets through.
//!
//! ```
//! use boundlane_record::redact::{Redactor, Spans};
//!
//! let line = "HTTP:PUT [MED] DENIED PUT http://api.github.com/x?token=abc [policy:p engine:opa]";
//! let mut spans = Spans::new();
//! Redactor::default().line(line, &mut spans);
//! assert_eq!(spans.count(), 1);
//! assert_eq!(
//!     spans.cut(line, 0..line.len()),
//!     "HTTP:PUT [MED] DENIED PUT http://api.github.com/x?[redacted] [policy:p engine:opa]"
//! );
//! ```

mod assign;
mod command;
mod decode;
mod gap;
mod json;
mod mark;
mod prefilter;
mod scan;
mod shapes;
mod sieve;
mod spans;
mod text;
mod url;

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use prefilter::Prefilter;
pub use spans::{MARK, Spans};

/// The version of the built-in shapes, in `journal_start`: it grows when one is added or changed.
pub const VERSION: u32 = 1;

/// The memory that one compiled `redact` pattern may take, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The literals are the same for every redactor.
static PREFILTER: LazyLock<Prefilter> = LazyLock::new(Prefilter::new);

/// A pattern from the configuration that is not a regular expression.
#[derive(Debug, thiserror::Error)]
#[error("`redact` pattern {number} cannot be used: {why}")]
pub struct BadPattern {
    /// Which one, from 1.
    pub number: usize,
    /// What the regular expression engine says, without the pattern's text.
    pub why: String,
}

/// What a field of a line is, for shapes that only mean something there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A URL or a request target: its query, fragment and userinfo go, token-like path segments too.
    Url,
    /// A command line. What is secret in one is recognised in any text, so that `raw` is cut alike.
    Command,
    /// Any other text.
    Text,
}

/// Recognises secrets. Built once, shared by all threads.
#[derive(Debug)]
pub struct Redactor {
    prefilter: &'static Prefilter,
    extra: Vec<Regex>,
}

impl Default for Redactor {
    /// The built-in shapes alone.
    fn default() -> Redactor {
        Redactor {
            prefilter: &PREFILTER,
            extra: Vec::new(),
        }
    }
}

impl Redactor {
    /// The built-in shapes, and `extra` regular expressions whose whole match is cut.
    ///
    /// They run in linear time, on every text and on what it says under its escapes.
    ///
    /// # Errors
    /// [`BadPattern`] for the first that does not compile, or takes more than 1 MiB compiled.
    pub fn new(extra: &[String]) -> Result<Redactor, BadPattern> {
        let compiled = extra.iter().enumerate().map(|(index, pattern)| {
            let built = RegexBuilder::new(pattern)
                .size_limit(PATTERN_BYTES_MAX)
                .dfa_size_limit(PATTERN_BYTES_MAX)
                .build();
            built.map_err(|error| BadPattern {
                number: index + 1,
                why: why(&error),
            })
        });
        Ok(Redactor {
            extra: compiled.collect::<Result<_, _>>()?,
            ..Redactor::default()
        })
    }

    /// Adds what is recognised anywhere in a line of text.
    pub fn line(&self, line: &str, spans: &mut Spans) {
        self.field(line, 0..line.len(), FieldKind::Text, spans);
    }

    /// Whether nothing can be recognised in `line`, nor in any part of it that begins behind a blank, a
    /// quote, `:`, `,`, `[` or `=`, whatever the part is. May say no for a line that holds no secret: it is
    /// one quick look, which spares all others.
    pub fn is_clear(&self, line: &str) -> bool {
        self.is_clear_from(line, 0)
    }

    /// [`Redactor::is_clear`] of a `line` whose first `from` bytes are, by themselves, known to be clear.
    pub fn is_clear_from(&self, line: &str, from: usize) -> bool {
        self.extra.is_empty() && self.prefilter.is_clear_from(line.as_bytes(), from)
    }

    /// Adds what is recognised in `line[field]`, knowing what the field is.
    pub fn field(&self, line: &str, field: Range<usize>, kind: FieldKind, spans: &mut Spans) {
        if self.is_clear(&line[field.clone()]) {
            return;
        }
        let cuts = scan::settled(self, line[field.clone()].as_bytes(), kind);
        if !cuts.is_empty() {
            let in_line = cuts
                .iter()
                .map(|cut| field.start + cut.start..field.start + cut.end);
            spans.add_all(in_line.collect());
        }
    }

    /// Adds what is recognised in a line that is one JSON value: inside strings as they decode, and
    /// whole values by their key. Every span lies inside one string's quotes or is one bare scalar, for
    /// which [`Spans::cut`] writes a string: the line stays valid JSON.
    ///
    /// A line that is not one JSON value is looked at as text too.
    pub fn json(&self, line: &str, spans: &mut Spans) {
        if self.extra.is_empty() && !self.prefilter.is_triggered(line.as_bytes()) {
            return;
        }
        if json::walk(self, line, spans).is_err() {
            self.line(line, spans);
        }
    }
}

/// What is wrong with a pattern, without any of its text: it is there to match a secret.
fn why(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => format!("it takes more than {limit} bytes compiled"),
        _ => "it is not a valid regular expression".to_owned(),
    }
}
