//! JSON values as slices of the line that they stand in.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// One value, as spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// The value's source text.
    pub(crate) fn source(self) -> &'a str {
        self.0
    }

    /// What stands between a string's quotes, as spelled.
    pub(crate) fn string_source(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// The text that a string means. One that no text can hold (half a surrogate pair) stays as spelled.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let source = self.string_source()?;
        if !source.contains('\\') {
            return Some(Cow::Borrowed(source));
        }
        Some(serde_json::from_str(self.0).map_or(Cow::Borrowed(source), Cow::Owned))
    }

    /// An integer of 64 bits.
    pub(crate) fn integer(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Its members.
    pub(crate) fn object(self) -> Option<Object<'a>> {
        self.0.starts_with('{').then(|| Object::parse(self.0))?
    }

    /// Whether it says nothing.
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }
}

/// The members of an object, in printed order.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Object<'a> {
    /// All of `text` as one object.
    pub(crate) fn parse(text: &'a str) -> Option<Object<'a>> {
        serde_json::from_str(text).ok()
    }

    /// The member called `key`, the first where there are several. Null counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<Json<'a>> {
        let found = self
            .0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value);
        found.filter(|value| !value.is_null())
    }

    /// All members.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Cow<'a, str>, Json<'a>)> {
        self.0.iter().map(|(key, value)| (key, *value))
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut members = Vec::with_capacity(24);
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            members.push((key, Json(value.get())));
        }
        Ok(Object(members))
    }
}
