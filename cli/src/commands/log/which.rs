//! Which sandbox is meant.

use std::ops::ControlFlow;

use boundlane_record::{Micros, Row};
use boundlane_store::{Reader, StreamId};

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
    /// Its name or id; `None` when no entry names any.
    pub(super) name: Option<String>,
    /// Its streams in the journal that is written now; `None` when every entry has to be looked at.
    pub(super) streams: Option<Vec<StreamId>>,
}

/// The sandbox called `named`, else the one that was heard of last. `None` when there is none at all.
pub(super) fn sandbox(
    record: &mut Recorded,
    named: Option<&str>,
    ctx: &Context,
) -> Outcome<Option<Sandbox>> {
    let known = known(record)?;
    let name = match named {
        Some(name) => name.to_owned(),
        None => match known.first() {
            Some((name, _)) => {
                ctx.note(&newest(name, known.len()));
                name.clone()
            }
            None => return Ok(None),
        },
    };
    if !known.iter().any(|(known, _)| *known == name) && !is_known_id(record, &name)? {
        ctx.note(&unknown(&name, &known));
    }
    let streams = streams(record.journal(), &name)?;
    Ok(Some(Sandbox {
        name: Some(name),
        streams,
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

/// The names of all sandboxes, the newest first.
pub(super) fn known(record: &mut Recorded) -> Outcome<Vec<(String, Option<Micros>)>> {
    let mut known: Vec<(String, Option<Micros>)> = Vec::new();
    let mut hear = |row: &Row<'_>| {
        let Some(name) = row.sandbox.as_deref().or(row.sandbox_id.as_deref()) else {
            return;
        };
        match known.iter_mut().find(|(known, _)| known == name) {
            Some((_, newest)) => *newest = (*newest).max(row.observed),
            None => known.push((name.to_owned(), row.observed)),
        }
    };
    record.heard(&boundlane_record::filter::Scope::default(), &mut hear)?;
    if record.has_more_than_the_journal() {
        record.forward(&mut |met| {
            if let Met::Entry(placed) = &met {
                hear(&placed.row);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    known.sort_by(|(a, at), (b, bt)| bt.cmp(at).then_with(|| a.cmp(b)));
    Ok(known)
}

fn is_known_id(record: &Recorded, name: &str) -> Outcome<bool> {
    let Some(reader) = record.journal() else {
        return Ok(false);
    };
    Ok(!reader.streams_of(name).map_err(read_failure)?.is_empty())
}

/// The streams to read, when the journal alone has them.
fn streams(reader: Option<&Reader>, name: &str) -> Outcome<Option<Vec<StreamId>>> {
    let Some(reader) = reader else {
        return Ok(None);
    };
    let streams = reader.streams_of(name).map_err(read_failure)?;
    Ok((!streams.is_empty()).then(|| streams.iter().map(|state| state.id).collect()))
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
