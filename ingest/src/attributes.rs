//! Named values as one column: a JSON object as text, its keys in printed order, its values strings.

use std::borrow::Cow;

use boundlane_record::canonical::encode_text;

/// Named values, redacted, in printed order.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamedValues<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> NamedValues<'a> {
    /// Adds one. A name that is there already gets a number, so that each is there once.
    pub(crate) fn push(&mut self, name: Cow<'a, str>, value: Cow<'a, str>) {
        let is_new = |name: &str| self.0.iter().all(|(known, _)| known != name);
        let name = if is_new(&name) {
            name
        } else {
            self.numbered(&name)
        };
        self.0.push((name, value));
    }

    /// Adds one of ours in front: a value of the line that has its name gets a number.
    pub(crate) fn push_first(&mut self, name: &'a str, value: Cow<'a, str>) {
        if let Some(at) = self.0.iter().position(|(known, _)| known == name) {
            self.0[at].0 = self.numbered(name);
        }
        self.0.insert(0, (Cow::Borrowed(name), value));
    }

    fn numbered(&self, name: &str) -> Cow<'a, str> {
        let is_new = |name: &String| self.0.iter().all(|(known, _)| known != name);
        let names = (2..=self.0.len() + 2).map(|number| format!("{name}#{number}"));
        Cow::Owned(names.into_iter().find(is_new).unwrap_or_default())
    }

    /// The value called `name`.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_ref())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The object, each name and value cut to `bytes_max`. `None` when there is none.
    pub(crate) fn object(&self, bytes_max: usize) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut object = Vec::with_capacity(128);
        for (name, value) in &self.0 {
            object.push(if object.is_empty() { b'{' } else { b',' });
            encode_text(head(name, bytes_max), &mut object);
            object.push(b':');
            encode_text(head(value, bytes_max), &mut object);
        }
        object.push(b'}');
        String::from_utf8(object).ok()
    }
}

/// At most `bytes_max` bytes of `text`, cut between characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_comes_twice_is_numbered() {
        let mut values = NamedValues::default();
        for value in ["1", "2", "\"3\""] {
            values.push("k".into(), value.into());
        }
        values.push("k#2".into(), "4".into());
        assert_eq!(
            values.object(99).as_deref(),
            Some(r##"{"k":"1","k#2":"2","k#3":"\"3\"","k#2#2":"4"}"##)
        );
    }

    /// A line cannot say for us how many NULs stood in front of it.
    #[test]
    fn name_of_ours_that_the_line_has_too_is_ours() {
        let mut values = NamedValues::default();
        values.push("nul_bytes".into(), "9".into());
        values.push_first("nul_bytes", "3".into());
        assert_eq!(
            values.object(99).as_deref(),
            Some(r##"{"nul_bytes":"3","nul_bytes#2":"9"}"##)
        );
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let mut values = NamedValues::default();
        values.push("k".into(), "aéé".into());
        assert_eq!(values.object(4).as_deref(), Some(r#"{"k":"aé"}"#));
    }
}
