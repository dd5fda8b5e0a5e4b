//! Keeps an entry within its limit, whatever its line was.

use std::borrow::Cow;

use boundlane_record::{Row, canonical};

use crate::attributes::NamedValues;

/// The longest canonical entry, in bytes.
pub(super) const ENTRY_BYTES_MAX: usize = 512 * 1024;

/// Room for what is said about a row once it was cut: length, digest, flags, in bytes.
const SAID_LATER_BYTES: usize = 512;

/// What one byte of text takes at most in the entry: a control is `\u00xx`, and inside `attributes`
/// its backslash is doubled.
const GROWTH_MAX: usize = 7;

/// Room for the keys, numbers and short words of an entry, in bytes.
const FRAME_BYTES: usize = 16 * 1024;

/// To what named values are cut, each longer one in turn, in bytes.
const VALUE_BYTES: [usize; 4] = [64 * 1024, 16 * 1024, 2 * 1024, 256];

/// How much of the entry named values may take, in bytes.
const VALUES_BYTES_MAX: usize = ENTRY_BYTES_MAX / 2;

/// A row whose raw text is no longer than this fits, in bytes: its other texts are parts of that one, at
/// most eight of them long.
const SURELY_FITS_BYTES: usize = 8 * 1024;

/// Cuts the row's longest texts, between characters, until its entry fits. Says whether any was cut.
pub(super) fn fit(row: &mut Row<'_>, values: &NamedValues<'_>) -> bool {
    if row
        .raw
        .as_deref()
        .is_some_and(|raw| raw.len() <= SURELY_FITS_BYTES)
    {
        return false;
    }
    let mut texts = 0;
    row.each_present(|_, value| {
        if let boundlane_record::Value::Text(text) = value {
            texts += text.len();
        }
    });
    if texts * GROWTH_MAX + FRAME_BYTES <= ENTRY_BYTES_MAX {
        return false;
    }
    let mut left = (entry_len(row) + SAID_LATER_BYTES).saturating_sub(ENTRY_BYTES_MAX);
    if left == 0 {
        return false;
    }
    left = left.saturating_sub(fit_values(row, values));
    while left > 0 {
        match shorten_longest(row, left) {
            0 => break,
            gained => left = left.saturating_sub(gained),
        }
    }
    true
}

fn entry_len(row: &Row<'_>) -> usize {
    let mut bytes = Vec::new();
    canonical::encode(row, &mut bytes);
    bytes.len()
}

/// Cuts named values until they take no more than their share. Gives the bytes gained.
fn fit_values(row: &mut Row<'_>, values: &NamedValues<'_>) -> usize {
    let len = |row: &Row<'_>| row.attributes.as_deref().map_or(0, encoded_len);
    let before = len(row);
    if before > VALUES_BYTES_MAX {
        for bytes in VALUE_BYTES {
            row.attributes = values.object(bytes).map(Cow::Owned);
            if len(row) <= VALUES_BYTES_MAX {
                break;
            }
        }
    }
    before - len(row)
}

/// Cuts the text that takes most by `excess` bytes, or by half, whichever is less, so that others come
/// before it is gone. Gives the bytes gained.
fn shorten_longest(row: &mut Row<'_>, excess: usize) -> usize {
    let texts = [
        &mut row.raw,
        &mut row.message,
        &mut row.reason,
        &mut row.destination,
        &mut row.path,
        &mut row.process,
        &mut row.host,
        &mut row.method,
        &mut row.rule,
        &mut row.engine,
        &mut row.activity,
        &mut row.protocol,
        &mut row.scheme,
        &mut row.class_tag,
        &mut row.class,
        &mut row.severity,
        &mut row.origin,
        &mut row.sandbox_id,
    ];
    let longest = texts
        .into_iter()
        .filter_map(Option::as_mut)
        .max_by_key(|text| encoded_len(text));
    let Some(text) = longest else { return 0 };
    let before = encoded_len(text);
    let after = (before.saturating_sub(excess)).max(before / 2);
    *text = Cow::Owned(encoded_head(text, after).to_owned());
    before - encoded_len(text)
}

fn encoded_len(text: &str) -> usize {
    text.bytes().map(width).sum()
}

/// The longest start of `text` that takes at most `bytes` in the entry.
fn encoded_head(text: &str, bytes: usize) -> &str {
    let mut taken = 0;
    let end = text.bytes().position(|byte| {
        taken += width(byte);
        taken > bytes
    });
    &text[..text.floor_char_boundary(end.unwrap_or(text.len()))]
}

/// What a byte takes in a canonical string.
fn width(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_text_is_cut_first_and_between_characters() {
        let mut row = Row {
            raw: Some("é\u{1}".repeat(100_000).into()),
            reason: Some("short".into()),
            ..Row::default()
        };
        assert!(fit(&mut row, &NamedValues::default()));
        let len = entry_len(&row);
        assert!(
            len <= ENTRY_BYTES_MAX && len > ENTRY_BYTES_MAX - 2 * SAID_LATER_BYTES,
            "{len}"
        );
        assert_eq!(row.reason.as_deref(), Some("short"));
    }

    #[test]
    fn named_values_are_cut_as_values_and_stay_json() {
        let mut values = NamedValues::default();
        for number in 0..64 {
            values.push(format!("k{number}").into(), "\u{1}".repeat(4000).into());
        }
        let mut row = Row {
            attributes: values.object(usize::MAX).map(Cow::Owned),
            ..Row::default()
        };
        assert!(fit(&mut row, &values));
        assert!(entry_len(&row) <= ENTRY_BYTES_MAX);
        let object: Option<serde_json::Value> = row
            .attributes
            .and_then(|text| serde_json::from_str(&text).ok());
        assert_eq!(
            object.and_then(|object| object.as_object().map(|all| all.len())),
            Some(64)
        );
    }

    #[test]
    fn entry_that_fits_is_not_touched() {
        let mut row = Row {
            raw: Some("x".repeat(500_000).into()),
            ..Row::default()
        };
        assert!(!fit(&mut row, &NamedValues::default()));
        assert_eq!(row.raw.map(|raw| raw.len()), Some(500_000));
    }
}
