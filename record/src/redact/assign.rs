//! Values that are secret by the name before them: `key=value`, `key: value`, `--key value`, header
//! values, `Bearer X`, `-u user:pass`.

use std::ops::Range;

use super::gap::{Gap, after_item, gap};
use super::mark::is_mark;
use super::prefilter::{HEADER_WORDS, KEY_WORDS};
use super::text::{Class, Text, is_quote, is_space};

/// How far the secret behind a key reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyClass {
    /// One value.
    Value,
    /// A header's value: the rest of what holds the header.
    Header,
}

/// Words that follow `bearer` in prose.
const PROSE: [&str; 26] = [
    "and",
    "as",
    "auth",
    "authentication",
    "authorization",
    "but",
    "credential",
    "credentials",
    "error",
    "expired",
    "failed",
    "for",
    "from",
    "has",
    "header",
    "in",
    "invalid",
    "is",
    "missing",
    "not",
    "or",
    "required",
    "scheme",
    "token",
    "tokens",
    "was",
];

/// What was settled, so that no part of a text is looked at again and again.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The last name that was looked at.
    name: Range<usize>,
    /// The last value without quotes; a key inside it ends its own value where it ends.
    bare: Range<usize>,
    /// No key counts before this: it is inside a quoted value.
    quoted_until: usize,
    /// No header counts before this.
    header_until: usize,
    /// Of each kind, where no closing bracket is but the one at the end, if there is one.
    unclosed: [Range<usize>; 4],
    /// The last word after `Bearer` or `Basic`.
    credential: Range<usize>,
    /// The last argument of a `-u` that has no colon.
    no_colon: Range<usize>,
}

impl Keys {
    /// Looks at the name around the key word at `word`.
    pub(super) fn key(
        &mut self,
        text: &Text<'_>,
        word: Range<usize>,
        class: KeyClass,
        found: &mut Vec<Range<usize>>,
    ) {
        let settled = self.name.start <= word.start && word.end <= self.name.end;
        if settled && class == KeyClass::Value || word.start < self.quoted_until {
            return;
        }
        let is_named = |byte| Class::Token.has(byte) || byte == b'.';
        let start = text.while_before(word.start, is_named);
        let end = text.while_at(word.end, is_named);
        self.name = start..end;
        let header = class == KeyClass::Header;
        if header && (word.end != end || start < self.header_until) {
            return;
        }
        let Some(gap) = gap(text, &self.name, &word) else {
            return;
        };
        match class {
            KeyClass::Value => self.value(text, &gap, found),
            KeyClass::Header => self.header(text, &gap, found),
        }
    }

    fn value(&mut self, text: &Text<'_>, gap: &Gap, found: &mut Vec<Range<usize>>) {
        let at = gap.end;
        match text.at(at) {
            Some(quote) if is_quote(quote) => {
                let end = text.quoted_end(at + 1, quote);
                self.quoted_until = end;
                found.push(at + 1..end);
            }
            Some(open @ (b'[' | b'{' | b'(' | b'<')) => {
                if gap.is_spaced && !gap.is_quoted && text.is_assignment(at + 1, b":") {
                    return; // The next group of a shorthand line.
                }
                let inner = self.closing(text, at + 1, open).unwrap_or(at);
                found.push(at..self.bare_end(text, inner));
            }
            Some(_) => found.push(at..self.bare_end(text, at)),
            None => {}
        }
    }

    /// A header's value goes on to the quote that the header is in, or to the end of its line or group.
    fn header(&mut self, text: &Text<'_>, gap: &Gap, found: &mut Vec<Range<usize>>) {
        let (at, end) = match (text.at(gap.end), gap.opener) {
            (Some(quote), _) if is_quote(quote) => {
                (gap.end + 1, text.quoted_end(gap.end + 1, quote))
            }
            (_, Some(quote)) => (gap.end, text.quoted_end(gap.end, quote)),
            _ => (gap.end, group_end(text, gap.end)),
        };
        self.header_until = end;
        let value = trimmed(text, at..end);
        let bytes = text.slice(value.clone());
        let credential = bytes.iter().position(|&byte| is_space(byte));
        let is_marked = credential.is_some_and(|space| is_mark(bytes[space..].trim_ascii()));
        if !is_marked {
            found.push(value);
        }
    }

    fn bare_end(&mut self, text: &Text<'_>, at: usize) -> usize {
        if !(self.bare.start <= at && at < self.bare.end) {
            self.bare = at..text.bare_end(at);
        }
        self.bare.end
    }

    /// After the first bracket that closes one of this kind.
    fn closing(&mut self, text: &Text<'_>, at: usize, open: u8) -> Option<usize> {
        let (kind, close) = match open {
            b'[' => (0, b']'),
            b'{' => (1, b'}'),
            b'<' => (2, b'>'),
            _ => (3, b')'),
        };
        if !self.unclosed[kind].contains(&at) {
            self.unclosed[kind] = at..text.find(at, close).unwrap_or(text.len());
        }
        let end = self.unclosed[kind].end;
        (end < text.len()).then_some(end + 1)
    }

