//! One line of text, read without its stream.

use crate::fields::Fields;
use crate::line::{Body, Line};
use crate::{key_value, shorthand};

/// What a line of text says, borrowed from it and as printed: nothing is redacted. `None` for OCSF
/// JSON, for tracing and blank lines, and for what has no known form.
#[inline(never)]
pub fn fields(line: &str) -> Option<Fields<'_>> {
    // Filled where it is returned, so that it is not copied there.
    let mut fields = None;
    match Line::read(line).body {
        Body::Event(head) => shorthand::read(head, fields.insert(Fields::default())),
        Body::Tracing(text) | Body::Other(text) => fields = key_value::read(text),
        Body::Headless | Body::Json(_) | Body::Blank => (),
    }
    fields
}
