//! What readings of files say about themselves that an answer has to say too.

use crate::column::Row;
use crate::vocabulary::{Kind, SessionKind};

/// Readings that are not as good as others. The record is complete in spite of them, and not exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Readings whose lines may be stored already: they are counted twice then.
    pub may_repeat: u64,
    /// Compressed inputs that broke: their last lines are not confirmed by a checksum.
    pub unconfirmed: u64,
}

impl Doubts {
    pub(super) fn see(&mut self, kind: Option<Kind>, row: &Row<'_>) {
        if kind != Some(Kind::Session) {
            return;
        }
        // A quote inside a text is escaped, so that no name of a file can be taken for a key.
        let states = |key| row.evidence.as_deref().is_some_and(|all| all.contains(key));
        match row.cause.as_deref().and_then(SessionKind::from_word) {
            Some(SessionKind::Attached) => {
                self.may_repeat += u64::from(states("\"may_repeat\":"));
            }
            Some(SessionKind::Detached) => {
                self.unconfirmed += u64::from(states("\"confirmed_bytes\":"));
            }
            _ => {}
        }
    }

    /// One phrase each, in the words of a footer.
    pub(super) fn words(self) -> impl Iterator<Item = String> {
        let counted = |n: u64| match n {
            1 => "1 import".to_owned(),
            n => format!("{n} imports"),
        };
        let may_repeat =
            (self.may_repeat > 0).then(|| format!("{} may repeat lines", counted(self.may_repeat)));
        let unconfirmed = (self.unconfirmed > 0).then(|| {
            format!(
                "{} broke off, the last lines not confirmed by a checksum",
                counted(self.unconfirmed)
            )
        });
        may_repeat.into_iter().chain(unconfirmed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(cause: &'static str, evidence: &'static str) -> Row<'static> {
        Row {
            kind: Some("session".into()),
            cause: Some(cause.into()),
            evidence: Some(evidence.into()),
            ..Row::default()
        }
    }

    #[test]
    fn a_file_whose_name_is_the_key_casts_a_doubt() {
        let mut doubts = Doubts::default();
        for row in [
            session("attached", r#"{"name":"\"may_repeat\":"}"#),
            session("detached", r#"{"may_repeat":{"stream":"s","from_byte":1}}"#),
            session("attached", r#"{"confirmed_bytes":1}"#),
        ] {
            doubts.see(Some(Kind::Session), &row);
        }
        assert_eq!(doubts, Doubts::default());
        let told = session("attached", r#"{"may_repeat":{"stream":"s","from_byte":1}}"#);
        doubts.see(Some(Kind::Session), &told);
        doubts.see(
            Some(Kind::Session),
            &session("detached", r#"{"confirmed_bytes":1}"#),
        );
        assert_eq!((doubts.may_repeat, doubts.unconfirmed), (1, 1));
    }
}
