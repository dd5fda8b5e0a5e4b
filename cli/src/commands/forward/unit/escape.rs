//! Words in the languages of service files.

use std::fmt::Write as _;

/// An argument of `ExecStart=`: quoted where it has to be, with specifiers, variables and escapes spelled
/// out (systemd.service(5), "COMMAND LINES").
pub(super) fn systemd_argument(word: &str) -> String {
    quoted(word, true)
}

/// The program of `ExecStart=`, in which no variable is looked for. systemd starts none whose path has a
/// quote, a backslash or a control character, however it is written.
pub(super) fn systemd_program(path: &str) -> String {
    quoted(path, false)
}

fn quoted(word: &str, has_variables: bool) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%$~^".contains(c);
    let mut spelled = String::with_capacity(word.len() + 2);
    for c in word.chars() {
        match c {
            '%' => spelled.push_str("%%"),
            '$' if has_variables => spelled.push_str("$$"),
            '"' | '\\' => spelled.extend(['\\', c]),
            // Writing to a string cannot fail.
            c if c.is_ascii_control() => drop(write!(spelled, "\\x{:02x}", u32::from(c))),
            c => spelled.push(c),
        }
    }
    match !word.is_empty() && word.chars().all(is_plain) {
        true => spelled,
        false => format!("\"{spelled}\""),
    }
}

/// A path for `ReadWritePaths=`, where quotes count and escapes do not. `None` for a path that cannot be
/// written there.
pub(super) fn systemd_path(path: &str) -> Option<String> {
    if path.contains(['\\', '\n', '\r']) {
        return None;
    }
    let spelled = path.replace('%', "%%");
    match (spelled.contains('"'), spelled.contains('\'')) {
        (true, true) => None,
        (true, false) => Some(format!("'{spelled}'")),
        (false, true) => Some(format!("\"{spelled}\"")),
        (false, false) if spelled.contains(char::is_whitespace) => Some(format!("\"{spelled}\"")),
        (false, false) => Some(spelled),
    }
}

/// Text of an XML element. A character that XML cannot hold becomes U+FFFD.
pub(super) fn xml(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => spelled.push_str("&amp;"),
            '<' => spelled.push_str("&lt;"),
            '>' => spelled.push_str("&gt;"),
            '"' => spelled.push_str("&quot;"),
            '\'' => spelled.push_str("&apos;"),
            '\t' | '\n' | '\r' => drop(write!(spelled, "&#{};", u32::from(c))),
            c if c.is_ascii_control() || matches!(u32::from(c), 0xfffe | 0xffff) => {
                spelled.push(char::REPLACEMENT_CHARACTER);
            }
            c => spelled.push(c),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What systemd makes of one argument, as systemd.service(5) says it.
    fn read(spelled: &str) -> Option<String> {
        let inner = match spelled.strip_prefix('"') {
            Some(inner) => inner.strip_suffix('"')?,
            None if spelled.contains([' ', '\t', '\n', '"', '\'', ';']) => return None,
            None => spelled,
        };
        let mut word = String::new();
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            word.push(match c {
                '%' | '$' => chars.next().filter(|next| *next == c)?,
                '\\' => match chars.next()? {
                    'x' => {
                        let digits: String = chars.by_ref().take(2).collect();
                        char::from(u8::from_str_radix(&digits, 16).ok()?)
                    }
                    escaped => escaped,
                },
                '"' | '\n' => return None,
                c => c,
            });
        }
        Some(word)
    }

    proptest! {
        /// For all words: systemd reads one argument, and it is the word.
        #[test]
        fn for_all_words_systemd_reads_the_word(word in any::<String>()) {
            prop_assert_eq!(read(&systemd_argument(&word)), Some(word));
        }

        /// For all texts: no markup is left, and a reader gets every character that XML can hold.
        #[test]
        fn for_all_texts_xml_holds_the_text(text in "[ -~é\t\n]*") {
            let spelled = xml(&text);
            prop_assert!(!spelled.contains(['<', '>', '"', '\'', '\n', '\t']));
            let read = spelled
                .replace("&#9;", "\t").replace("&#10;", "\n")
                .replace("&lt;", "<").replace("&gt;", ">")
                .replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&");
            prop_assert_eq!(read, text);
        }
    }

    /// A path is quoted by what it does not contain, and is left out when nothing helps.
    #[test]
    fn a_path_is_split_in_two() {
        let path = |path| systemd_path(path);
        assert_eq!(path("/srv/50%").as_deref(), Some("/srv/50%%"));
        assert_eq!(path("/srv/a b").as_deref(), Some("\"/srv/a b\""));
        assert_eq!(path("/srv/a\"b").as_deref(), Some("'/srv/a\"b'"));
        assert_eq!(path("/srv/\"it's\""), None);
        assert_eq!(path("/srv/a\nb"), None);
    }
}
