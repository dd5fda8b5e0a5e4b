//! One line of text, read without its stream.

use crate::fields::Fields;
use crate::line::{Body, Line};
use crate::{key_value, shorthand};

/// What a line of text says, borrowed from it and as printed: nothing is redacted. `None` for OCSF
/// JSON, for tracing and blank lines, and for what has no known form.
pub fn fields(line: &str) -> Option<Fields<'_>> {
    match Line::read(line).body {
        Body::Shorthand(text) => shorthand::read(text).ok(),
        Body::LetterShorthand { severity, text } => shorthand::read_letter(severity, text).ok(),
        Body::Tracing(text) | Body::Other(text) => key_value::read(text),
        Body::Json(_) | Body::Blank => None,
    }
}
