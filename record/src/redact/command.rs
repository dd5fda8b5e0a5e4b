//! Tools that take a password behind a flag that means something else elsewhere; looked for once the
//! name of one is in the text.

use std::ops::Range;

use super::text::{Text, is_quote, is_space};

/// Where a tool takes its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// `-p secret`
    Next,
    /// `-psecret`; alone it asks.
    Attached,
    /// Either.
    Both,
}

/// A tool's name as the last part of its path, its flag, and where the secret stands.
pub(super) const TOOLS: [(&str, &str, Takes); 8] = [
    ("sshpass", "-p", Takes::Both),
    ("mysql", "-p", Takes::Attached),
    ("mysqldump", "-p", Takes::Attached),
    ("mysqladmin", "-p", Takes::Attached),
    ("mariadb", "-p", Takes::Attached),
    ("redis-cli", "-a", Takes::Next),
    ("mongosh", "-p", Takes::Next),
    ("openssl", "pass:", Takes::Attached),
];

/// Adds the secret arguments of such tools anywhere in a command line.
pub(super) fn tools(text: &Text<'_>, found: &mut Vec<Range<usize>>) {
    let mut tool: Option<(&str, Takes)> = None;
    let mut is_due = false;
    let mut at = 0;
    while at < text.len() {
        let start = text.while_at(at, is_space);
        at = text.while_at(start, |byte| !is_space(byte));
        let end = text.while_at(start, |byte| {
            !is_space(byte) && !is_quote(byte) && byte != b']'
        });
        let word = text.slice(start..end);
        if is_due {
            found.push(start..end);
        }
        is_due =
            tool.is_some_and(|(flag, takes)| takes != Takes::Attached && word == flag.as_bytes());
        if let Some((flag, takes)) = tool
            && takes != Takes::Next
            && word.starts_with(flag.as_bytes())
        {
            found.push(start + flag.len()..end);
        }
        tool = named(word).or(tool);
    }
}

/// The tool that `word` names, with or without its folder and what a line puts before a command.
fn named(word: &[u8]) -> Option<(&'static str, Takes)> {
    let name = word
        .rsplit(|&byte| matches!(byte, b'/' | b':' | b'"' | b'['))
        .next()?;
    let tool = TOOLS.iter().find(|(tool, ..)| name == tool.as_bytes());
    tool.map(|&(_, flag, takes)| (flag, takes))
}
