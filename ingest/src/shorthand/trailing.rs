//! `k=v` behind the event: newer gateways may put fields on the event, and the CLI appends them.

use boundlane_record::ClassTag;

use super::head::Head;
use crate::fields::{Body, Class, Fields, Spelled};

/// Reads the event once more without the fields behind it. `None` when there are none, the class ends
/// in free text, or it does not help.
pub(super) fn parse_without_trailing_fields(head: Head<'_>) -> Option<Fields<'_>> {
    let ends_in_text = match head.class {
        Class::Known(tag) => {
            matches!(
                tag,
                ClassTag::Lifecycle | ClassTag::Config | ClassTag::Event
            )
        }
        _ => true,
    };
    if ends_in_text {
        return None;
    }
    let (event, trailing) = split(head.rest)?;
    let mut fields = Fields::default();
    super::parse(
        Head {
            rest: event,
            ..head
        },
        &mut fields,
    );
    // A word in front of the fields is a host only when it has a port: else it is some message.
    let is_word = fields.host.is_some() && fields.port.is_none() && !event.ends_with(']');
    if fields.body != Body::Clear || is_word {
        return None;
    }
    for token in trailing.split(' ') {
        if let Some((key, value)) = token.split_once('=') {
            fields.attributes.push(key, Spelled::plain(value));
        }
    }
    Some(fields)
}

/// The event, and the `k=v` words that `text` ends with.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut event = text;
    while let Some((before, last)) = event.rsplit_once(' ')
        && is_field(last)
    {
        event = before;
    }
    (event.len() < text.len()).then(|| (event, &text[event.len() + 1..]))
}

fn is_field(word: &str) -> bool {
    let key = word.split_once('=').map_or("", |(key, _)| key);
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
}
