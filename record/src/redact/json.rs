//! A line that is one JSON value: its strings are looked at as they decode, values also by their key.
//!
//! The tokenizer keeps nothing but a stack of what it is inside of, and knows of each scalar whether its
//! key, its container's key, or a `name` beside it says that it is secret.

use std::ops::Range;

use super::assign::{Due, class_of, due_after};
use super::decode::{Decoded, ROUNDS};
use super::mark::is_mark;
use super::scan::settled;
use super::spans::Spans;
use super::{FieldKind, Redactor};

/// Keys whose values are cut whole in JSON, and mean nothing in other text.
pub(super) const WHOLE_KEYS: [&str; 4] = ["query_string", "query", "fragment", "userinfo"];

/// Keys whose values are URLs or request targets.
const URL_KEYS: [&str; 9] = [
    "url",
    "uri",
    "href",
    "url_string",
    "target",
    "request_target",
    "location",
    "referer",
    "referrer",
];

/// As deep as JSON readers go; deeper text is taken for broken.
const DEPTH_MAX: usize = 128;

/// Adds what is secret in `line`. `Err` when it is not one JSON value; what was found is added still.
pub(super) fn walk(redactor: &Redactor, line: &str, spans: &mut Spans) -> Result<(), Broken> {
    let mut walk = Walk {
        redactor,
        line,
        at: 0,
        inside: Vec::new(),
        spans,
    };
    walk.blanks();
    walk.value(&Meaning::NONE)?;
    while let Some(level) = walk.inside.last() {
        let is_object = level.is_object;
        walk.item(is_object)?;
    }
    match walk.at == line.len() {
        true => Ok(()),
        false => Err(Broken),
    }
}

/// The text is not one JSON value.
#[derive(Debug)]
pub(super) struct Broken;

/// An object or array that is not closed yet.
#[derive(Debug)]
struct Level {
    is_object: bool,
    is_empty: bool,
    /// Its key said that all in it is secret.
    is_secret: bool,
    /// In an object: the scalar under `value`, and whether `name` or `key` names a secret.
    value: Option<Scalar>,
    names_secret: bool,
    /// In an array: what the last string, a flag, takes.
    due: Due,
    /// Its key said that it is a URL in parts.
    is_url: bool,
}

#[derive(Debug, Clone)]
struct Scalar {
    range: Range<usize>,
    is_bare: bool,
}

/// What a key says about its value.
#[derive(Debug, Clone, Copy)]
struct Meaning {
    is_secret: bool,
    kind: FieldKind,
    role: Role,
}

impl Meaning {
    /// Of what has no key, and of a key itself.
    const NONE: Meaning = Meaning {
        is_secret: false,
        kind: FieldKind::Text,
        role: Role::Other,
    };
}

/// What a key is beside its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Other,
    Name,
    Value,
}

