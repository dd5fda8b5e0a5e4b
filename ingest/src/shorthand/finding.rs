//! FINDING: `"title" [type:UID k:v confidence:C]`.

use super::words;
use super::{broken, group};
use crate::escape::Spelling;
use crate::fields::{Attributes, Body, Fields, Spelled};

/// `word` is what stands in the activity's place: a disposition, or the activity where there is none.
pub(super) fn read<'a>(word: &str, rest: &'a str, fields: &mut Fields<'a>) {
    fields.disposition = words::disposition(word);
    if fields.disposition.is_some() {
        fields.activity = None;
    }
    let rest = rest.trim_matches(' ');
    match title(rest) {
        Some((title, attributes)) => {
            fields.message = Some(title);
            fields.attributes = attributes;
        }
        None => broken(rest, fields, Body::Broken),
    }
}

/// Titles are escaped since 0.0.86. Before that a quote inside one was printed as it is, and then the
/// last quote that fits is the closing one.
fn title(text: &str) -> Option<(Spelled<'_>, Attributes<'_>)> {
    let inner = text.strip_prefix('"')?;
    let escaped = closing_quote(inner).and_then(|at| ends_at(inner, at, Spelling::Title));
    escaped.or_else(|| {
        let mut quotes = memchr::memrchr_iter(b'"', inner.as_bytes());
        quotes.find_map(|at| ends_at(inner, at, Spelling::Plain))
    })
}

fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The title that ends at the quote at `at`, if what follows is one group or nothing.
fn ends_at(inner: &str, at: usize, spelling: Spelling) -> Option<(Spelled<'_>, Attributes<'_>)> {
    let attributes = match &inner[at + 1..] {
        "" => Attributes::default(),
        group => group::whole_context(group.strip_prefix(' ')?.trim_start_matches(' '))?,
    };
    Some((
        Spelled {
            text: &inner[..at],
            spelling,
        },
        attributes,
    ))
}