    /// What follows `Bearer` or `Basic` at `word`.
    pub(super) fn scheme(
        &mut self,
        text: &Text<'_>,
        word: Range<usize>,
        found: &mut Vec<Range<usize>>,
    ) {
        let is_inside = text
            .before(word.start)
            .is_some_and(|byte| Class::Word.has(byte));
        let mut at = word.end;
        if matches!(text.at(at), Some(b':' | b'=')) {
            at += 1;
        }
        at = text.after_blanks(at);
        if is_inside || at == word.end {
            return;
        }
        at += usize::from(text.at(at).is_some_and(is_quote));
        if !self.credential.contains(&at) {
            let is_part = |byte| Class::Dotted.has(byte) || matches!(byte, b'~' | b'+' | b'/');
            self.credential = at..text.while_at(at, is_part);
        }
        let end = self.credential.end;
        let credential = text.slice(at..end);
        let is_secret = match text.at(word.start).map(|byte| byte.to_ascii_lowercase()) {
            Some(b'b') if text.says(word.start, "basic") => is_base64_like(credential),
            _ => !PROSE
                .iter()
                .any(|word| credential.eq_ignore_ascii_case(word.as_bytes())),
        };
        if is_secret && !credential.starts_with(b"=") {
            found.push(at..end);
        }
    }

    /// The `user:password` after the flag at `at`.
    pub(super) fn user_flag(&mut self, text: &Text<'_>, at: usize, found: &mut Vec<Range<usize>>) {
        let long = ["--user", "--proxy-user"]
            .into_iter()
            .find(|flag| text.says(at, flag));
        let value = match long {
            Some(flag) if text.at(at + flag.len()) == Some(b'=') => Some(at + flag.len() + 1),
            Some(flag) => after_item(text, at + flag.len()),
            None => after_item(text, at + 2).or(Some(at + 2)),
        };
        let Some(value) = value else {
            return;
        };
        let range = match text.at(value) {
            Some(quote) if is_quote(quote) => value + 1..text.quoted_end(value + 1, quote),
            _ => value..self.bare_end(text, value),
        };
        if self.no_colon.contains(&range.start) {
            return;
        }
        match memchr::memchr(b':', text.slice(range.clone())) {
            None => self.no_colon = range,
            Some(colon) if is_user_and_password(text.slice(range.clone()), colon) => {
                found.push(range);
            }
            Some(_) => {}
        }
    }
}

/// The end of the line, or of the bracket group that `at` is in.
fn group_end(text: &Text<'_>, at: usize) -> usize {
    let mut depth = 0usize;
    let mut end = at;
    while let Some(byte) = text.at(end) {
        match byte {
            b'\n' | b'\r' => break,
            b'[' => depth += 1,
            b']' if depth == 0 => break,
            b']' => depth -= 1,
            _ => {}
        }
        end += 1;
    }
    text.looked_at(end - at);
    end
}

fn trimmed(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    let value = text.slice(range.clone());
    let start = range.start + (value.len() - value.trim_ascii_start().len());
    start..start + value.trim_ascii().len()
}

/// Base64 of more than a word: a digit, a sign, or capitals beyond the first letter.
fn is_base64_like(credential: &[u8]) -> bool {
    let is_telling = |&byte: &u8| !byte.is_ascii_lowercase() && !matches!(byte, b'-' | b'_' | b'.');
    credential.len() >= 4 && credential[1..].iter().any(is_telling)
}

/// Whether the colon parts a name from a password, and is not of a URL, a remote path or two numbers.
fn is_user_and_password(value: &[u8], colon: usize) -> bool {
    let is_path = value.get(colon + 1) == Some(&b'/');
    let are_numbers = value
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b':');
    !is_path && !are_numbers
}

/// The class of a JSON key.
pub(super) fn class_of(key: &[u8]) -> Option<KeyClass> {
    let key = key.to_ascii_lowercase();
    if HEADER_WORDS
        .iter()
        .any(|word| key.ends_with(word.as_bytes()))
    {
        return Some(KeyClass::Header);
    }
    let has = |word: &&str| memchr::memmem::find(&key, word.as_bytes()).is_some();
    KEY_WORDS.iter().any(has).then_some(KeyClass::Value)
}

/// What the argument after a flag holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing secret.
    Nothing,
    /// A secret.
    Secret,
    /// A name and a password, if it has a colon.
    UserAndPassword,
}

impl Due {
    /// Whether `argument` is what was due.
    pub(super) fn is(self, argument: &[u8]) -> bool {
        match self {
            Due::Nothing => false,
            Due::Secret => !argument.starts_with(b"--"),
            Due::UserAndPassword => memchr::memchr(b':', argument)
                .is_some_and(|colon| is_user_and_password(argument, colon)),
        }
    }
}

/// What is due after `argument`, one of a list.
pub(super) fn due_after(argument: &[u8]) -> Due {
    let is_flag = argument.starts_with(b"-") && argument.iter().all(|&byte| Class::Token.has(byte));
    match argument {
        b"-u" | b"-U" | b"--user" | b"--proxy-user" => Due::UserAndPassword,
        _ if is_flag && class_of(argument).is_some() => Due::Secret,
        _ => Due::Nothing,
    }
}