struct Walk<'w> {
    redactor: &'w Redactor,
    line: &'w str,
    at: usize,
    inside: Vec<Level>,
    spans: &'w mut Spans,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.peek() != Some(byte) {
            return Err(Broken);
        }
        self.at += 1;
        self.blanks();
        Ok(())
    }

    /// One more item of the innermost container, or its end.
    fn item(&mut self, is_object: bool) -> Result<(), Broken> {
        let close = if is_object { b'}' } else { b']' };
        let level = self.inside.last_mut().ok_or(Broken)?;
        let was_empty = std::mem::take(&mut level.is_empty);
        if self.peek() == Some(close) {
            self.close();
            return self.expect(close);
        }
        if !was_empty {
            self.expect(b',')?;
        }
        let mut meaning = Meaning::NONE;
        if is_object {
            let key = self.string()?;
            meaning = self.meaning(key);
            self.expect(b':')?;
        }
        self.value(&meaning)
    }

    fn value(&mut self, meaning: &Meaning) -> Result<(), Broken> {
        let is_secret =
            meaning.is_secret || self.inside.last().is_some_and(|level| level.is_secret);
        match self.peek() {
            Some(open @ (b'{' | b'[')) => self.open(open, meaning, is_secret),
            Some(b'"') => {
                let start = self.at + 1;
                let content = self.string();
                if content.is_err() && is_secret {
                    let range = start..self.line.len(); // Cut short by a limit.
                    self.cut(&Scalar {
                        range,
                        is_bare: false,
                    });
                }
                self.text(content?, meaning, is_secret);
                Ok(())
            }
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                let scalar = self.bare()?;
                self.scalar(&scalar, meaning, is_secret);
                Ok(())
            }
            _ => Err(Broken),
        }
    }

    fn open(&mut self, open: u8, meaning: &Meaning, is_secret: bool) -> Result<(), Broken> {
        if self.inside.len() == DEPTH_MAX {
            return Err(Broken);
        }
        self.inside.push(Level {
            is_object: open == b'{',
            is_empty: true,
            is_secret,
            value: None,
            names_secret: false,
            due: Due::Nothing,
            is_url: meaning.kind == FieldKind::Url,
        });
        self.expect(open)
    }

    fn close(&mut self) {
        if let Some(level) = self.inside.pop()
            && level.names_secret
            && let Some(scalar) = &level.value
        {
            self.cut(scalar);
        }
    }

    /// Steps over a string and the blanks after it. Returns the range between its quotes.
    fn string(&mut self) -> Result<Range<usize>, Broken> {
        let bytes = self.line.as_bytes();
        if self.peek() != Some(b'"') {
            return Err(Broken);
        }
        let start = self.at + 1;
        let mut end = start;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(0x20..) => end += 1,
                _ => return Err(Broken),
            }
        }
        self.at = end + 1;
        self.blanks();
        Ok(start..end)
    }

    /// Steps over a number, `true`, `false` or `null`, and the blanks after it.
    fn bare(&mut self) -> Result<Scalar, Broken> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E')
        ) {
            self.at += 1;
        }
        let range = start..self.at;
        self.blanks();
        Ok(Scalar {
            range,
            is_bare: true,
        })
    }

    fn text(&mut self, content: Range<usize>, meaning: &Meaning, is_secret: bool) {
        let bytes = self.line[content.clone()].as_bytes();
        let decoded = Decoded::of_json(bytes);
        let plain = decoded.as_ref().map_or(bytes, |decoded| &decoded.bytes);
        let is_secret = is_secret || self.inside.last().is_some_and(|level| level.due.is(plain));
        let scalar = Scalar {
            range: content.clone(),
            is_bare: false,
        };
        self.scalar(&scalar, meaning, is_secret);
        if let Some(level) = self.inside.last_mut().filter(|_| !is_secret) {
            level.due = if level.is_object {
                Due::Nothing
            } else {
                due_after(plain)
            };
            level.names_secret |= meaning.role == Role::Name && is_secret_name(plain);
        }
        if is_secret {
            return;
        }
        let start = content.start;
        let cuts = settled(self.redactor, plain, meaning.kind)
            .into_iter()
            .map(|cut| {
                let cut = decoded
                    .as_ref()
                    .map_or(cut.clone(), |decoded| decoded.under(cut));
                start + cut.start..start + cut.end
            });
        self.spans.add_all(cuts.collect());
    }

    fn scalar(&mut self, scalar: &Scalar, meaning: &Meaning, is_secret: bool) {
        if is_secret {
            self.cut(scalar);
        }
        if let Some(level) = self.inside.last_mut() {
            level.due = Due::Nothing;
            if meaning.role == Role::Value {
                level.value = Some(scalar.clone());
            }
        }
    }

    fn cut(&mut self, scalar: &Scalar) {
        let text = &self.line[scalar.range.clone()];
        if is_mark(text.as_bytes()) || text == "null" {
            return;
        }
        match scalar.is_bare {
            true => self.spans.add_bare(scalar.range.clone()),
            false => self.spans.add(scalar.range.clone()),
        }
    }

    /// What the key between these quotes says. The key itself is looked at as text is.
    fn meaning(&mut self, key: Range<usize>) -> Meaning {
        let content = self.line[key.clone()].as_bytes();
        let lower = content.to_ascii_lowercase();
        let is_in = |keys: &[&str]| keys.iter().any(|key| key.as_bytes() == lower);
        let is_in_url = self.inside.last().is_some_and(|level| level.is_url);
        let kind = match is_in(&URL_KEYS) || is_in_url && lower == b"path" {
            true => FieldKind::Url,
            false => FieldKind::Text,
        };
        let role = match &lower[..] {
            b"name" | b"key" | b"header" => Role::Name,
            b"value" => Role::Value,
            _ => Role::Other,
        };
        let is_secret = is_secret_name(content);
        // A name that says that its value is secret may hold one itself: `token=…`.
        self.text(key, &Meaning::NONE, false);
        Meaning {
            is_secret,
            kind,
            role,
        }
    }
}

/// Whether `name`, or what it says under its escapes, makes a value secret.
fn is_secret_name(name: &[u8]) -> bool {
    let is_secret = |name: &[u8]| {
        class_of(name).is_some()
            || WHOLE_KEYS
                .iter()
                .any(|key| name.eq_ignore_ascii_case(key.as_bytes()))
    };
    let mut layer = Decoded::of(name);
    for _ in 0..ROUNDS {
        match &layer {
            None => break,
            Some(decoded) if is_secret(&decoded.bytes) => return true,
            Some(decoded) => layer = Decoded::of(&decoded.bytes),
        }
    }
    is_secret(name)
}
