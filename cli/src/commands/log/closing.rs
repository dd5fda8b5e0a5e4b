//! What is said beside a listing, on standard error: how many, how complete, what was left out.

use boundlane_record::coverage::{Coverage, Verdict};

use super::Shown;
use super::which::Sandbox;
use crate::args::LogArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::text::escape::visible;

/// Says what the listing is worth.
pub(super) fn notes(shown: &Shown, sandbox: &Sandbox, args: &LogArgs, ctx: &Context) {
    if shown.records == 0
        && let Some(unknown) = &sandbox.unknown
    {
        ctx.note(unknown);
    }
    for line in lines(shown, &sandbox.name, args) {
        ctx.note(&line);
    }
}

fn lines(shown: &Shown, sandbox: &str, args: &LogArgs) -> Vec<String> {
    let coverage = &shown.coverage;
    let what = counted(shown.records, args.filters.deny);
    let mut lines = vec![format!(
        "{what} of `{}`; {}",
        visible(sandbox),
        coverage.line()
    )];
    if shown.records == 0 {
        lines.push(why_empty(coverage, !shown.filter.is_scope_only()).to_owned());
    }
    if shown.has_older {
        lines.push("there are older rows that match; `-n all` shows them".to_owned());
    }
    if shown.continuations > 0 {
        let n = shown.continuations;
        lines.push(format!(
            "{n} of them may continue the record before: text cannot prove it"
        ));
    }
    if shown.sources.len() > 1 {
        let sources = shown.sources.join(", ");
        lines.push(format!(
            "{sources}: each is a testimony of its own, they are not merged"
        ));
    }
    if args.filters.deny {
        lines.push("network decisions only: a refused file write is in no log".to_owned());
    }
    lines
}

fn counted(records: u64, deny: bool) -> String {
    let noun = match (deny, records) {
        (true, 1) => "denial",
        (true, _) => "denials",
        (false, 1) => "record",
        (false, _) => "records",
    };
    format!("{records} {noun}")
}

/// Why there is nothing to show.
fn why_empty(coverage: &Coverage, is_filtered: bool) -> &'static str {
    match (coverage.verdict(), is_filtered) {
        (Verdict::NothingRecorded, _) => "nothing was recorded of it in this span",
        (Verdict::Complete, true) => "nothing matches, and the record is complete there",
        (Verdict::Complete, false) => "nothing happened, and the record is complete there",
        (Verdict::AsImported, _) => "nothing matches in what was imported",
        (Verdict::Incomplete, _) => "nothing matches, but something is missing there",
    }
}

/// The code to end with.
pub(super) fn exit(coverage: &Coverage, require_complete: bool, ctx: &Context) -> Exit {
    if !require_complete || coverage.is_complete() {
        return Exit::Done;
    }
    ctx.warn(&format!(
        "boundlane: the answer is not complete: {}",
        coverage.line()
    ));
    Exit::Incomplete
}

#[cfg(test)]
mod tests {
    use boundlane_record::Row;
    use boundlane_record::filter::Filter;

    use super::*;

    fn args(line: &str) -> LogArgs {
        use clap::Parser as _;
        let cli = crate::args::Cli::try_parse_from(line.split(' '));
        match cli.map(|cli| cli.command) {
            Ok(Some(crate::args::Command::Log(args))) => args,
            other => panic!("{other:?}"),
        }
    }

    /// Every empty answer says which kind of empty it is.
    #[test]
    fn an_empty_answer_says_nothing() {
        let gap = Row {
            kind: Some("gap".into()),
            ..Row::default()
        };
        let of = |source: &'static str| Row {
            kind: Some("session".into()),
            source: Some(source.into()),
            sandbox: Some("dev".into()),
            observed: Some(boundlane_record::Micros(0)),
            ..Row::default()
        };
        let why = |rows: &[Row<'_>], filtered| {
            let mut coverage = Coverage::default();
            rows.iter().for_each(|row| coverage.see("j", None, row));
            why_empty(&coverage, filtered)
        };
        assert_eq!(why(&[], true), "nothing was recorded of it in this span");
        assert_eq!(
            why(&[of("gateway")], true),
            "nothing matches, and the record is complete there"
        );
        assert_eq!(
            why(&[of("gateway")], false),
            "nothing happened, and the record is complete there"
        );
        assert_eq!(
            why(&[of("import")], true),
            "nothing matches in what was imported"
        );
        assert_eq!(
            why(&[of("gateway"), gap], true),
            "nothing matches, but something is missing there"
        );
    }

    #[test]
    fn what_was_left_out_is_not_said() {
        let mut shown = Shown::new(Filter::default());
        (shown.records, shown.continuations, shown.has_older) = (2, 1, true);
        shown.sources = vec!["gateway".into(), "import".into()];
        let lines = lines(&shown, "dev", &args("boundlane log --deny"));
        assert_eq!(
            lines,
            [
                "2 denials of `dev`; nothing recorded",
                "there are older rows that match; `-n all` shows them",
                "1 of them may continue the record before: text cannot prove it",
                "gateway, import: each is a testimony of its own, they are not merged",
                "network decisions only: a refused file write is in no log",
            ]
        );
    }
}
