//! What says already that something was cut.

/// Whether the whole of `value` is a mark: `[redacted]`, `REDACTED`, `<REDACTED>`, `[CREDENTIAL]`,
/// in any case, or stars.
pub(super) fn is_mark(value: &[u8]) -> bool {
    let (inner, bracketed) = unwrap(value);
    inner.eq_ignore_ascii_case(b"redacted")
        || bracketed && inner.eq_ignore_ascii_case(b"credential")
        || value.len() >= 3 && value.iter().all(|&byte| byte == b'*')
}

fn unwrap(value: &[u8]) -> (&[u8], bool) {
    match value {
        [b'[', inner @ .., b']']
        | [b'<', inner @ .., b'>']
        | [b'{', inner @ .., b'}']
        | [b'(', inner @ .., b')'] => (inner, true),
        _ => (value, false),
    }
}
