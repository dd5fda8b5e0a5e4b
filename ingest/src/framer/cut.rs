//! Where the head of a line ends that is too long to keep.
//!
//! A token that is cut in half is no longer recognised as a secret and its first half would be stored.
//! So the head ends behind a byte that cannot lie inside a token.

use memchr::{memrchr, memrchr2, memrchr3};

/// How far from its end the head may be shortened to end at a delimiter, in bytes.
const SEARCH_BYTES: usize = 4 * 1024;

/// How much of `head`, which is as long as a line may be, is kept.
///
/// Behind the last byte of the final 4 KiB that no token, key or userinfo may hold (whitespace, `]`,
/// `"`, `?`, `/`); else behind the last one that ends a list item (`,`, `;`, `&`, `=`), which a
/// password in a URL may hold; else, the whole 4 KiB being one token, in front of them.
pub(super) fn head_len(head: &[u8]) -> usize {
    let from = head.len().saturating_sub(SEARCH_BYTES);
    let tail = &head[from..];
    let sure = [
        memrchr3(b' ', b'\t', b'\r', tail),
        memrchr3(b']', b'"', b'?', tail),
        memrchr(b'/', tail),
    ];
    let likely = [memrchr2(b',', b';', tail), memrchr2(b'&', b'=', tail)];
    let last = |found: &[Option<usize>]| found.iter().flatten().max().map(|at| from + at + 1);
    last(&sure)
        .or_else(|| last(&likely))
        .unwrap_or_else(|| character_start(head, from))
}

/// The start of the character that `at` lies in, for text; at most three bytes back.
fn character_start(head: &[u8], at: usize) -> usize {
    let is_inside = |at: &usize| head.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| !is_inside(at))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(tail: &str) -> Vec<u8> {
        let mut head = vec![b'x'; 16 * 1024];
        let at = head.len() - tail.len();
        head[at..].copy_from_slice(tail.as_bytes());
        head
    }

    /// A head never ends inside the token that straddles the limit.
    #[test]
    fn token_across_the_limit_is_left_out_whole() {
        for delimiter in [" ", "\t", "]", "\"", "?", "/", ",", ";", "&", "="] {
            let head = filled(&format!("{delimiter}ghp_0123456789"));
            assert!(
                head[..head_len(&head)].ends_with(delimiter.as_bytes()),
                "{delimiter:?}"
            );
        }
    }

    /// A password in userinfo may hold `,` and `=`, so a `/` before it is the better place.
    #[test]
    fn password_with_a_comma_across_the_limit_is_left_out_whole() {
        let head = filled("https://user:pa,ss=wo;rd");
        assert!(head[..head_len(&head)].ends_with(b"https://"));
    }

    #[test]
    fn head_without_delimiter_ends_four_kib_earlier_on_a_character() {
        assert_eq!(head_len(&[b'x'; 8192]), 4096);
        let head = "é".repeat(4096);
        assert_eq!(head_len(&head.as_bytes()[..8191]), 4094);
    }
}
