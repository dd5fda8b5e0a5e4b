//! Which sandbox is meant.

use std::ops::ControlFlow;

use boundlane_record::{Micros, Row};
use boundlane_store::StreamId;

use crate::commands::entries::{Entries, Met};
use crate::commands::recorded::{Recorded, read_failure};
use crate::context::Context;
use crate::exit::Outcome;
use crate::text::escape::visible;

/// Names that are told when another one was asked for.
const NAMES_TOLD_MAX: usize = 8;

/// The sandbox to show.
#[derive(Debug, Clone)]
pub(super) struct Sandbox {
    /// Its name or id.
    pub(super) name: String,
    /// Its streams in the journal that is written now, and that journal's id; `None` when every entry
    /// has to be looked at.
    pub(super) streams: Option<(String, Vec<StreamId>)>,
    /// What to say when nothing of it is found; `None` when the journal knows it.
    pub(super) unknown: Option<String>,
}

/// The sandbox called `named`, else the one that was heard of last. `None` when there is none at all.
pub(super) fn sandbox(
    record: &mut Recorded,
    named: Option<&str>,
    ctx: &Context,
) -> Outcome<Option<Sandbox>> {
    let known = known(record)?;
    let name = match (named, known.first()) {
        (Some(name), _) => name.to_owned(),
        (None, Some((name, _))) => {
            ctx.note(&newest(name, known.len()));
            name.clone()
        }
        (None, None) => return Ok(None),
    };
    let streams = streams(record, &name)?;
    let is_known = streams.is_some() || known.iter().any(|(known, _)| *known == name);
    let unknown = (!is_known).then(|| unknown(&name, &known));
    Ok(Some(Sandbox {
        name,
        streams,
        unknown,
    }))
}

fn newest(name: &str, sandboxes: usize) -> String {
    let name = visible(name);
    if sandboxes == 1 {
        return format!("sandbox `{name}`");
    }
    format!("sandbox `{name}`, the newest of {sandboxes} (`boundlane log --list` names them)")
}

fn unknown(name: &str, known: &[(String, Option<Micros>)]) -> String {
    let name = visible(name);
    if known.is_empty() {
        return format!("no sandbox `{name}` is recorded");
    }
    let names: Vec<String> = known
        .iter()
        .take(NAMES_TOLD_MAX)
        .map(|(name, _)| format!("`{}`", visible(name)))
        .collect();
    let more = if known.len() > NAMES_TOLD_MAX {
        ", …"
    } else {
        ""
    };
    format!(
        "no sandbox `{name}` is recorded; there are {}{more}",
        names.join(", ")
    )
}

/// The names of all sandboxes, the newest first: those that the journal knows, and only when it knows
/// none those of the archive, which has to be read for it.
fn known(record: &mut Recorded) -> Outcome<Vec<(String, Option<Micros>)>> {
    let mut known = Known::default();
    record.heard(&boundlane_record::filter::Scope::default(), &mut |row| {
        known.hear(row);
    })?;
    if known.0.is_empty() {
        record.forward(&mut |met| {
            if let Met::Entry(placed) = &met {
                known.hear(&placed.row);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    known
        .0
        .sort_by(|(a, at), (b, bt)| bt.cmp(at).then_with(|| a.cmp(b)));
    Ok(known.0)
}

/// Names, and when each was heard of last.
#[derive(Debug, Default)]
struct Known(Vec<(String, Option<Micros>)>);

impl Known {
    fn hear(&mut self, row: &Row<'_>) {
        let Some(name) = row.sandbox.as_deref().or(row.sandbox_id.as_deref()) else {
            return;
        };
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, newest)) => *newest = (*newest).max(row.observed),
            None => self.0.push((name.to_owned(), row.observed)),
        }
    }
}

/// The streams to read in the journal that is written now, when it has any of this sandbox.
fn streams(record: &Recorded, name: &str) -> Outcome<Option<(String, Vec<StreamId>)>> {
    let (Some(reader), Some(head)) = (record.journal(), record.head()) else {
        return Ok(None);
    };
    let streams = reader.streams_of(name).map_err(read_failure)?;
    let ids = streams.iter().map(|state| state.id).collect();
    Ok((!streams.is_empty()).then(|| (head.journal.clone(), ids)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_reaches_the_terminal() {
        let known = vec![("a\u{1b}[2J".to_owned(), None), ("b".to_owned(), None)];
        assert_eq!(
            unknown("x\n", &known),
            "no sandbox `x\\n` is recorded; there are `a\\x1b[2J`, `b`"
        );
        assert_eq!(unknown("x", &[]), "no sandbox `x` is recorded");
        assert_eq!(newest("a", 1), "sandbox `a`");
    }

    #[test]
    fn a_hundred_names_are_told() {
        let known: Vec<_> = (0..100).map(|n| (n.to_string(), None)).collect();
        let told = unknown("x", &known);
        assert_eq!(told.matches('`').count(), 2 * (NAMES_TOLD_MAX + 1));
        assert!(told.ends_with(", …"));
    }
}
