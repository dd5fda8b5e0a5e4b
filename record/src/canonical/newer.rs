//! Keys that a newer writer put after the known ones: kept as they are, once they are seen to be JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{NotCanonical, Reader};
use crate::column::{Column, Parsed};

/// How deep a newer value may be nested.
const DEPTH_MAX: usize = 32;

impl<'a> Reader<'a> {
    /// Everything up to the closing brace: keys of a newer writer, each with any JSON value.
    pub(super) fn rest(&mut self, first: bool) -> Result<Cow<'a, str>, NotCanonical> {
        let end = self.text.len() - 1;
        let start = self.at;
        if end < start || self.bytes()[end] != b'}' {
            return Err(NotCanonical {
                at: self.text.len(),
                what: "`}`",
            });
        }
        let mut first_key = first;
        let mut keys = BTreeSet::new();
        while self.at < end {
            if !std::mem::take(&mut first_key) {
                self.expect(b',', "`,`")?;
            }
            let at = self.at;
            let key = self.string()?;
            if Column::from_name(&key).is_some() {
                return Err(NotCanonical {
                    at,
                    what: "no known key after a newer one",
                });
            }
            if !keys.insert(key) {
                return Err(NotCanonical {
                    at,
                    what: "each newer key once",
                });
            }
            self.expect(b':', "`:`")?;
            self.skip_value(0)?;
        }
        let rest = &self.text[start..self.at];
        Ok(if first {
            Cow::Owned(format!(",{rest}"))
        } else {
            Cow::Borrowed(rest)
        })
    }

    /// Steps over any compact JSON value, nested at most [`DEPTH_MAX`] deep.
    fn skip_value(&mut self, depth: usize) -> Result<(), NotCanonical> {
        if depth > DEPTH_MAX {
            return self.fail("nesting of at most 32");
        }
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.skip_list(b'}', true, depth),
            Some(b'[') => self.skip_list(b']', false, depth),
            Some(b't') => self.word("true", Parsed::Bool(true)).map(drop),
            Some(b'f') => self.word("false", Parsed::Bool(false)).map(drop),
            Some(b'n') => self.word("null", Parsed::Bool(false)).map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            _ => self.fail("a value"),
        }
    }

    fn skip_number(&mut self) -> Result<(), NotCanonical> {
        self.at += usize::from(self.peek() == Some(b'-'));
        let is_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && is_zero {
            return self.fail("a number without padding");
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    /// Steps over digits, at least one. Returns how many.
    fn digits(&mut self) -> Result<usize, NotCanonical> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        match self.at - start {
            0 => self.fail("a digit"),
            count => Ok(count),
        }
    }

    fn skip_list(&mut self, close: u8, keyed: bool, depth: usize) -> Result<(), NotCanonical> {
        self.at += 1;
        let mut first = true;
        while self.peek() != Some(close) {
            if !std::mem::take(&mut first) {
                self.expect(b',', "`,`")?;
            }
            if keyed {
                self.string()?;
                self.expect(b':', "`:`")?;
            }
            self.skip_value(depth + 1)?;
        }
        self.at += 1;
        Ok(())
    }
}
