//! Which sandbox is meant.

use std::ops::ControlFlow;

use boundlane_record::{GapCause, Micros, Row};
use boundlane_store::StreamId;

use super::folder::{self, Started};
use crate::commands::entries::{Entries, Met};
use crate::commands::recorded::{Recorded, read_failure};
use crate::config::nearest::nearest;
use crate::context::{Context, shown};
use crate::environment::Process;
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

/// The sandbox called `named`, else the newest of this folder or one around it, else the one that was heard
/// of last. `None` when there is none at all.
pub(super) fn sandbox(
    record: &mut Recorded,
    named: Option<&str>,
    ctx: &Context,
) -> Outcome<Option<Sandbox>> {
    let known = known(record)?;
    let name = match named {
        Some(name) => name.to_owned(),
        None if known.is_empty() => return Ok(None),
        None => {
            let chosen = Chosen::among(&known, folder::of_this_process(&Process));
            ctx.note(&chosen.told);
            chosen.name
        }
    };
    let streams = streams(record, &name)?;
    let is_known = streams.is_some() || known.iter().any(|(known, _)| *known == name);
    let unknown = (!is_known).then(|| unknown(&name, &known));
    let streams = match has_losses_of_all(record)? {
        true => None,
        false => streams,
    };
    Ok(Some(Sandbox {
        name,
        streams,
        unknown,
    }))
}

/// A sandbox that nobody named, and why it.
#[derive(Debug, PartialEq, Eq)]
struct Chosen {
    name: String,
    told: String,
}

impl Chosen {
    /// `known` is not empty, the newest first.
    fn among(known: &[(String, Option<Micros>)], here: Result<Vec<Started>, String>) -> Chosen {
        let is_known = |one: &&Started| known.iter().any(|(name, _)| *name == one.name);
        let (here, unreadable) = match here {
            Ok(here) => (here, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        if let Some(one) = here.iter().find(is_known) {
            return Chosen {
                name: one.name.clone(),
                told: of_folder(one, &here[0]),
            };
        }
        let name = known[0].0.clone();
        let mut told = newest(&name, known.len());
        if let Some(one) = here.first() {
            told += &format!(
                "; nothing is recorded for `{}` of this folder",
                visible(&one.name)
            );
        }
        if let Some(why) = unreadable {
            told += &format!("; {why}");
        }
        Chosen { name, told }
    }
}

fn of_folder(one: &Started, newest: &Started) -> String {
    let (name, folder) = (visible(&one.name), shown(&one.folder));
    let mut told = format!("sandbox `{name}`, the newest of `{folder}`");
    if one.name != newest.name {
        let newest = visible(&newest.name);
        told += &format!(" that is recorded; nothing is recorded for `{newest}`");
    }
    told
}

fn newest(name: &str, sandboxes: usize) -> String {
    let name = visible(name);
    if sandboxes == 1 {
        return format!("sandbox `{name}`");
    }
    format!("sandbox `{name}`, the newest of {sandboxes} (`boundlane log --list` names them)")
}

/// What to say when nothing of `name` is found, for a command that reads all that is recorded here.
#[cfg(feature = "query")]
pub(crate) fn told_unknown(name: &str, ctx: &Context) -> Outcome<String> {
    let known = match Recorded::open(ctx)? {
        Some(mut record) => known(&mut record)?,
        None => Vec::new(),
    };
    Ok(unknown(name, &known))
}

fn unknown(name: &str, known: &[(String, Option<Micros>)]) -> String {
    let name = visible(name);
    if known.is_empty() {
        return format!("nothing is recorded for `{name}`");
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
    let all: Vec<&str> = known.iter().map(|(known, _)| known.as_str()).collect();
    let meant = nearest(&name, &all).map(|near| format!(", did you mean `{}`?", visible(near)));
    format!(
        "nothing is recorded for `{name}`{} recorded are {}{more}",
        meant.as_deref().unwrap_or(";"),
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

/// Whether losses are recorded that are of no stream: their entries are in blocks of none.
fn has_losses_of_all(record: &Recorded) -> Outcome<bool> {
    let Some(reader) = record.journal() else {
        return Ok(false);
    };
    let causes = [
        GapCause::Forked,
        GapCause::Restored,
        GapCause::CheckpointLost,
        GapCause::Damaged,
    ];
    let losses = reader.losses(None).map_err(read_failure)?;
    Ok(losses
        .iter()
        .any(|loss| causes.iter().any(|cause| loss.cause == cause.word())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_reaches_the_terminal() {
        let known = vec![("a\u{1b}[2J".to_owned(), None), ("b".to_owned(), None)];
        assert_eq!(
            unknown("x\n", &known),
            "nothing is recorded for `x\\n`; recorded are `a\\x1b[2J`, `b`"
        );
        assert_eq!(unknown("x", &[]), "nothing is recorded for `x`");
        let known = [("agent-1".to_owned(), None)];
        assert_eq!(
            unknown("agent-l", &known),
            "nothing is recorded for `agent-l`, did you mean `agent-1`? recorded are `agent-1`"
        );
        assert_eq!(newest("a", 1), "sandbox `a`");
    }

    #[test]
    fn a_hundred_names_are_told() {
        let known: Vec<_> = (0..100).map(|n| (n.to_string(), None)).collect();
        let told = unknown("x", &known);
        assert!(told.matches('`').count() <= 2 * (NAMES_TOLD_MAX + 2));
        assert!(told.ends_with(", …"));
    }
}
