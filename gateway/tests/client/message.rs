//! Protocol buffers by hand: <https://protobuf.dev/programming-guides/encoding/>.

/// A string or bytes field.
pub(super) fn text(field: u64, value: &str) -> Vec<u8> {
    nested(field, value.as_bytes())
}

/// A message field.
pub(super) fn nested(field: u64, value: &[u8]) -> Vec<u8> {
    [
        varint(field << 3 | 2),
        varint(value.len() as u64),
        value.to_vec(),
    ]
    .concat()
}

/// A bool, an enum or an integer field.
pub(super) fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// An entry of a map of strings.
pub(super) fn entry(field: u64, key: &str, value: &str) -> Vec<u8> {
    nested(field, &[text(1, key), text(2, value)].concat())
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

/// `HealthResponse`: healthy, of this version.
pub(super) fn health(version: &str) -> Vec<u8> {
    [number(1, 1), text(2, version)].concat()
}

/// A `Sandbox` with an id and a name.
pub(super) fn sandbox(id: &str, name: &str) -> Vec<u8> {
    nested(1, &[text(1, id), text(2, name), text(7, "team")].concat())
}

/// `SandboxStreamEvent` with a line of the new generation.
pub(super) fn line(message: &str, cursor: &str) -> Vec<u8> {
    let line = [text(1, "id-1"), text(5, message)].concat();
    [nested(2, &line), text(6, cursor)].concat()
}
