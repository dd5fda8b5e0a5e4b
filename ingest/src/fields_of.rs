//! One line of text, read without its stream.

use crate::fields::Fields;
use crate::line::{Body, Line};
use crate::{key_value, shorthand};

/// What a line of text says, borrowed from it and as printed: nothing is redacted. `None` for OCSF
/// JSON, for tracing and blank lines, and for what has no known form.
#[inline]
pub fn fields(line: &str) -> Option<Fields<'_>> {
    match Line::read(line).body {
        Body::Event(head) => {
            let mut fields = Fields::default();
            shorthand::read(head, &mut fields);
            Some(fields)
        }
        Body::Tracing(text) | Body::Other(text) => key_value::read(text),
        Body::Headless | Body::Json(_) | Body::Blank => None,
    }
}
