//! Values of a JSON line, redacted as they are spelled and as they read.

use std::borrow::Cow;

use boundlane_record::redact::{FieldKind, MARK, Redactor, Spans};

use crate::decoder::redaction::{is_secret, place};
use crate::ocsf_json::Json;

/// The line, and what must not be written of it.
pub(super) struct Parts<'a, 'r> {
    pub(super) text: &'a str,
    pub(super) redactor: &'r Redactor,
    pub(super) spans: &'r mut Spans,
}

impl<'a> Parts<'a, '_> {
    /// What a string means, without secrets; what is found only now is cut out of the line too.
    pub(super) fn text(&mut self, value: Json<'a>, kind: FieldKind) -> Option<Cow<'a, str>> {
        let source = value.string_source()?;
        let meant = value.string()?;
        let mut found = Spans::new();
        self.redactor.line(&meant, &mut found);
        self.redactor
            .field(&meant, 0..meant.len(), kind, &mut found);
        match meant {
            Cow::Borrowed(_) => Some(self.cut_plain(source, &found)),
            Cow::Owned(meant) => Some(self.cut_escaped(source, meant, &found)),
        }
    }

    fn cut_plain(&mut self, source: &'a str, found: &Spans) -> Cow<'a, str> {
        let Some(range) = place(self.text, source) else {
            return Cow::Borrowed(source);
        };
        for secret in found.ranges() {
            self.spans
                .add(range.start + secret.start..range.start + secret.end);
        }
        self.spans.cut(self.text, range)
    }

    /// Spelled with escapes, so places in it are not places in its meaning: what is cut in both is
    /// compared by number, and where that leaves a doubt all of it goes.
    fn cut_escaped(&mut self, source: &'a str, meant: String, found: &Spans) -> Cow<'a, str> {
        let Some(range) = place(self.text, source) else {
            return Cow::Owned(meant);
        };
        let touching = self.spans.ranges().iter();
        let in_line = touching
            .filter(|span| span.end > range.start && span.start < range.end)
            .count();
        if found.is_empty() {
            return if in_line == 0 {
                Cow::Owned(meant)
            } else {
                Cow::Borrowed(MARK)
            };
        }
        let is_whole = self.spans.cut(self.text, range.clone()) == MARK;
        if in_line < found.count() {
            self.spans.add(range);
        }
        if is_whole {
            return Cow::Borrowed(MARK);
        }
        Cow::Owned(found.cut(&meant, 0..meant.len()).into_owned())
    }

    /// Any value as text: a string's meaning, else its source.
    pub(super) fn any(&mut self, value: Json<'a>) -> Cow<'a, str> {
        if let Some(text) = self.text(value, FieldKind::Text) {
            return text;
        }
        match place(self.text, value.source()) {
            Some(range) => self.spans.cut(self.text, range),
            None => Cow::Borrowed(value.source()),
        }
    }

    /// A key of the line.
    pub(super) fn key(&mut self, key: &Cow<'a, str>) -> Cow<'a, str> {
        match key {
            key if is_secret(self.redactor, key) => Cow::Borrowed(MARK),
            Cow::Borrowed(key) => match place(self.text, key) {
                Some(range) => self.spans.cut(self.text, range),
                None => Cow::Borrowed(key),
            },
            Cow::Owned(key) => Cow::Owned(key.clone()),
        }
    }
}
