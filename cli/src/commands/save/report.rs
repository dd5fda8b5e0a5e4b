//! What was saved, and what is missing from it.

use boundlane_gateway::Sandbox;
use boundlane_ingest::watch::{StreamOver, WatchPlace};
use boundlane_record::{Kind, Seq};
use serde_json::{Value, json};

use super::mark::Mark;
use crate::args::SaveArgs;
use crate::commands::recorded::{open_journal, read_failure};
use crate::context::{Context, without_secrets};
use crate::exit::{Exit, Failure, Outcome};
use crate::follow::stream::name_of;
use crate::output::out::Out;
use crate::text::escape::visible;

/// What is durable of one sandbox.
pub(super) struct Report {
    sandbox: String,
    id: String,
    records: u64,
    gaps: u64,
    drops: u64,
    archived_through: Seq,
    mark: Option<String>,
}

impl Report {
    /// Counts what the journal has of the sandbox.
    pub(super) fn of(
        sandbox: &Sandbox,
        mark: &Mark,
        archived_through: Seq,
        ctx: &Context,
    ) -> Outcome<Report> {
        let mut report = Report {
            sandbox: without_secrets(&sandbox.name).into_owned(),
            id: without_secrets(&sandbox.id).into_owned(),
            records: 0,
            gaps: 0,
            drops: 0,
            archived_through,
            mark: mark.cursor().map(str::to_owned),
        };
        let Some(reader) = open_journal(ctx)? else {
            return Ok(report);
        };
        let name = name_of(sandbox);
        if let Some(state) = reader.stream(&name.stream).map_err(read_failure)? {
            let open = reader.open_losses().map_err(read_failure)?;
            let is_open_gap = |loss: &&boundlane_store::GrowingLoss| {
                loss.stream == state.id && loss.kind == Kind::Gap.word()
            };
            report.records = state.tally.records();
            report.gaps =
                state.tally.of_kind(Kind::Gap) + open.iter().filter(is_open_gap).count() as u64;
            report.drops = state.tally.of_kind(Kind::Drops);
        }
        Ok(report)
    }

    /// Whether nothing is known to be missing.
    pub(super) fn is_complete(&self) -> bool {
        self.gaps == 0 && self.drops == 0
    }

    /// What the `saved` entry says.
    pub(super) fn evidence(&self) -> Value {
        json!({
            "mark": self.mark,
            "records": self.records,
            "gaps": self.gaps,
            "drops": self.drops,
            "archived_through": self.archived_through.0,
        })
    }

    pub(super) fn print(&self, as_json: bool, out: &mut Out) -> Outcome<()> {
        if as_json {
            let mut document = self.evidence();
            document["sandbox"] = self.sandbox.as_str().into();
            document["sandbox_id"] = self.id.as_str().into();
            document["durable"] = true.into();
            document["complete"] = self.is_complete().into();
            return out.line(&document.to_string());
        }
        let name = visible(&self.sandbox);
        let missing = match (self.gaps, self.drops) {
            (0, 0) => "nothing is known to be missing".to_owned(),
            (gaps, 0) => format!(
                "{}: `boundlane log {name}` shows where",
                counted(gaps, "gap")
            ),
            (gaps, drops) => format!("{}, {}", counted(gaps, "gap"), counted(drops, "drop")),
        };
        out.line(&format!(
            "`{name}` is saved: {}, archived through entry {}; {missing}",
            counted(self.records, "record"),
            self.archived_through,
        ))
    }
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// The gateway does not know the sandbox: all is well when the journal has its end.
pub(super) fn already_gone(args: &SaveArgs, ctx: &Context, out: &mut Out) -> Outcome {
    let name = visible(&args.sandbox).into_owned();
    let streams = match open_journal(ctx)? {
        Some(reader) => reader.streams_of(&args.sandbox).map_err(read_failure)?,
        None => Vec::new(),
    };
    let newest = streams
        .iter()
        .rev()
        .find(|state| state.name.stream.starts_with("gateway/"));
    let Some(state) = newest else {
        return Err(Failure::new(
            Exit::Incomplete,
            format_args!("the gateway knows no sandbox `{name}`, and nothing is recorded of it"),
        ));
    };
    let gaps = state.tally.of_kind(Kind::Gap);
    let has_end = WatchPlace::from_json(&state.place)
        .is_ok_and(|place| place.over == Some(StreamOver::Ended));
    if args.json {
        let document = json!({
            "sandbox": args.sandbox,
            "sandbox_id": state.name.sandbox_id,
            "durable": true,
            "gone": true,
            "ended": has_end,
            "complete": has_end && gaps == 0,
            "records": state.tally.records(),
            "gaps": gaps,
        });
        out.line(&document.to_string())?;
    }
    if !has_end || (args.require_complete && gaps > 0) {
        return Err(Failure::new(
            Exit::Incomplete,
            format_args!("`{name}` is gone already, and what is recorded of it is not whole"),
        )
        .advise(format_args!("`boundlane log {name}` shows what is missing")));
    }
    if !args.json {
        out.line(&format!(
            "`{name}` is gone already; {} and its end are recorded",
            counted(state.tally.records(), "record")
        ))?;
    }
    Ok(Exit::Done)
}
